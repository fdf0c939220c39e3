import ICAL from 'ical.js';
import { type ContentLine, contentLineOf, textOf } from '@portal/domain/calendar/content-lines';
import { DAY, HOUR } from '@portal/domain/time';
import type { IcsEvent } from './ics-lines.ts';
import { dayAt, dayOf, likeAt, type Moment, momentOf } from './moment.ts';
import { type Rule, startsOf } from './rules.ts';

/** One time at which an event is. */
export interface Occurrence {
  uid: string;
  title: string;
  location: string | null;
  start: Moment;
  end: Moment;
}

/** What of a series is looked at. */
export interface Window {
  from: number;
  to: number;
  /** Occurrences that are of any use. */
  most: number;
  /** Whether there is no more time to look at anything. */
  isLate: () => boolean;
}

/** A VEVENT as far as it is shown. */
interface Entry {
  start: Moment;
  endOf: (start: Moment) => Moment;
  /** Longest of its occurrences. */
  lengthMs: number;
  rule: Rule | null;
  /** Last instant, or last day, the rule reaches. */
  until: Moment | null;
  more: { start: Moment; end: Moment | null }[];
  except: Moment[];
  /** The occurrence of its series that it stands for. */
  replaces: Moment | null;
  sequence: number;
  isCancelled: boolean;
  title: string;
  location: string | null;
}

/**
 * The occurrences of all events with one UID that overlap the window: masters, of which there may be several, and those that stand
 * for one occurrence of them, which may have left the window or come into it. An event nobody can read is passed over.
 */
export function occurrencesOf(uid: string, events: readonly IcsEvent[], window: Window): Occurrence[] {
  const entries = events.flatMap((event) => entryOf(event) ?? []);
  const masters = latest(
    entries.filter(({ replaces }) => replaces === null),
    ({ start }) => String(start.at),
  );
  const overrides = latest(
    entries.filter(({ replaces }) => replaces !== null),
    ({ replaces }) => `${replaces?.isDay} ${replaces?.at}`,
  );
  const replaced = overrides.flatMap(({ replaces }) => replaces ?? []);
  const own = masters
    .filter(({ isCancelled }) => !isCancelled)
    .flatMap((master) => (window.isLate() ? [] : timesOf(master, replaced, window)));
  const instead = overrides
    .filter(({ isCancelled }) => !isCancelled)
    .map((entry) => ({ entry, start: entry.start, end: entry.endOf(entry.start) }));
  return [...own, ...instead]
    .filter(({ start, end }) => isWithin(start.at, end.at, window))
    .map(({ entry: { title, location }, start, end }) => ({ uid, title, location, start, end }));
}

/** Of several revisions of one event the latest; of equal ones the last. */
function latest(entries: Entry[], keyOf: (entry: Entry) => string): Entry[] {
  const byKey = new Map<string, Entry>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const known = byKey.get(key);
    if (!known || known.sequence <= entry.sequence) byKey.set(key, entry);
  }
  return [...byKey.values()];
}

/** Every time at which a master takes place around the window, those left out and those replaced taken away. */
function timesOf(master: Entry, replaced: Moment[], { from, to, most }: Window) {
  const { start, rule, until, more, except, lengthMs, endOf } = master;
  // Occurrences that are taken away again must not use up the bound.
  const enough = most + except.length + replaced.length;
  const ruled = rule === null ? [] : startsOf(rule, start, from - lengthMs, to, enough);
  const within = until === null ? ruled : ruled.filter((one) => isUntil(one, until));
  const times = new Map<number, { start: Moment; end: Moment | null }>();
  for (const one of [start, ...within]) times.set(one.at, { start: one, end: null });
  for (const one of more) if (!times.has(one.start.at)) times.set(one.start.at, one);
  const gone = [...except, ...replaced];
  const instants = new Set(gone.filter(({ isDay }) => !isDay && !start.isDay).map(({ at }) => at));
  // Exchange names the days of a series by midnights, others the occurrences of a day by its date.
  const days = new Set(gone.filter(({ isDay }) => isDay || start.isDay).map(dayOf));
  return [...times.values()]
    .filter((one) => !instants.has(one.start.at) && !days.has(dayOf(one.start)))
    .map((one) => ({ entry: master, start: one.start, end: one.end ?? endOf(one.start) }));
}

const isUntil = (one: Moment, until: Moment): boolean =>
  until.isDay || one.isDay ? dayOf(one) <= dayOf(until) : one.at <= until.at;

