import type { Instant } from '../../language.ts';
import { dayAt } from '../../reminders/berlin-time.ts';

/** Days from today to the day of an instant, by the calendar: 0 is today, 1 tomorrow. */
export const daysUntil = (instant: Instant, now: number): number =>
  Math.round((Date.parse(dayAt(instant)) - Date.parse(dayAt(now))) / 86_400_000);
