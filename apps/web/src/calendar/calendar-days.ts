import { addDays, dayAt, daysBetween, startOf } from '../berlin-time.ts';

export const views = ['month', 'week', 'agenda'] as const;
export type View = (typeof views)[number];

/** Days of the agenda. */
const agendaDays = 28;

/** The Monday of the week of this day. */
export const mondayOf = (day: string): string => addDays(day, 1 - weekdayOf(day));

/** 1 is Monday. */
const weekdayOf = (day: string): number => new Date(`${day}T00:00:00Z`).getUTCDay() || 7;

/** The number of the week (ISO 8601): week 1 is that of the first Thursday of the year. */
export function weekNumber(day: string): number {
  const thursday = addDays(mondayOf(day), 3);
  return Math.floor(daysBetween(`${thursday.slice(0, 4)}-01-01`, thursday) / 7) + 1;
}

/** The same day of another month, or its last day if the month is shorter. */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const first = new Date(Date.UTC(year, month - 1 + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return addDays(first.toISOString().slice(0, 10), Math.min(date, last) - 1);
}

/** The days that a view shows around a day. */
export function daysOf(view: View, day: string): string[] {
  if (view === 'agenda') return run(day, agendaDays);
  if (view === 'week') return run(mondayOf(day), 7);
  const first = `${day.slice(0, 8)}01`;
  const monday = mondayOf(first);
  const weeks = Math.ceil(daysBetween(monday, addMonths(first, 1)) / 7);
  return run(monday, weeks * 7);
}

/** The day to show one page on or back. */
export function pageFrom(view: View, day: string, pages: number): string {
  if (view === 'month') return addMonths(day, pages);
  return addDays(day, pages * (view === 'week' ? 7 : agendaDays));
}

export const weeksOf = (days: readonly string[]): string[][] =>
  Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));

/** What to ask the service for. */
export function windowOf(days: readonly string[]): { from: string; to: string } {
  const at = (day: string) => new Date(startOf(day)).toISOString();
  const first = days[0] ?? dayAt(Date.now());
  return { from: at(first), to: at(addDays(days.at(-1) ?? first, 1)) };
}

// The service knows no other years. A page on either side must fit, too.
const firstDay = '1900-03-01';
const lastDay = '2199-10-31';

/** The day that an address names; null if it names none that can be shown. */
export function dayIn(text: string | undefined): string | null {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text) || text < firstDay || text > lastDay) return null;
  const at = Date.parse(`${text}T00:00:00Z`);
  // February 30 is read as a day of March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? text : null;
}

const run = (first: string, length: number): string[] => Array.from({ length }, (_, n) => addDays(first, n));

/** The day that an arrow key or a similar key leads to; null for other keys. */
export function dayAfterKey(key: string, day: string, page: (pages: number) => string): string | null {
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -1);
    case 'ArrowRight':
      return addDays(day, 1);
    case 'ArrowUp':
      return addDays(day, -7);
    case 'ArrowDown':
      return addDays(day, 7);
    case 'Home':
      return mondayOf(day);
    case 'End':
      return addDays(mondayOf(day), 6);
    case 'PageUp':
      return page(-1);
    case 'PageDown':
      return page(1);
    default:
      return null;
  }
}