const isWithin = (start: number, end: number, { from, to }: Window): boolean =>
  start < to && (end > from || (end === start && start >= from));

function entryOf({ lines, calendar }: IcsEvent): Entry | null {
  try {
    const properties = lines.flatMap((line) => contentLineOf(line) ?? []);
    const all = (name: string) => properties.filter((property) => property.name === name);
    const first = (name: string) => properties.find((property) => property.name === name);
    const momentIn = (property: ContentLine) => momentOf(property, property.value, calendar);
    // One date of a list that cannot be read does not take the others with it.
    const each = <T>(property: ContentLine, read: (value: string) => T) =>
      property.value.split(',').flatMap((value) => orNothing(() => [read(value)]));
    const shownText = (name: string) => lineOf(textOf(first(name)?.value ?? ''));

    const begins = first('DTSTART');
    if (!begins) return null;
    const start = momentIn(begins);
    const ends = first('DTEND');
    const duration = first('DURATION')?.value;
    const endOf = endsAfter(start, ends && momentIn(ends), duration);
    const rule = orNothing(() => all('RRULE').map(({ value }) => ruleOf(value)))[0] ?? null;
    const [, until] = /(?:^|;)UNTIL=([^;]*)/i.exec(first('RRULE')?.value ?? '') ?? [];
    const more = all('RDATE').flatMap((property) => each(property, (value) => addedOf(property, value, calendar)));
    const replaces = first('RECURRENCE-ID');
    return {
      start,
      endOf,
      // In days as the calendar counts them, it may be an hour more.
      lengthMs: endOf(start).at - start.at + (/[DW]/.test(duration ?? '') ? HOUR : 0),
      rule,
      until: until === undefined ? null : momentOf(begins, until, calendar),
      more,
      except: all('EXDATE').flatMap((property) => each(property, (value) => momentOf(property, value, calendar))),
      replaces: replaces ? momentIn(replaces) : null,
      sequence: Number(first('SEQUENCE')?.value ?? 0) || 0,
      isCancelled: calendar.method === 'CANCEL' || shownText('STATUS').toUpperCase() === 'CANCELLED',
      title: shownText('SUMMARY'),
      location: shownText('LOCATION') || null,
    };
  } catch {
    return null;
  }
}

function ruleOf(value: string): Rule {
  const [, , , rule] = ICAL.parse.property(`RRULE:${value}`) as unknown as [string, object, string, Rule];
  return rule;
}

/** The end of an occurrence that begins then (RFC 5545, 3.6.1): a length, a number of days, or what DURATION says. */
function endsAfter(start: Moment, end: Moment | undefined, duration: string | undefined): (start: Moment) => Moment {
  if (end === undefined && duration !== undefined) return (one) => after(one, duration);
  if (start.isDay) {
    const days = end === undefined ? 1 : Math.max(Math.round((dayOf(end) - start.wall) / DAY), 1);
    return (one) => dayAt(one.wall + days * DAY);
  }
  const lengthMs = end === undefined ? 0 : Math.max(end.at - start.at, 0);
  return (one) => ({ ...one, wall: one.wall + lengthMs, at: one.at + lengthMs });
}

/** Days are those of the calendar, hours those that pass (RFC 5545, 3.3.6). */
function after(start: Moment, duration: string): Moment {
  const { sign, weeks, days, hours, minutes, seconds } = Temporal.Duration.from(duration);
  if (sign < 0) return start;
  const later = likeAt(start, start.wall + (weeks * 7 + days) * DAY);
  const ms = ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  return start.isDay ? later : { ...later, wall: later.wall + ms, at: later.at + ms };
}

function orNothing<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/** The time an RDATE adds; a period has an end of its own (RFC 5545, 3.3.9). */
function addedOf(property: ContentLine, value: string, calendar: IcsEvent['calendar']) {
  const [begins = '', ends] = value.trim().split('/');
  const start = momentOf(property, begins, calendar);
  if (ends === undefined) return { start, end: null };
  const end = /^[+-]?P/i.test(ends) ? after(start, ends) : momentOf(property, ends, calendar);
  return { start, end: end.at < start.at ? start : end };
}

const longestText = 200;

/** Text of a single line, as it may be shown as text. */
const lineOf = (value: string): string =>
  Array.from(
    value
      .slice(0, 4 * longestText)
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
      .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu, ' ')
      .trim(),
  )
    .slice(0, longestText)
    .join('');
