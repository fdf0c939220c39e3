import {
  type ContentLine,
  contentLineOf,
  durationOf,
  textOf,
  type WrittenDuration,
} from '@portal/domain/calendar/content-lines';
import { type RecurrenceRule, recurrenceRuleOf } from '@portal/domain/calendar/recurrence-rule';
import { DAY, HOUR } from '@portal/domain/time';
import type { Note } from './findings.ts';
import type { IcsEvent, IcsLine } from './ics-lines.ts';
import { dayAt, dayOf, likeAt, type Moment, momentOf, onClockOf } from './moment.ts';
import { startsOf } from './rules.ts';
import { berlin, type Zone, zoneOf } from './zones.ts';

/** One occurrence of an event. */
export interface Occurrence {
  uid: string;
  title: string;
  location: string | null;
  start: Moment;
  end: Moment;
}

/** The part of a series to compute. */
export interface Window {
  from: number;
  to: number;
  /** Maximum number of occurrences needed. */
  max: number;
  /** Whether the time is used up. */
  isLate: () => boolean;
  note: Note;
}

type Property = ContentLine & { at: number };
type Reader = (property: Property, value?: string) => Moment | null;

/** A parsed VEVENT. */
interface Entry {
  /** Number of its first line. */
  at: number;
  lines: readonly IcsLine[];
  start: Moment;
  endOf: (start: Moment) => Moment;
  /** Length of its longest occurrence. */
  lengthMs: number;
  /** Each with the last instant or day it reaches. */
  rules: { rule: RecurrenceRule; until: Moment | null; at: number }[];
  more: { start: Moment; end: Moment | null }[];
  except: Moment[];
  /** The occurrence of its series that it replaces. */
  replaces: Moment | null;
  /** Whether it replaces all later occurrences as well. */
  isOnward: boolean;
  sequence: number;
  isCancelled: boolean;
  title: string;
  location: string | null;
}

/**
 * The occurrences in the window of all events with one UID: one or more masters, and the overrides of single occurrences, which may have
 * moved out of the window or into it. Notes every event that cannot be read.
 */
export function occurrencesOf(uid: string, events: readonly IcsEvent[], window: Window): Occurrence[] {
  const entries = events.flatMap((event) => entryOf(event, window.note) ?? []);
  const masters = latest(
    newest(entries.filter(({ replaces }) => replaces === null)),
    ({ start }) => `${start.isDay} ${start.at}`,
    window.note,
  );
  const overrides = latest(
    entries.filter(({ replaces }) => replaces !== null),
    ({ replaces }) => `${replaces?.isDay} ${replaces?.at}`,
    window.note,
  );
  const own = masters
    .filter(({ isCancelled }) => !isCancelled)
    .flatMap((master) => (window.isLate() ? [] : timesOf(master, overrides, window)));
  const instead = overrides
    .filter(({ isCancelled }) => !isCancelled)
    .map((entry) => ({ entry, start: entry.start, end: entry.endOf(entry.start) }));
  return [...own, ...instead]
    .filter(({ start, end }) => isWithin(start.at, end.at, window))
    .map(({ entry: { title, location }, start, end }) => ({ uid, title, location, start, end }));
}

/**
 * The masters of the latest revision (RFC 5545, 3.8.7.4), which may have moved to another start. Some products write a split series as
 * two events with one UID; these have the same SEQUENCE.
 */
function newest(masters: Entry[]): Entry[] {
  const number = masters.reduce((max, { sequence }) => Math.max(max, sequence), 0);
  return masters.filter(({ sequence }) => sequence === number);
}

/** The latest revision of each event; of equal revisions the last one. Notes the others unless they are identical. */
function latest(entries: Entry[], keyOf: (entry: Entry) => string, note: Note): Entry[] {
  const byKey = new Map<string, Entry>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const known = byKey.get(key);
    if (known?.sequence === entry.sequence && !isSame(known, entry)) note(known.at, 'EVENT_REPLACED', 'VEVENT');
    if (!known || known.sequence <= entry.sequence) byKey.set(key, entry);
  }
  return [...byKey.values()];
}

const isSame = (one: Entry, other: Entry): boolean =>
  one.lines.length === other.lines.length && one.lines.every(({ text }, n) => text === other.lines[n]?.text);

/** The occurrences of a master that follow one entry. */
interface Part {
  entry: Entry;
  /** The occurrences between which it lies, both excluded, on the clock of the master. */
  behind: Moment | null;
  before: Moment | null;
}

/**
 * Splits a series into parts: the first follows its master, each other one an entry that replaces an occurrence and all later ones
 * (RFC 5545, 3.2.13). The later ones move by the same amount and last as long.
 */
function partsOf(master: Entry, overrides: readonly Entry[]): Part[] {
  const onward = overrides
    .filter(({ isOnward }) => isOnward)
    .flatMap((entry) => (entry.replaces ? [{ entry, behind: onClockOf(master.start, entry.replaces) }] : []))
    .toSorted((a, b) => a.behind.at - b.behind.at);
  return [{ entry: master, behind: null }, ...onward].map((part, n) => ({
    ...part,
    before: onward[n]?.behind ?? null,
  }));
}

