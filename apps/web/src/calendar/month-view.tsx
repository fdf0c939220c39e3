import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { DayList } from './agenda-view.tsx';
import { weekNumber, weeksOf } from './calendar-days.ts';
import s from './calendar-page.module.css';
import { dayNumber, fullDay, shortWeekday } from './day-formats.ts';
import { EventChip, type ShownEvents } from './event-chip.tsx';
import { type DayRows, rowsOfWeek, spansOn } from './spans.ts';
import { texts } from './texts.ts';
import type { DayFocus } from './use-day-focus.ts';
import { useRoom } from './use-room.ts';

interface MonthViewProps {
  days: readonly string[];
  today: string;
  focus: DayFocus;
  events: ShownEvents;
  label: string;
}

const weekColumn = { width: '28px', color: 'var(--text-muted)' };
const muted = { color: 'var(--text-muted)' };

/**
 * The weeks of a month. One day can be reached by Tab, the others from it by the arrow keys; Enter opens it. On a narrow screen a day has
 * dots, and what stands on the chosen day is listed below.
 */
export function MonthView({ days, today, focus, events, label }: MonthViewProps) {
  const t = texts.value;
  const { isNarrow, heightPx } = useRoom();
  const weeks = weeksOf(days);
  // As many rows of events as fit into the window, and one for the number of others.
  const rowCount = Math.min(8, Math.max(2, Math.floor((heightPx - 320) / weeks.length / 26) - 2));
  const cell = { events, focus, today, month: focus.day.slice(0, 7), isNarrow, rowCount };
  return (
    <>
      <table
        class={s.grid}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role
        role="grid"
        aria-label={label}
        {...focus.onGrid}
      >
        <thead>
          <tr>
            <th scope="col" style={weekColumn}>
              <VisuallyHidden>{t.week}</VisuallyHidden>
              <span aria-hidden>{isNarrow ? '' : t.weekShort}</span>
            </th>
            {weeks[0]?.map((day) => (
              <th key={day} scope="col">
                {shortWeekday(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              <th scope="row" style={weekColumn}>
                {weekNumber(week[0] ?? '')}
              </th>
              {rowsOfWeek(events.spans, week, rowCount).map((rows) => (
                <DayCell key={rows.day} rows={rows} {...cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isNarrow && (
        <DayList day={focus.day} today={today} events={events} spans={spansOn(events.spans, focus.day)} emptyText />
      )}
    </>
  );
}

interface DayCellProps {
  rows: DayRows;
  events: ShownEvents;
  focus: DayFocus;
  today: string;
  month: string;
  isNarrow: boolean;
  rowCount: number;
}

function DayCell({
  rows: { day, rows, spans, hidden },
  events,
  focus,
  today,
  month,
  isNarrow,
  rowCount,
}: DayCellProps) {
  const t = texts.value;
  const isFocused = day === focus.day;
  const tabIndex = isFocused ? 0 : -1;
  const isToday = day === today;
  return (
    <td
      data-day={day}
      tabIndex={tabIndex}
      aria-current={isToday ? 'date' : undefined}
      aria-selected={isNarrow ? isFocused : undefined}
      style={{
        height: isNarrow ? '44px' : `${28 + 26 * (rowCount + 1)}px`,
        ...(isNarrow && isFocused && { background: 'var(--accent-bg)' }),
      }}
      onClick={() => {
        focus.choose(day);
        if (!isNarrow && spans.length > 0) events.onOpenDay(day);
      }}
    >
      <VisuallyHidden>
        {fullDay(day)}, {t.events(spans.length)}
      </VisuallyHidden>
      <div style={{ textAlign: 'center', padding: '2px', ...(!day.startsWith(month) && muted) }} aria-hidden>
        {isToday ? <Badge kind="accent">{dayNumber(day)}</Badge> : dayNumber(day)}
      </div>
      {isNarrow ? (
        <div style={{ display: 'flex', justifyContent: 'center', gap: '2px' }} aria-hidden>
          {spans.slice(0, 4).map(({ event }, at) => (
            <span
              key={at}
              style={{
                width: '6px',
                height: '6px',
                borderRadius: '3px',
                background: events.sources.get(event.sourceId)?.color ?? '',
                forcedColorAdjust: 'none',
              }}
            />
          ))}
        </div>
      ) : (
        <>
          {rows.map((piece, row) => (
            <div key={row} style={{ height: '26px', paddingInline: '2px' }}>
              {piece && (
                <EventChip
                  span={piece.span}
                  day={day}
                  sources={events.sources}
                  onOpen={events.onOpen}
                  tabIndex={tabIndex}
                  // A bar reaches over the next days.
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
          {hidden > 0 && (
            <Button
              kind="ghost"
              size="small"
              tabIndex={tabIndex}
              aria-label={t.moreOf(hidden, fullDay(day))}
              style={{ minHeight: '24px', padding: '0 var(--s1)' }}
              onClick={(event: MouseEvent) => {
                event.stopPropagation();
                events.onOpenDay(day);
              }}
            >
              {t.more(hidden)}
            </Button>
          )}
        </>
      )}
    </td>
  );
}
