import { MapPin } from 'lucide';
import type { CalendarEvents, CalendarEventsError, CalendarSource } from '@portal/client/interface';
import { addDays, startOf } from '../../berlin-time.ts';
import { formatDay } from '../../language.ts';
import { usePolled } from '../../polling.ts';
import { portal } from '../../portal.ts';
import { Icon } from '../../ui/icon.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { type AgendaDay, agendaOf, windowOf } from './agenda.ts';
import { sourcesQuery } from './calendar-sources-query.ts';
import css from './calendar.module.css';
import { readCalendar } from './configs.ts';
import { texts } from './feed-texts.ts';
import type { TileProps } from './tile-props.ts';
import { TileBody, TileView } from './tile-view.tsx';
import tile from './tile.module.css';
import { useNow } from './use-now.ts';
import { chosen } from './worst-first.ts';

const intervalMs = 60_000;

/** The coming days of the person's calendars. */
export function CalendarTile({ config }: TileProps) {
  const t = texts.value;
  const { sourceIds, days } = readCalendar(config);
  const now = useNow(60_000);
  const { firstDay, from, to } = windowOf(now, days);
  const sources = usePolled({ ...sourcesQuery, intervalMs });
  const events = usePolled({
    queryKey: ['calendar', 'events', from, to],
    queryFn: ({ signal }) => portal.get('/calendar/events', { params: { query: { from, to } }, signal }),
    intervalMs,
  });
  return (
    <TileBody label={t.agenda(days)}>
      <TileView query={sources} empty={t.noCalendars}>
        {(all) => (
          <TileView query={events} empty={null} isEmpty={() => false}>
            {(answer) => <Agenda sources={chosen(all, sourceIds)} answer={answer} window={{ firstDay, days, now }} />}
          </TileView>
        )}
      </TileView>
    </TileBody>
  );
}

interface AgendaProps {
  sources: readonly CalendarSource[];
  answer: CalendarEvents;
  window: { firstDay: string; days: number; now: number };
}

function Agenda({ sources, answer, window }: AgendaProps) {
  const t = texts.value;
  const byId = new Map(sources.map((source) => [source.id, source]));
  const days = agendaOf(
    answer.events.filter(({ sourceId }) => byId.has(sourceId)),
    window,
  );
  return (
    <>
      {answer.errors.map((error) => {
        const source = byId.get(error.sourceId);
        return source && <SourceError key={error.sourceId} error={error} name={source.name} />;
      })}
      {sources.every(({ isActive }) => !isActive) ? (
        <p class={tile.quiet}>{t.allOff}</p>
      ) : (
        days.length === 0 && <p class={tile.quiet}>{t.noEvents(window.days)}</p>
      )}
      {days.map((day) => (
        <Day key={day.day} day={day} today={window.firstDay} sources={byId} />
      ))}
    </>
  );
}

/** The events shown are those last read. */
function SourceError({ error: { error, lineCount }, name }: { error: CalendarEventsError; name: string }) {
  const t = texts.value;
  return (
    <p class={css.error}>
      <Status kind="warning">
        <span dir="auto">{name}</span>: {error === 'invalid' && lineCount ? t.badLines(lineCount) : t.errors[error]}
      </Status>
    </p>
  );
}

interface DayProps {
  day: AgendaDay;
  today: string;
  sources: ReadonlyMap<string, CalendarSource>;
}

function Day({ day: { day, entries }, today, sources }: DayProps) {
  const t = texts.value;
  const names: Record<string, string> = { [today]: t.today, [addDays(today, 1)]: t.tomorrow };
  return (
    <section class={css.day}>
      <h3>
        {names[day] && `${names[day]}, `}
        {formatDay(startOf(day))}
      </h3>
      <ul class={tile.list}>
        {entries.map(({ event, time }) => {
          const source = sources.get(event.sourceId);
          return (
            <li
              key={`${event.sourceId} ${event.uid} ${event.start}`}
              class={css.event}
              style={{ '--source': source?.color ?? '' }}
            >
              <span class={css.time}>{time ? <Span time={time} /> : t.allDay}</span>
              <span class={tile.main}>
                <span dir="auto">{event.title || t.untitled}</span>
                <span class={tile.muted}>
                  {event.location && (
                    <span dir="auto">
                      <Icon icon={MapPin} size={12} /> {event.location} ·{' '}
                    </span>
                  )}
                  <span dir="auto">{source?.name}</span>
                </span>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Span({ time: { start, end } }: { time: { start?: number; end?: number } }) {
  const t = texts.value;
  if (start === undefined)
    return (
      <>
        {t.until} {end !== undefined && <Time value={end} style="time" />}
      </>
    );
  return (
    <>
      {end === undefined && `${t.from} `}
      <Time value={start} style="time" />
      {end !== undefined && (
        <>
          –<Time value={end} style="time" />
        </>
      )}
    </>
  );
}