/** All times of a master around the window, without excluded and replaced ones. */
function timesOf(master: Entry, overrides: readonly Entry[], window: Window) {
  const removed = [...master.except, ...overrides.flatMap(({ replaces }) => replaces ?? [])];
  const instants = new Set(removed.filter(({ isDay }) => !isDay && !master.start.isDay).map(({ at }) => at));
  // Exchange names the days of an all-day series by midnights; other products name an occurrence by its date.
  const days = new Set(removed.filter(({ isDay }) => isDay || master.start.isDay).map(dayOf));
  // Occurrences removed below must not count towards the limit.
  const max = window.max + removed.length;
  return partsOf(master, overrides)
    .filter(({ entry }) => !entry.isCancelled && !window.isLate())
    .flatMap((part) =>
      timesWithin(master, part, { ...window, max })
        .filter((one) => !instants.has(one.start.at) && !days.has(dayOf(one.start)))
        .map((one) => ({ entry: part.entry, ...movedAs(part, one) })),
    );
}

interface Time {
  start: Moment;
  end: Moment | null;
}

/** The times of a part before they move, around the window shifted accordingly. */
function timesWithin(master: Entry, { entry, behind, before }: Part, { from, to, max, isLate, note }: Window): Time[] {
  const movedBy = behind === null ? 0 : entry.start.wall - behind.wall;
  // Clocks of two zones may differ by most of a day.
  const margin = behind === null ? 0 : DAY;
  const first = Math.max(from - entry.lengthMs - movedBy - margin, behind?.at ?? -Infinity);
  const last = Math.min(to - movedBy + margin, before?.at ?? Infinity);
  const { start, rules, more } = master;
  // With several rules, the occurrences of all of them count (RFC 5545, 3.8.5.3).
  const ruled = (first > last ? [] : rules).flatMap(({ rule, until, at }) => {
    if (isLate()) return [];
    const starts = startsOf(rule, start, { from: first, to: last, max }, () => note(at, 'RULE_GIVEN_UP', 'RRULE'));
    return starts.filter((one) => until === null || isUntil(one, until));
  });
  const times = new Map<number, Time>();
  for (const one of [start, ...ruled]) times.set(one.at, { start: one, end: null });
  for (const one of more) if (!times.has(one.start.at)) times.set(one.start.at, one);
  return [...times.values()].filter(
    (one) => (behind === null || one.start.at > behind.at) && (before === null || one.start.at < before.at),
  );
}

/** A time of the master, moved as its part says. */
function movedAs({ entry, behind }: Part, { start, end }: Time) {
  if (behind === null) return { start, end: end ?? entry.endOf(start) };
  const moved = likeAt(entry.start, start.wall + entry.start.wall - behind.wall);
  return { start: moved, end: entry.endOf(moved) };
}

const isUntil = (one: Moment, until: Moment): boolean =>
  until.isDay || one.isDay ? dayOf(one) <= dayOf(until) : one.at <= until.at;

const isWithin = (start: number, end: number, { from, to }: Window): boolean =>
  start < to && (end > from || (end === start && start >= from));

