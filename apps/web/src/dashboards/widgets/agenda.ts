import type { CalendarEvent } from '@portal/client/interface';
import { addDays, dayAt, startOf } from '../../berlin-time.ts';

/** What one day shows of an event. */
interface AgendaEntry {
  event: CalendarEvent;
  /** Set unless the event covers the whole day. */
  time?: { start?: number; end?: number };
}

export interface AgendaDay {
  day: string;
  entries: AgendaEntry[];
}

/**
 * The days that have events, each with its events: those that cover the whole day first, the others by time. An event of several days
 * stands on each of them. Events that are over are left out.
 */
export function agendaOf(
  events: readonly CalendarEvent[],
  { firstDay, days, now }: { firstDay: string; days: number; now: number },
): AgendaDay[] {
  const spans = events.map(spanOf).filter(({ allDay, last }) => allDay || last > now);
  return Array.from({ length: days }, (_, n) => addDays(firstDay, n)).flatMap((day) => {
    const from = startOf(day);
    const to = startOf(addDays(day, 1));
    const entries = spans
      .filter(({ start, last }) => start < to && last > from)
      .map(({ event, start, end, allDay }): AgendaEntry => {
        if (allDay || (start <= from && end >= to)) return { event };
        return { event, time: { ...(start >= from && { start }), ...(end <= to && end > start && { end }) } };
      });
    if (entries.length === 0) return [];
    return [{ day, entries: entries.toSorted((a, b) => orderOf(a) - orderOf(b)) }];
  });
}

interface Span {
  event: CalendarEvent;
  start: number;
  end: number;
  /** Like `end`, but later than `start` for an event without a length. */
  last: number;
  allDay: boolean;
}

function spanOf(event: CalendarEvent): Span {
  const at = (value: string) => (event.allDay ? startOf(value.slice(0, 10)) : Date.parse(value));
  const start = at(event.start);
  const end = Math.max(start, at(event.end));
  return { event, start, end, last: Math.max(end, start + 1), allDay: event.allDay };
}

/** An event that began on an earlier day stands before those that begin on this one. */
const orderOf = ({ time }: AgendaEntry): number => (time === undefined ? -2 : (time.start ?? -1));

/** The first day and the window to ask for. */
export function windowOf(now: number, days: number): { firstDay: string; from: string; to: string } {
  const firstDay = dayAt(now);
  return {
    firstDay,
    from: new Date(startOf(firstDay)).toISOString(),
    to: new Date(startOf(addDays(firstDay, days))).toISOString(),
  };
}
