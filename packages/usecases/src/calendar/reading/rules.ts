import { RRuleTemporal } from 'rrule-temporal';
import { HOUR } from '@portal/domain/time';
import { likeAt, type Moment } from './moment.ts';

/** A recurrence rule as jCal has it (RFC 7265); without UNTIL, which the caller applies. */
export type Rule = Record<string, unknown>;

const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const frequencies = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const;
const withinDay: ReadonlySet<string> = new Set(['HOURLY', 'MINUTELY', 'SECONDLY']);

/** The clock of a zone is known to that, for the hours in which it changes. */
const margin = 3 * HOUR;
/** Times of day a rule may name; the library weighs each against each day. */
const mostTimes = 500;
/** Steps the library takes in search of one occurrence: half a second of work. */
const maxIterations = 20_000;

/**
 * Where the rule puts occurrences of a series that begins at `start`, between two instants and some hours around them, in order, at
 * most `most` from the first instant on. A rule nobody can read, or that finds nothing in all its steps, has none.
 *
 * Rules go by the clock, so they are worked out on it, and only then each time gets its instant: one the clock leaves out is not lost.
 * An hour that the clock shows twice is there once.
 */
export function startsOf(rule: Rule, start: Moment, from: number, to: number, most: number): Moment[] {
  try {
    const series = new RRuleTemporal({
      ...optionsOf(rule),
      dtstart: Temporal.Instant.fromEpochMilliseconds(start.wall).toZonedDateTimeISO('UTC'),
      temporal: Temporal,
      maxIterations,
      cache: false,
    });
    const clock = (instant: number) => instant + (instant - likeAt(start, instant).at);
    const [first, last] = [new Date(clock(from) - margin), new Date(clock(to) + margin)];
    if (!isDense(rule))
      return series.between(first, last, true).map(({ epochMilliseconds }) => likeAt(start, epochMilliseconds));
    return oneByOne(series, first, last, (wall) => likeAt(start, wall), from, most);
  } catch {
    return [];
  }
}

/** Whether there may be many in a day: these are asked for one by one, so that nothing is made that nobody takes. */
const isDense = (rule: Rule): boolean =>
  withinDay.has(String(rule['freq'])) || ['byhour', 'byminute', 'bysecond'].some((part) => part in rule);

function oneByOne(
  series: RRuleTemporal,
  first: Date,
  last: Date,
  momentOf: (wall: number) => Moment,
  from: number,
  most: number,
): Moment[] {
  const found: Moment[] = [];
  let useful = 0;
  for (let next = series.next(first, true); next && useful < most;) {
    const { epochMilliseconds: wall } = next;
    if (wall > last.getTime()) break;
    const moment = momentOf(wall);
    found.push(moment);
    if (moment.at >= from) useful += 1;
    next = series.next(new Date(wall), false);
  }
  return found;
}

function optionsOf(rule: Rule) {
  const freq = frequencies.find((one) => one === rule['freq']);
  if (!freq) throw new TypeError('This rule has no frequency.');
  const numbers = { byMonth: 'bymonth', byMonthDay: 'bymonthday', byYearDay: 'byyearday', byWeekNo: 'byweekno' };
  const more = { byHour: 'byhour', byMinute: 'byminute', bySecond: 'bysecond', bySetPos: 'bysetpos' };
  const times = ['byhour', 'byminute', 'bysecond'].map((part) => listOf(rule[part]).length);
  if (times.reduce((product, count) => product * count, 1) > mostTimes)
    throw new RangeError('These are too many times.');
  const given = Object.entries({ ...numbers, ...more }).filter(([, part]) => part in rule);
  return {
    freq,
    ...('interval' in rule && { interval: Number(rule['interval']) }),
    ...('count' in rule && { count: Number(rule['count']) }),
    ...('byday' in rule && { byDay: listOf(rule['byday']).map(String) }),
    ...('wkst' in rule && { wkst: weekdayOf(rule['wkst']) }),
    ...Object.fromEntries(given.map(([option, part]) => [option, listOf(rule[part]).map(Number)])),
  };
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** `wkst` comes as a number, 1 for Sunday. */
const weekdayOf = (value: unknown): string => weekdays[Number(value) - 1] ?? String(value);
