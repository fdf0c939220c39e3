import { RRuleTemporal } from 'rrule-temporal';
import { hasNamedDays, namedTimes } from '@portal/domain/calendar/named-days';
import { type RecurrenceRule, timeFrequencies } from '@portal/domain/calendar/recurrence-rule';
import { HOUR } from '@portal/domain/time';
import { likeAt, type Moment, wallOn } from './moment.ts';

/** The clock of a zone is known to that, for the hours in which it changes. */
const margin = 3 * HOUR;
/** Times of day a rule may name; the library weighs each against each day. */
const maxTimes = 500;
/** Steps the library takes in search of one occurrence: half a second of work. */
const maxIterations = 20_000;

/**
 * Where the rule puts occurrences of a series that begins at `start`, between two instants and some hours around them, in order, at
 * most `most` from the first instant on. One that takes too many steps is given up, with what was found until then.
 *
 * Rules go by the clock, so they are worked out on it, and only then each time gets its instant: one the clock leaves out is not lost.
 * An hour that the clock shows twice is there once.
 */
export function startsOf(
  rule: RecurrenceRule,
  start: Moment,
  { from, to, most }: { from: number; to: number; most: number },
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
      if (useful >= most) break;
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

/** Whether there may be many in a day: these are asked for one by one, so that nothing is made that nobody takes. */
const isDense = ({ freq, by }: RecurrenceRule): boolean =>
  timeFrequencies.has(freq) || Boolean(by.BYHOUR ?? by.BYMINUTE ?? by.BYSECOND);

function optionsOf({ freq, interval, count, wkst, byDay, by }: RecurrenceRule) {
  const times = [by.BYHOUR, by.BYMINUTE, by.BYSECOND].map((part) => part?.length ?? 1);
  if (times.reduce((product, length) => product * length, 1) > maxTimes)
    throw new RangeError('These are too many times.');
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
