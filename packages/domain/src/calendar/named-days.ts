import { DAY, SECOND } from '../time.ts';
import { type RecurrenceRule, weekdays } from './recurrence-rule.ts';

/** Steps taken before a rule is given up. */
const maxSteps = 100_000;

/**
 * Whether this module has to find the days of a rule. The rule library ignores the parts that limit BYYEARDAY (RFC 5545, 3.3.10, the
 * table and its note 2), and moves days a month does not have (RFC 7529, 4.1) only if DTSTART names them.
 */
export function hasNamedDays({ freq, skip, byDay, by }: RecurrenceRule): boolean {
  if (by.BYWEEKNO !== undefined || (freq !== 'YEARLY' && freq !== 'MONTHLY')) return false;
  if (by.BYYEARDAY === undefined) return skip !== 'OMIT' && (by.BYMONTHDAY !== undefined || byDay === null);
  return freq === 'YEARLY' && (skip !== 'OMIT' || Boolean(byDay ?? by.BYMONTHDAY));
}

/**
 * The occurrences a rule with named days gives a series that begins at `start`, in order (RFC 5545, 3.3.10): from at least one period
 * before `from` up to `to`. All are milliseconds on the clock of the series. Throws a RangeError if the rule takes too many steps.
 */
export function* namedTimes(rule: RecurrenceRule, start: number, from: number, to: number): Generator<number> {
  const { freq, interval, count, by } = rule;
  const first = new Date(start);
  const timesOfDay = (by.BYHOUR ?? [first.getUTCHours()]).flatMap((hour) =>
    (by.BYMINUTE ?? [first.getUTCMinutes()]).flatMap((minute) =>
      (by.BYSECOND ?? [first.getUTCSeconds()]).map((second) => ((hour * 60 + minute) * 60 + second) * SECOND),
    ),
  );
  const monthsOfPeriod = freq === 'YEARLY' ? 12 * interval : interval;
  const begin = first.getUTCFullYear() * 12 + (freq === 'YEARLY' ? 0 : first.getUTCMonth());
  // COUNT counts from the first occurrence on.
  const monthsBefore = count === null ? new Date(from).getUTCFullYear() * 12 - 24 - begin : 0;
  let left = count ?? Infinity;
  let steps = 0;
  let before = start - 1;
  for (let period = Math.max(Math.floor(monthsBefore / monthsOfPeriod), 0); ; period += 1) {
    const month = begin + period * monthsOfPeriod;
    if (monthBegins(month) > to) return;
    const days = daysOf(rule, month, first);
    steps += 1 + days.length * timesOfDay.length;
    if (steps > maxSteps) throw new RangeError('This rule takes too many steps.');
    const times = days.flatMap((day) => timesOfDay.map((time) => day + time)).toSorted((a, b) => a - b);
    const isChosen = (n: number) => by.BYSETPOS?.some((place) => place === n + 1 || place === n - times.length) ?? true;
    for (const time of times.filter((_, n) => isChosen(n))) {
      if (time > to || left === 0) return;
      // A day moved into the next period may already occur there.
      if (time <= before) continue;
      before = time;
      left -= 1;
      yield time;
    }
  }
}

/** The rule's days in the year or month that begins with month `first`, unordered. */
function daysOf({ freq, skip, byDay, by }: RecurrenceRule, first: number, start: Date): number[] {
  const length = freq === 'YEARLY' ? 12 : 1;
  const months = Array.from({ length }, (_, n) => first + n).filter(
    (month) => by.BYMONTH?.includes((month % 12) + 1) ?? true,
  );
  const datesOf = (month: number, dates: number[]) =>
    dates.flatMap((date) => dayOrMoved(date, monthBegins(month), monthBegins(month + 1), skip));
  // A rule that names neither month nor day takes both from DTSTART.
  const isOwn = (month: number) => by.BYMONTH !== undefined || length === 1 || month % 12 === start.getUTCMonth();
  const ofMonths = months
    .filter((month) => by.BYMONTHDAY !== undefined || isOwn(month))
    .flatMap((month) => datesOf(month, by.BYMONTHDAY ?? [start.getUTCDate()]));
  const ofYear = by.BYYEARDAY?.flatMap((day) => dayOrMoved(day, monthBegins(first), monthBegins(first + length), skip));
  const isLimited = (day: number): boolean =>
    by.BYMONTHDAY === undefined ? months.includes(monthOf(day)) : ofMonths.includes(day);
  const isWeekday = (day: number): boolean => {
    const month = by.BYMONTH === undefined ? first : monthOf(day);
    const ends = by.BYMONTH === undefined ? first + length : month + 1;
    return byDay?.some((name) => isNamedWeekday(name, day, monthBegins(month), monthBegins(ends))) ?? true;
  };
  return [...new Set(ofYear?.filter(isLimited) ?? ofMonths)].filter(isWeekday);
}

/** Months count from January of year 0. */
const monthBegins = (month: number): number => Date.UTC(1970, month - 1970 * 12);

function monthOf(day: number): number {
  const date = new Date(day);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** The day with this number in a year or month. SKIP says where a day moves that does not exist (RFC 7529, 4.1). */
function dayOrMoved(number: number, begins: number, ends: number, skip: RecurrenceRule['skip']): number[] {
  const day = number > 0 ? begins + (number - 1) * DAY : ends + number * DAY;
  if (day >= begins && day < ends) return [day];
  if (skip === 'OMIT') return [];
  const edge = day < begins ? begins : ends;
  return [skip === 'FORWARD' ? edge : edge - DAY];
}

/** Whether a day matches a BYDAY entry; a number counts within the month or year, from its start or its end. */
function isNamedWeekday(name: string, day: number, begins: number, ends: number): boolean {
  const place = Number.parseInt(name, 10);
  const fromBegin = Math.floor((day - begins) / DAY / 7) + 1;
  const fromEnd = -Math.floor((ends - DAY - day) / DAY / 7) - 1;
  const isPlace = Number.isNaN(place) || place === fromBegin || place === fromEnd;
  return isPlace && name.endsWith(weekdays[new Date(day).getUTCDay()] ?? '');
}
