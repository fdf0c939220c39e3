import { RRuleTemporal } from 'rrule-temporal';
import { hasNamedDays, namedTimes } from '@portal/domain/calendar/named-days';
import { type RecurrenceRule, timeFrequencies } from '@portal/domain/calendar/recurrence-rule';
import { HOUR } from '@portal/domain/time';
import { likeAt, type Moment, wallOn } from './moment.ts';

/** Tolerance around the window for the hours in which a zone's clock changes. */
const margin = 3 * HOUR;
/** Times of day a rule may name; the library combines each with each day. */
const maxTimes = 500;
/** Steps the library may take to find one occurrence: half a second of work. */
const maxIterations = 20_000;

/**
 * The occurrences a rule gives a series that begins at `start`, in order: between two instants and some hours around them, at most `max`
 * from the first instant on. Calls `giveUp` if a rule takes too many steps, and returns what it has found until then.
 *
 * Rules follow the wall clock, so they are evaluated on it, and each time gets its instant afterwards. A time the clock skips is kept;
 * an hour the clock repeats occurs once.
 */
export function startsOf(
  rule: RecurrenceRule,
  start: Moment,
  { from, to, max }: { from: number; to: number; max: number },
  giveUp: () => void,
): Moment[] {
  const found: Moment[] = [];
  let useful = 0;
  const [first, last] = [wallOn(start, from) - margin, wallOn(start, to) + margin];
  const walls = hasNamedDays(rule)
    ? namedTimes(rule, start.wall, first, last)
    : libraryTimes(rule, start.wall, first, last);
  try {
    for (const wall of walls) {
      const moment = likeAt(start, wall);
      found.push(moment);
      if (moment.at >= from) useful += 1;
      if (useful >= max) break;
    }
  } catch {
    giveUp();
  }
  return found;
}

function* libraryTimes(rule: RecurrenceRule, start: number, first: number, last: number): Generator<number> {
  const series = new RRuleTemporal({
    ...optionsOf(rule),
    dtstart: Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO('UTC'),
    temporal: Temporal,
    maxIterations,
    cache: false,
  });
  if (!isDense(rule)) {
    for (const { epochMilliseconds } of series.between(new Date(first), new Date(last), true)) yield epochMilliseconds;
    return;
  }
  for (
    let next = series.next(new Date(first), true);
    next;
    next = series.next(new Date(next.epochMilliseconds), false)
  ) {
    if (next.epochMilliseconds > last) return;
    yield next.epochMilliseconds;
  }
}

/** Whether a day may have many occurrences; these are computed one by one, so that no unused ones are made. */
const isDense = ({ freq, by }: RecurrenceRule): boolean =>
  timeFrequencies.has(freq) || Boolean(by.BYHOUR ?? by.BYMINUTE ?? by.BYSECOND);

function optionsOf({ freq, interval, count, wkst, byDay, by }: RecurrenceRule) {
  const times = [by.BYHOUR, by.BYMINUTE, by.BYSECOND].map((part) => part?.length ?? 1);
  if (times.reduce((product, length) => product * length, 1) > maxTimes)
    throw new RangeError('This rule names too many times of day.');
  const options = {
    byMonth: by.BYMONTH,
    byMonthDay: by.BYMONTHDAY,
    byYearDay: by.BYYEARDAY,
    byWeekNo: by.BYWEEKNO,
    byHour: by.BYHOUR,
    byMinute: by.BYMINUTE,
    bySecond: by.BYSECOND,
    bySetPos: by.BYSETPOS,
    byDay: byDay ?? undefined,
    count: count ?? undefined,
  };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { freq, interval, wkst, ...given };
}
