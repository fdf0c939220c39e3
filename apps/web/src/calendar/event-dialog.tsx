import type { ComponentChildren } from 'preact';
import type { CalendarSource } from '@portal/client/interface';
import facts from '../accounts/facts.module.css';
import { clockTimeAt, instantsAt } from '../berlin-time.ts';
import { partsOf } from '../dashboards/widgets/web-links.ts';
import { formatTime, zoneName } from '../language.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { DayEvents } from './agenda-view.tsx';
import s from './calendar-page.module.css';
import { fullDay, fullRange } from './day-formats.ts';
import type { ShownEvents } from './event-chip.tsx';
import { type Span, spansOn } from './spans.ts';
import { texts } from './texts.ts';

interface EventDialogProps {
  span: Span;
  source: CalendarSource | undefined;
  onClose: () => void;
}

/** What is known about an event. */
export function EventDialog({ span, source, onClose }: EventDialogProps) {
  const t = texts.value;
  const { title, location } = span.event;
  return (
    <Dialog
      title={title || t.untitled}
      onClose={onClose}
      actions={
        <Button kind="primary" autofocus onClick={onClose}>
          {t.close}
        </Button>
      }
    >
      <dl class={facts.facts}>
        <Fact label={t.when}>{whenText(span)}</Fact>
        {location && (
          <Fact label={t.where}>
            {partsOf(location).map(({ text, href }) =>
              href ? (
                <a key={href} href={href} target="_blank" rel="noopener noreferrer">
                  {text}
                </a>
              ) : (
                text
              ),
            )}
          </Fact>
        )}
        {source && (
          <Fact label={t.calendar}>
            <SourceName source={source} />
          </Fact>
        )}
      </dl>
    </Dialog>
  );
}

/** The name of a calendar beside its colour. */
export const SourceName = ({ source: { name, color } }: { source: Pick<CalendarSource, 'name' | 'color'> }) => (
  <span class={s.chip} style={{ '--source': color, background: 'none', cursor: 'inherit' }} dir="auto">
    {name}
  </span>
);

const Fact = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd dir="auto">{children}</dd>
  </div>
);

/** Days and times in full. A time that the clock shows twice says which it is. */
function whenText({ first, last, times }: Span): string {
  if (!times) return `${fullRange(first, last)} · ${texts.value.allDay}`;
  const { start, end } = times;
  const at = (instant: number) =>
    instantsAt(clockTimeAt(instant)).length > 1 ? `${formatTime(instant)} (${zoneName(instant)})` : formatTime(instant);
  if (first === last) return `${fullDay(first)}, ${end > start ? `${at(start)}–${at(end)}` : at(start)}`;
  return `${fullDay(first)}, ${at(start)} – ${fullDay(clockTimeAt(end).slice(0, 10))}, ${at(end)}`;
}

interface DayDialogProps {
  day: string;
  /** Null if its week is shown already. */
  weekHref: string | null;
  events: ShownEvents;
  onClose: () => void;
}

/** All that stands on a day. */
export function DayDialog({ day, weekHref, events, onClose }: DayDialogProps) {
  const t = texts.value;
  const spans = spansOn(events.spans, day);
  return (
    <Dialog
      title={fullDay(day)}
      onClose={onClose}
      actions={
        <>
          <Button kind="primary" autofocus onClick={onClose}>
            {t.close}
          </Button>
          {weekHref && <LinkButton href={weekHref}>{t.showDay}</LinkButton>}
        </>
      }
    >
      {spans.length === 0 && <p>{t.noEvents}</p>}
      <DayEvents day={day} spans={spans} events={events} />
    </Dialog>
  );
}
