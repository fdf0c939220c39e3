import { CalendarX } from 'lucide';
import { useState } from 'preact/hooks';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/states.tsx';
import { fullDay } from './day-formats.ts';
import { EventChip, type ShownEvents } from './event-chip.tsx';
import { type Span, spansOn } from './spans.ts';
import { texts } from './texts.ts';

interface AgendaViewProps {
  days: readonly string[];
  today: string;
  events: ShownEvents;
  isLoading: boolean;
}

/** A day may have thousands of events. */
const drawnAtOnce = 200;

/** The days that have events, one below the other: the first events, and more on demand. */
export function AgendaView({ days, today, events, isLoading }: AgendaViewProps) {
  const [limit, setLimit] = useState(drawnAtOnce);
  let left = limit;
  const found = days.flatMap((day) => {
    const all = spansOn(events.spans, day);
    const spans = all.slice(0, Math.max(left, 0));
    left -= all.length;
    return spans.length === 0 ? [] : [{ day, spans }];
  });
  if (found.length === 0) return isLoading ? null : <EmptyState icon={CalendarX} title={texts.value.noEventsInRange} />;
  return (
    <>
      {found.map(({ day, spans }) => (
        <DayList key={day} day={day} today={today} spans={spans} events={events} isLimited />
      ))}
      {left < 0 && <Button onClick={() => setLimit(limit + drawnAtOnce)}>{texts.value.showMore(-left)}</Button>}
    </>
  );
}

interface DayListProps {
  day: string;
  today: string;
  spans: readonly Span[];
  events: ShownEvents;
  /** Says so if nothing stands on the day. */
  emptyText?: boolean | undefined;
  /** True if the caller draws only some of the events already. */
  isLimited?: boolean | undefined;
}

/** A day with its events. */
export function DayList({ day, today, spans, events, emptyText = false, isLimited }: DayListProps) {
  const t = texts.value;
  return (
    <section aria-label={fullDay(day)}>
      <h3>
        {fullDay(day)} {day === today && <Badge kind="accent">{t.today}</Badge>}
      </h3>
      {spans.length === 0 && emptyText && <p>{t.noEvents}</p>}
      <DayEvents day={day} spans={spans} events={events} isLimited={isLimited} />
    </section>
  );
}

interface DayEventsProps {
  day: string;
  spans: readonly Span[];
  events: Pick<ShownEvents, 'sources' | 'onOpen'>;
  isLimited?: boolean | undefined;
}

export function DayEvents({ day, spans, events: { sources, onOpen }, isLimited = false }: DayEventsProps) {
  const [limit, setLimit] = useState(isLimited ? Number.POSITIVE_INFINITY : drawnAtOnce);
  const left = spans.length - limit;
  return (
    <>
      <ul style={{ display: 'grid', gap: 'var(--s1)', padding: 0, listStyle: 'none' }}>
        {spans.slice(0, limit).map((span) => (
          <li key={`${span.event.sourceId} ${span.event.uid} ${span.event.start}`}>
            <EventChip span={span} day={day} sources={sources} onOpen={onOpen} isWhole />
          </li>
        ))}
      </ul>
      {left > 0 && <Button onClick={() => setLimit(limit + drawnAtOnce)}>{texts.value.showMore(left)}</Button>}
    </>
  );
}
