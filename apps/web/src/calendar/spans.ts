import type { CalendarEvent } from '@portal/client/interface';
import { addDays, clockTimeAt, dayAt, startOf } from '../berlin-time.ts';

/** An event by the days on which it stands. */
export interface Span {
  event: CalendarEvent;
  /** Its first and last day. */
  first: string;
  last: string;
  /** Instants of an event with times; null for one of whole days. */
  times: { start: number; end: number } | null;
  /** Whether it is drawn as a bar over days: whole days, or times on more than one. */
  isBar: boolean;
}

/** Bars first, longer ones above shorter ones; then by time. */
export const spansOf = (events: readonly CalendarEvent[]): Span[] => events.map(spanOf).toSorted(inOrder);

function spanOf(event: CalendarEvent): Span {
  if (event.allDay) {
    const first = event.start.slice(0, 10);
    const last = addDays(event.end.slice(0, 10), -1);
    return { event, first, last: last < first ? first : last, times: null, isBar: true };
  }
  const start = Date.parse(event.start);
  const end = Math.max(start, Date.parse(event.end));
  const first = dayAt(start);
  // What ends at midnight does not stand on the next day.
  const last = end > start ? dayAt(end - 1) : first;
  return { event, first, last, times: { start, end }, isBar: last > first && end - start >= dayMs };
}

const dayMs = 86_400_000;

const inOrder = (a: Span, b: Span): number =>
  a.first.localeCompare(b.first) ||
  Number(b.isBar) - Number(a.isBar) ||
  b.last.localeCompare(a.last) ||
  (a.times?.start ?? 0) - (b.times?.start ?? 0);

/** The part of a span in one week: on how many days it stands, from the day whose list it is in. */
interface Piece {
  span: Span;
  days: number;
}

/** The rows of one day. A row is empty where a bar passes that began on an earlier day, or where nothing stands. */
export interface DayRows {
  day: string;
  rows: (Piece | null)[];
  /** All that stands on the day. */
  spans: Span[];
  /** How many of them stand in no row. */
  hidden: number;
}

/** Lays the spans of a week out in rows, so that a bar keeps its row on all its days. One row more is left for the number of others. */
export function rowsOfWeek(spans: readonly Span[], week: readonly string[], maxRows: number): DayRows[] {
  const days = week.map((day): DayRows => ({ day, rows: [], spans: [], hidden: 0 }));
  const first = week[0] ?? '';
  const last = week.at(-1) ?? '';
  const taken: boolean[][] = week.map(() => []);
  const left: Span[][] = week.map(() => []);
  for (const span of spans.filter((one) => one.first <= last && one.last >= first)) {
    const from = span.first <= first ? 0 : week.indexOf(span.first);
    const to = span.last >= last ? week.length - 1 : week.indexOf(span.last);
    const over = Array.from({ length: to - from + 1 }, (_, n) => from + n);
    let row = 0;
    while (over.some((at) => taken[at]?.[row])) row += 1;
    for (const at of over) {
      const [rows, day] = [taken[at], days[at]];
      if (!rows || !day) continue;
      rows[row] = true;
      day.spans.push(span);
      if (row >= maxRows) left[at]?.push(span);
      else while (day.rows.length <= row) day.rows.push(null);
    }
    const start = days[from];
    if (start && row < maxRows) start.rows[row] = { span, days: over.length };
  }
  for (const [at, day] of days.entries()) {
    const [span, ...others] = left[at] ?? [];
    // One event takes no more room than the number of others would.
    if (span && others.length === 0 && span.first === span.last) day.rows[maxRows] = { span, days: 1 };
    else day.hidden = left[at]?.length ?? 0;
  }
  return days;
}

/** What stands on a day. */
export const spansOn = (spans: readonly Span[], day: string): Span[] =>
  spans.filter(({ first, last }) => first <= day && last >= day);

/** An event in the column of a day, by the clock. */
interface Slot {
  span: Span;
  /** Minutes since midnight that the clock shows. */
  from: number;
  to: number;
  /** Of so many columns side by side, the one in which it stands. */
  lane: number;
  lanes: number;
}

/** An event without a length, or one over which the clock is set back, is still as high as its title. */
const leastMinutes = 30;

/**
 * Lays the events of a day out by the time on the clock: those that overlap stand side by side, and a group of them shares the width. More
 * than `maxLanes` at a time would be too narrow to read, so the others are only counted. On a day whose clock is changed, an hour is missing
 * or comes twice, as on the clock.
 */
export function slotsOf(
  spans: readonly Span[],
  day: string,
  maxLanes: number,
): { slots: readonly Slot[]; hidden: number } {
  const slots = spans
    .filter(({ isBar, first, last }) => !isBar && first <= day && last >= day)
    .map((span): Slot => {
      const from = span.first < day ? 0 : minutesAt(span.times?.start ?? startOf(day));
      const end = span.last > day ? dayMinutes : minutesAt(span.times?.end ?? startOf(day)) || dayMinutes;
      return { span, from, to: Math.min(dayMinutes, Math.max(end, from + leastMinutes)), lane: 0, lanes: 1 };
    })
    .map((slot) => ({ ...slot, from: Math.min(slot.from, dayMinutes - leastMinutes) }))
    .toSorted((a, b) => a.from - b.from || b.to - a.to);

  let group: Slot[] = [];
  let groupEnd = 0;
  const shown: Slot[] = [];
  const close = () => {
    const lanes = Math.max(0, ...group.map(({ lane }) => lane)) + 1;
    for (const slot of group) slot.lanes = lanes;
    group = [];
  };
  for (const slot of slots) {
    if (slot.from >= groupEnd) close();
    const busy = new Set(group.filter(({ to }) => to > slot.from).map(({ lane }) => lane));
    while (busy.has(slot.lane)) slot.lane += 1;
    if (slot.lane >= maxLanes) continue;
    group.push(slot);
    shown.push(slot);
    groupEnd = Math.max(groupEnd, slot.to);
  }
  close();
  return { slots: shown, hidden: slots.length - shown.length };
}

export const dayMinutes = 24 * 60;

/** Minutes since midnight that a clock in Berlin shows. */
export function minutesAt(instant: number): number {
  const time = clockTimeAt(instant).slice(11);
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** How many hours the day has: 23 or 25 if the clock is changed. */
export const hoursOf = (day: string): number => (startOf(addDays(day, 1)) - startOf(day)) / 3_600_000;
