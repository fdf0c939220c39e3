import { useLayoutEffect, useRef } from 'preact/hooks';
import { useNow } from '../dashboards/widgets/use-now.ts';
import { formatTime } from '../language.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { AgendaView } from './agenda-view.tsx';
import s from './calendar-page.module.css';
import { dayNumber, fullDay, shortWeekday } from './day-formats.ts';
import { EventChip, type ShownEvents } from './event-chip.tsx';
import { dayMinutes, hoursOf, minutesAt, rowsOfWeek, slotsOf, spansOn } from './spans.ts';
import { texts } from './texts.ts';
import type { DayFocus } from './use-day-focus.ts';
import { useRoom } from './use-room.ts';

interface WeekViewProps {
  days: readonly string[];
  today: string;
  focus: DayFocus;
  events: ShownEvents;
  label: string;
  isLoading: boolean;
}

const hourPx = 48;
/** So many events that last whole days stand one below the other, */
const maxBarRows = 6;
/** and so many at a time side by side. The list of the day has all. */
const maxLanes = 5;
/** The first hour in view. */
const firstHour = 7;
const hourColumn = { width: '52px', color: 'var(--text-muted)' };
const percent = (part: number, of: number): string => `${(100 * part) / of}%`;

/** The hours of a week. What lasts whole days stands above them. On a narrow screen it is a list. */
export function WeekView({ days, today, focus, events, label, isLoading }: WeekViewProps) {
  const t = texts.value;
  const { isNarrow } = useRoom();
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop = firstHour * hourPx;
  }, [isNarrow]);
  if (isNarrow) return <AgendaView days={days} today={today} events={events} isLoading={isLoading} />;

  const bars = events.spans.filter(({ isBar }) => isBar);
  const rows = rowsOfWeek(bars, days, maxBarRows);
  const barRows = Math.max(0, ...rows.map((day) => day.rows.length));
  const columns = days.map((day, at) => {
    const { slots, hidden } = slotsOf(events.spans, day, maxLanes);
    return { day, slots, hidden: hidden + (rows[at]?.hidden ?? 0) };
  });
  const tabIndexOf = (day: string) => (day === focus.day ? 0 : -1);
  return (
    <div
      ref={scroller}
      role="region"
      aria-label={t.hours}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard has to scroll it
      tabIndex={0}
      style={{ maxHeight: 'max(320px, 100dvh - 280px)', overflow: 'auto', overflowAnchor: 'none' }}
    >
      <table class={s.grid} aria-label={label} {...focus.onGrid}>
        <thead
          style={{
            position: 'sticky',
            insetBlockStart: 0,
            zIndex: 3,
            background: 'var(--surface)',
            boxShadow: '0 1px var(--border)',
          }}
        >
          <tr>
            <th style={hourColumn}>
              <VisuallyHidden>{t.hours}</VisuallyHidden>
            </th>
            {columns.map(({ day, hidden }) => (
              <th key={day} scope="col" aria-current={day === today ? 'date' : undefined}>
                <Button kind="ghost" data-day={day} tabIndex={tabIndexOf(day)} onClick={() => events.onOpenDay(day)}>
                  <span aria-hidden>
                    {shortWeekday(day)} {day === today ? <Badge kind="accent">{dayNumber(day)}</Badge> : dayNumber(day)}
                  </span>
                  <VisuallyHidden>
                    {fullDay(day)}, {t.events(spansOn(events.spans, day).length)}
                  </VisuallyHidden>
                </Button>
                <ClockChange day={day} />
                {hidden > 0 && (
                  <Button
                    kind="ghost"
                    size="small"
                    tabIndex={tabIndexOf(day)}
                    aria-label={t.moreOf(hidden, fullDay(day))}
                    onClick={() => events.onOpenDay(day)}
                  >
                    {t.more(hidden)}
                  </Button>
                )}
              </th>
            ))}
          </tr>
          {barRows > 0 && (
            <tr>
              <th scope="row" style={{ ...hourColumn, fontSize: '12px' }}>
                {t.allDay}
              </th>
              {rows.map(({ day, rows: ofDay }) => (
                <td key={day} style={{ height: `${barRows * 26 + 4}px` }}>
                  {ofDay.map((piece, row) => (
                    <div key={row} style={{ height: '26px', padding: '2px 2px 0' }}>
                      {piece && (
                        <EventChip
                          span={piece.span}
                          day={day}
                          sources={events.sources}
                          onOpen={events.onOpen}
                          tabIndex={tabIndexOf(day)}
                          style={{
                            position: 'relative',
                            zIndex: '1',
                            height: '24px',
                            width: `calc(${piece.days * 100}% + ${(piece.days - 1) * 5}px)`,
                          }}
                        />
                      )}
                    </div>
                  ))}
                </td>
              ))}
            </tr>
          )}
        </thead>
        <tbody>
          <tr>
            <th scope="row" style={hourColumn}>
              {hours.map((hour) => (
                <div key={hour} style={{ height: `${hourPx}px`, fontWeight: 400 }}>
                  {`${String(hour).padStart(2, '0')}:00`}
                </div>
              ))}
            </th>
            {columns.map(({ day, slots }) => (
              <td key={day} style={hourLines}>
                {slots.map(({ span, from, to, lane, lanes }) => (
                  <EventChip
                    key={`${span.event.sourceId} ${span.event.uid} ${span.event.start}`}
                    span={span}
                    day={day}
                    sources={events.sources}
                    onOpen={events.onOpen}
                    tabIndex={tabIndexOf(day)}
                    isWhole
                    isNarrow={lanes > 1}
                    style={{
                      position: 'absolute',
                      insetBlockStart: percent(from, dayMinutes),
                      insetInlineStart: percent(lane, lanes),
                      height: percent(to - from, dayMinutes),
                      width: percent(1, lanes),
                      border: '1px solid var(--surface)',
                      borderInlineStart: '4px solid var(--source)',
                    }}
                  />
                ))}
                {day === today && <NowLine />}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

const hours = Array.from({ length: 24 }, (_, hour) => hour);
const hourLines = {
  height: `${24 * hourPx}px`,
  background: `repeating-linear-gradient(var(--border) 0 1px, transparent 1px ${hourPx}px)`,
};

function ClockChange({ day }: { day: string }) {
  const t = texts.value;
  const length = hoursOf(day);
  if (length === 24) return null;
  return <div style={{ fontSize: '12px' }}>{length < 24 ? t.clockForward : t.clockBack}</div>;
}

function NowLine() {
  const now = useNow(60_000);
  return (
    <div
      aria-hidden
      title={formatTime(now)}
      style={{
        position: 'absolute',
        insetInline: 0,
        insetBlockStart: percent(minutesAt(now), dayMinutes),
        zIndex: 2,
        borderBlockStart: '2px solid var(--error)',
        pointerEvents: 'none',
      }}
    />
  );
}
