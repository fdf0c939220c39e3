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
  note: Note;
}

type Property = ContentLine & { at: number };
type Reader = (property: Property, value?: string) => Moment | null;

/** A VEVENT as far as it is shown. */
interface Entry {
  /** Where it begins. */
  at: number;
  lines: readonly IcsLine[];
  start: Moment;
  endOf: (start: Moment) => Moment;
  /** Longest of its occurrences. */
  lengthMs: number;
  /** With the last instant, or last day, each reaches. */
  rules: { rule: RecurrenceRule; until: Moment | null; at: number }[];
  more: { start: Moment; end: Moment | null }[];
  except: Moment[];
  /** The occurrence of its series that it stands for. */
  replaces: Moment | null;
  /** Whether it stands for all later ones as well. */
  isOnward: boolean;
  sequence: number;
  isCancelled: boolean;
  title: string;
  location: string | null;
}

/**
 * The occurrences of all events with one UID that overlap the window: masters, of which there may be several, and those that stand
 * for one occurrence of them, which may have left the window or come into it. An event nobody can read is noted.
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
 * What no later revision stands beside (RFC 5545, 3.8.7.4): it may have moved to another start. Some products write a series that was
 * split as two events of one UID; these have the same number.
 */
function newest(masters: Entry[]): Entry[] {
  const number = masters.reduce((most, { sequence }) => Math.max(most, sequence), 0);
  return masters.filter(({ sequence }) => sequence === number);
}

/** Of several revisions of one event the latest; of equal ones the last, where the others are noted unless they say the same. */
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

/** Occurrences of a master that are as one entry says. */
interface Part {
  entry: Entry;
  /** The occurrence it begins behind, and the one it ends before, on the clock of the master. */
  behind: Moment | null;
  before: Moment | null;
}

/**
 * A series in parts: the first is as its master says, each other one as an entry says that stands for one occurrence and all later ones
 * (RFC 5545, 3.2.13). These move by as much as that one, and last as long.
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

/** Every time at which a master takes place around the window, those left out and those replaced taken away. */
function timesOf(master: Entry, overrides: readonly Entry[], window: Window) {
  const gone = [...master.except, ...overrides.flatMap(({ replaces }) => replaces ?? [])];
  const instants = new Set(gone.filter(({ isDay }) => !isDay && !master.start.isDay).map(({ at }) => at));
  // Exchange names the days of a series by midnights, others the occurrences of a day by its date.
  const days = new Set(gone.filter(({ isDay }) => isDay || master.start.isDay).map(dayOf));
  // Occurrences that are taken away again must not use up the bound.
  const most = window.most + gone.length;
  return partsOf(master, overrides)
    .filter(({ entry }) => !entry.isCancelled && !window.isLate())
    .flatMap((part) =>
      timesWithin(master, part, { ...window, most })
        .filter((one) => !instants.has(one.start.at) && !days.has(dayOf(one.start)))
        .map((one) => ({ entry: part.entry, ...movedAs(part, one) })),
    );
}

interface Time {
  start: Moment;
  end: Moment | null;
}

/** The times of a part as the master has them, around the window as it is before they move. */
function timesWithin(master: Entry, { entry, behind, before }: Part, { from, to, most, isLate, note }: Window): Time[] {
  const movedBy = behind === null ? 0 : entry.start.wall - behind.wall;
  // Clocks of other zones may be most of a day apart.
  const margin = behind === null ? 0 : DAY;
  const first = Math.max(from - entry.lengthMs - movedBy - margin, behind?.at ?? -Infinity);
  const last = Math.min(to - movedBy + margin, before?.at ?? Infinity);
  const { start, rules, more } = master;
  // Of several rules all occurrences count (RFC 5545, 3.8.5.3).
  const ruled = (first > last ? [] : rules).flatMap(({ rule, until, at }) => {
    if (isLate()) return [];
    const starts = startsOf(rule, start, { from: first, to: last, most }, () => note(at, 'RULE_GIVEN_UP', 'RRULE'));
    return starts.filter((one) => until === null || isUntil(one, until));
  });
  const times = new Map<number, Time>();
  for (const one of [start, ...ruled]) times.set(one.at, { start: one, end: null });
  for (const one of more) if (!times.has(one.start.at)) times.set(one.start.at, one);
  return [...times.values()].filter(
    (one) => (behind === null || one.start.at > behind.at) && (before === null || one.start.at < before.at),
  );
}

/** A time of the master as its part has it. */
function movedAs({ entry, behind }: Part, { start, end }: Time) {
  if (behind === null) return { start, end: end ?? entry.endOf(start) };
  const moved = likeAt(entry.start, start.wall + entry.start.wall - behind.wall);
  return { start: moved, end: entry.endOf(moved) };
}

const isUntil = (one: Moment, until: Moment): boolean =>
  until.isDay || one.isDay ? dayOf(one) <= dayOf(until) : one.at <= until.at;

const isWithin = (start: number, end: number, { from, to }: Window): boolean =>
  start < to && (end > from || (end === start && start >= from));

/** An event as it is shown, or null, which is noted as everything that cannot be read. */
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
  // Where the line between two events is broken, they are one with two starts.
  for (const { at } of all('DTSTART').slice(1)) note(at, 'LINE_UNREADABLE', 'A second DTSTART');
  const zoneOfLine = ({ parameters: { TZID }, at }: Property, otherwise: Zone): Zone => {
    const zone = TZID === undefined ? otherwise : zoneOf(TZID, calendar);
    if (zone === null) note(at, 'ZONE_UNKNOWN', `Time zone ${TZID}`);
    return zone ?? berlin;
  };
  // One date of a list that cannot be read does not take the others with it.
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
  // A time without a zone is on the clock on which the event begins.
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
  // All earlier ones, which a standard before had, is nothing anybody writes.
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
    // One whose place cannot be read stands for the occurrence at its own time.
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

/** How long an event is (RFC 5545, 3.6.1). What of it cannot be read is noted: then it lasts a day, or no time, as one that says nothing. */
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
  // In days as the calendar counts them, it may be an hour more.
  return { endOf, lengthMs: endOf(start).at - start.at + (duration && duration.days > 0 ? HOUR : 0) };
}

/** The end of an occurrence that begins then: a length, or a number of days. */
function endsAfter(start: Moment, end: Moment | undefined): (start: Moment) => Moment {
  if (start.isDay) {
    const days = end === undefined ? 1 : Math.max(Math.round((dayOf(end) - start.wall) / DAY), 1);
    return (one) => dayAt(one.wall + days * DAY);
  }
  const lengthMs = end === undefined ? 0 : Math.max(end.at - start.at, 0);
  return (one) => ({ ...one, wall: one.wall + lengthMs, at: one.at + lengthMs });
}

/** Days are those of the calendar, hours those that pass (RFC 5545, 3.3.6). */
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
