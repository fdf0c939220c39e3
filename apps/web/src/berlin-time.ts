import { type Instant, timeZone } from './language.ts';

const parts = new Intl.DateTimeFormat('en-CA', {
  timeZone,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** What a clock in Berlin shows, such as `2026-11-20T08:30`: the value of an input for date and time. */
export function clockTimeAt(instant: Instant): string {
  const of = Object.fromEntries(parts.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
  return `${of['year']?.padStart(4, '0')}-${of['month']}-${of['day']}T${of['hour']}:${of['minute']}`;
}

/** Standard time and summer time; of an hour that comes twice, the one in summer time is first. */
const offsets = ['+02:00', '+01:00'];

/**
 * The instants at which a clock in Berlin shows this time, in order: none if the clock skips it or it is no time, two if the clock shows it
 * twice.
 */
export function instantsAt(clockTime: string): string[] {
  return offsets.flatMap((offset) => {
    const at = Date.parse(`${clockTime}:00${offset}`);
    return !Number.isNaN(at) && clockTimeAt(at) === clockTime ? [new Date(at).toISOString()] : [];
  });
}

/** The day of an instant, such as `2026-11-20`. */
export const dayAt = (instant: Instant): string => clockTimeAt(instant).slice(0, 10);

const DAY_MS = 86_400_000;
/** In UTC, where all days are equally long. */
const midnightOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** The day that is so many days later. */
export const addDays = (day: string, days: number): string =>
  new Date(midnightOf(day) + days * DAY_MS).toISOString().slice(0, 10);

/** Days from one day to another, by the calendar: 0 is the same day, 1 the next one. */
export const daysBetween = (from: string, to: string): number => (midnightOf(to) - midnightOf(from)) / DAY_MS;

/** The first instant of a day. No change of the clocks skips midnight. */
export const startOf = (day: string): number => Date.parse(instantsAt(`${day}T00:00`)[0] ?? day);

/** The Monday of the following calendar week. */
export function nextMonday(day: string): string {
  const weekday = new Date(midnightOf(day)).getUTCDay() || 7;
  return addDays(day, 8 - weekday);
}

/** A time as a person enters it. */
export interface EnteredTime {
  clockTime: string;
  /** Means the second of the two instants at which the clock shows this time. */
  isLater: boolean;
}

export function enteredTimeAt(instant: Instant): EnteredTime {
  const clockTime = clockTimeAt(instant);
  const [, second] = instantsAt(clockTime);
  return { clockTime, isLater: second !== undefined && new Date(instant) >= new Date(second) };
}

/** The instant that was entered; null if the clock in Berlin never shows this time. */
export function instantOf({ clockTime, isLater }: EnteredTime): string | null {
  const [first, second] = instantsAt(clockTime);
  return (isLater ? second : undefined) ?? first ?? null;
}

/** Times that people often choose. The evening is undefined if it has begun. */
export function quickTimes(now: Instant): Record<'inAnHour' | 'tomorrowMorning' | 'nextWeek', EnteredTime> & {
  thisEvening: EnteredTime | undefined;
} {
  const today = dayAt(now);
  const at = (day: string, time: string): EnteredTime => ({ clockTime: `${day}T${time}`, isLater: false });
  const evening = at(today, '18:00');
  return {
    inAnHour: enteredTimeAt(new Date(now).getTime() + 3_600_000),
    thisEvening: clockTimeAt(now) < evening.clockTime ? evening : undefined,
    tomorrowMorning: at(addDays(today, 1), '08:00'),
    nextWeek: at(nextMonday(today), '08:00'),
  };
}