/** Parses an event; null if its start cannot be read. Notes everything that cannot be read. */
function entryOf({ at: begins, lines, calendar }: IcsEvent, note: Note): Entry | null {
  const properties = lines.flatMap(({ text, at }) => {
    const property = contentLineOf(text);
    if (property) return [{ ...property, at }];
    note(at, 'LINE_UNREADABLE', text);
    return [];
  });
  const all = (name: string) => properties.filter((property) => property.name === name);
  const first = (name: string) => properties.find((property) => property.name === name);
  for (const { at } of all('EXRULE')) note(at, 'LINE_UNREADABLE', 'EXRULE');
  // If the line between two events is broken, they become one event with two starts.
  for (const { at } of all('DTSTART').slice(1)) note(at, 'LINE_UNREADABLE', 'A second DTSTART');
  const zoneOfLine = ({ parameters: { TZID }, at }: Property, otherwise: Zone): Zone => {
    const zone = TZID === undefined ? otherwise : zoneOf(TZID, calendar);
    if (zone === null) note(at, 'ZONE_UNKNOWN', `Time zone ${TZID}`);
    return zone ?? berlin;
  };
  // An unreadable date in a list does not affect the others.
  const each = <T>(name: string, read: (property: Property, value: string) => T | null) =>
    all(name).flatMap((property) =>
      property.value.split(',').flatMap((value) => {
        const one = read(property, value);
        if (one === null) note(property.at, 'LINE_UNREADABLE', `${name} ${value}`);
        return one ?? [];
      }),
    );
  const shownText = (name: string) => lineOf(textOf(first(name)?.value ?? ''));

  const starts = first('DTSTART');
  if (!starts) return missing(note, begins, 'START_MISSING');
  const start = momentOf(starts, starts.value, () => zoneOfLine(starts, berlin));
  if (!start) return missing(note, starts.at, 'START_UNREADABLE');
  // A time without a zone is in the zone of the event's start.
  const momentIn: Reader = (property, value = property.value) =>
    momentOf(property, value, () => zoneOfLine(property, start.zone));
  const { endOf, lengthMs } = lengthOf(start, first('DTEND'), first('DURATION'), momentIn, note);
  const rules = all('RRULE').flatMap(({ at, value }) => {
    const rule = recurrenceRuleOf(value, start.isDay);
    if (typeof rule === 'string') {
      note(at, rule, 'RRULE');
      return [];
    }
    const until = rule.until === null ? null : momentIn(starts, rule.until);
    if (rule.until !== null && until === null) note(at, 'UNTIL_UNREADABLE', 'UNTIL');
    return [{ rule, until, at }];
  });
  const numbered = first('SEQUENCE');
  const isNumber = numbered === undefined || /^\d{1,15}$/.test(numbered.value);
  if (!isNumber) note(numbered.at, 'LINE_UNREADABLE', `SEQUENCE ${numbered.value}`);
  const replaces = first('RECURRENCE-ID');
  const replaced = replaces ? momentIn(replaces) : null;
  const range = replaces?.parameters['RANGE']?.toUpperCase();
  if (replaces && replaced === null) note(replaces.at, 'LINE_UNREADABLE', `RECURRENCE-ID ${replaces.value}`);
  // THISANDPRIOR, from an earlier standard, is not in use.
  const isOnward = range === 'THISANDFUTURE';
  if (replaces && range !== undefined && !isOnward) note(replaces.at, 'LINE_UNREADABLE', `RANGE ${range}`);
  return {
    at: begins,
    lines,
    start,
    endOf,
    lengthMs,
    rules,
    more: each('RDATE', (property, value) => addedOf(property, value, momentIn)),
    except: each('EXDATE', momentIn),
    // An override whose RECURRENCE-ID cannot be read replaces the occurrence at its own start.
    replaces: replaces ? (replaced ?? start) : null,
    isOnward,
    sequence: isNumber ? Number(numbered?.value ?? 0) : 0,
    isCancelled: calendar.method === 'CANCEL' || shownText('STATUS').toUpperCase() === 'CANCELLED',
    title: shownText('SUMMARY'),
    location: shownText('LOCATION') || null,
  };
}

function missing(note: Note, at: number, code: 'START_MISSING' | 'START_UNREADABLE'): null {
  note(at, code, 'DTSTART');
  return null;
}

interface Length {
  endOf: (start: Moment) => Moment;
  lengthMs: number;
}

/** The length of an event (RFC 5545, 3.6.1). Notes an unreadable one and uses the default: one day for a day, zero for a time. */
function lengthOf(
  start: Moment,
  ends: Property | undefined,
  lasts: Property | undefined,
  momentIn: Reader,
  note: Note,
): Length {
  const end = ends && momentIn(ends);
  const duration = !ends && lasts ? durationOf(lasts.value) : undefined;
  if (ends && end === null) note(ends.at, 'LENGTH_UNREADABLE', 'DTEND');
  if (lasts && duration === null) note(lasts.at, 'LENGTH_UNREADABLE', 'DURATION');
  const endOf = duration ? (one: Moment) => after(one, duration) : endsAfter(start, end ?? undefined);
  // A length in calendar days may be an hour longer when the clock changes.
  return { endOf, lengthMs: endOf(start).at - start.at + (duration && duration.days > 0 ? HOUR : 0) };
}

/** The end of an occurrence after its start: a length for times, a number of days for days. */
function endsAfter(start: Moment, end: Moment | undefined): (start: Moment) => Moment {
  if (start.isDay) {
    const days = end === undefined ? 1 : Math.max(Math.round((dayOf(end) - start.wall) / DAY), 1);
    return (one) => dayAt(one.wall + days * DAY);
  }
  const lengthMs = end === undefined ? 0 : Math.max(end.at - start.at, 0);
  return (one) => ({ ...one, wall: one.wall + lengthMs, at: one.at + lengthMs });
}

/** Days are calendar days; hours are elapsed time (RFC 5545, 3.3.6). */
function after(start: Moment, { days, ms }: WrittenDuration): Moment {
  const later = likeAt(start, start.wall + days * DAY);
  return start.isDay ? later : { ...later, wall: later.wall + ms, at: later.at + ms };
}

/** The time an RDATE adds; a period has an end of its own (RFC 5545, 3.3.9). */
function addedOf(property: Property, value: string, momentIn: Reader) {
  const [begins = '', ends] = value.trim().split('/');
  const start = momentIn(property, begins);
  if (ends === undefined || start === null) return start && { start, end: null };
  const duration = durationOf(ends);
  const end = duration ? after(start, duration) : momentIn(property, ends);
  return end && { start, end: end.at < start.at ? start : end };
}

const longestText = 200;

/** Text as a single line of limited length, without control characters. */
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
