import type { Note } from './findings.ts';

/** What holds for the events of one VCALENDAR. */
export interface IcsCalendar {
  /** Of the message; `CANCEL` takes back what it holds. */
  method: string;
  /** The VTIMEZONE of each name, as it is written. */
  zones: Map<string, string>;
}

/** A line, unfolded, and its place among all of them, from 1. */
export interface IcsLine {
  text: string;
  at: number;
}

/** A VEVENT: its lines that say when it is and how it is called, as the file has them. */
export interface IcsEvent {
  uid: string;
  /** Where it begins. */
  at: number;
  lines: IcsLine[];
  calendar: IcsCalendar;
}

/** Events of one source (reference, “Limits”). */
const maxEvents = 20_000;
/** Characters of one event or zone that are looked at; nobody writes as many, except to keep us busy. */
const maxCharacters = 128 * 1024;

// What an event has besides is none of ours, and mostly the larger part of a file. EXRULE is of an earlier standard, and named.
const wanted =
  /^(?:UID|SUMMARY|LOCATION|DTSTART|DTEND|DURATION|RRULE|RDATE|EXDATE|EXRULE|RECURRENCE-ID|STATUS|SEQUENCE)[;:]/i;
const edge = /^(BEGIN|END):\s*([A-Z\d-]+)\s*$/i;
/** Components that stand in no other (RFC 5545, 3.6): where one begins or ends, what is open ends. */
const outer: ReadonlySet<string> = new Set(['VCALENDAR', 'VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY', 'VTIMEZONE']);

interface Component {
  name: string;
  at: number;
  lines: IcsLine[];
  depth: number;
  room: number;
}

/**
 * Takes a file apart into its events without a look at their values, so that one that is broken spoils none of the others, and most
 * that are out of sight are never read (RFC 5545, 3.4 and 3.6). Every component is there or noted, also one that does not end or begin.
 * `isWhole` is false when there are more events than are taken.
 */
export function readIcsLines(file: Uint8Array, note: Note): { events: IcsEvent[]; isWhole: boolean } {
  const events: IcsEvent[] = [];
  let calendar: IcsCalendar = { method: '', zones: new Map() };
  let open: Component | null = null;
  /** Where a calendar begins that has not ended yet. */
  let begun: number | null = null;
  let at = 0;
  let isWhole = true;

  function close({ name, at: begins, lines, depth, room }: Component, isEnded: boolean): void {
    if (name === 'VTIMEZONE') {
      addZone(calendar, lines);
      return;
    }
    if (name !== 'VEVENT') {
      note(begins, 'COMPONENT_UNKNOWN', name);
      return;
    }
    if (!isEnded || depth > 0) note(begins, 'END_MISSING', isEnded ? 'A part of a VEVENT' : name);
    if (room < 0) note(begins, 'EVENT_TOO_LONG', name);
    isWhole = events.length < maxEvents;
    if (isWhole) events.push({ uid: uidOf(lines) ?? `#${events.length}`, at: begins, lines, calendar });
    else note(begins, 'EVENT_BEYOND', name);
  }

  for (const line of unfoldedLines(file)) {
    at += 1;
    const [, which, named = ''] = edge.exec(line) ?? [];
    const name = named.toUpperCase();
    const isBegin = which?.toUpperCase() === 'BEGIN';
    if (which !== undefined && outer.has(name)) {
      const isEnded: boolean = !isBegin && open?.name === name;
      if (open) close(open, isEnded);
      open = null;
      if (name === 'VCALENDAR') {
        if (isBegin && begun !== null) note(begun, 'END_MISSING', name);
        begun = isBegin ? at : null;
        if (isBegin) calendar = { method: '', zones: new Map() };
      } else if (isBegin) open = { name, at, lines: [], depth: 0, room: maxCharacters };
      else if (name === 'VEVENT' && !isEnded) note(at, 'BEGIN_MISSING', name);
    } else if (open) {
      if (open.name === 'VTIMEZONE' || (open.depth === 0 && wanted.test(line))) {
        open.room -= line.length;
        if (open.room >= 0) open.lines.push({ text: line, at });
      }
      if (which !== undefined) open.depth = Math.max(open.depth + (isBegin ? 1 : -1), 0);
    } else if (isBegin) note(at, 'COMPONENT_UNKNOWN', name);
    else if (/^METHOD[;:]/i.test(line))
      calendar.method = line
        .slice(line.indexOf(':') + 1)
        .trim()
        .toUpperCase();
  }
  if (open) close(open, false);
  if (begun !== null) note(begun, 'END_MISSING', 'VCALENDAR');
  return { events, isWhole };
}

function uidOf(lines: readonly IcsLine[]): string | undefined {
  const [, uid] = lines.map(({ text }) => /^UID(?:;[^:]*)?:(.+)$/i.exec(text)).find((found) => found !== null) ?? [];
  return uid?.replaceAll(/\\([\\,;])/g, '$1').trim();
}

/** What follows the name and parameters of the first line of this name: of a date, which has no colon in it. */
export function valueOf(lines: readonly IcsLine[], name: string): string | undefined {
  const found = lines.find(
    ({ text }) => /[;:]/.test(text[name.length] ?? '') && text.slice(0, name.length).toUpperCase() === name,
  )?.text;
  return found?.slice(found.lastIndexOf(':') + 1).trim();
}

function addZone(calendar: IcsCalendar, lines: readonly IcsLine[]): void {
  const texts = lines.map(({ text }) => text);
  const named = texts.find((text) => /^TZID[;:]/i.test(text));
  const name = named?.slice(named.indexOf(':') + 1).trim();
  if (name !== undefined && !calendar.zones.has(name))
    calendar.zones.set(name, ['BEGIN:VTIMEZONE', ...texts, 'END:VTIMEZONE'].join('\r\n'));
}

// A line end that went through a text mode twice has a CR too many.
const fold = /(?:\r?\r?\n|\r)[ \t]/g;

/**
 * The lines of a file, decoded after they were unfolded: a writer that counts octets folds within a character as well (RFC 5545, 3.1).
 * Lines may end with CRLF, LF or CR, and a byte order mark is no part of the first.
 */
function* unfoldedLines(file: Uint8Array): Generator<string> {
  // As Latin-1 each octet is a character, and back again.
  const octets = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1').replaceAll(fold, '');
  const lines = Buffer.from(octets.replaceAll(/\r\n?/g, '\n'), 'latin1').toString();
  for (let from = lines.startsWith('\uFEFF') ? 1 : 0; from < lines.length;) {
    const end = lines.indexOf('\n', from);
    const to = end === -1 ? lines.length : end;
    yield lines.slice(from, to);
    from = to + 1;
  }
}

/** The lines of the file itself at which these unfolded ones begin, as an editor counts them. */
export function linesInFile(file: Uint8Array, places: readonly number[]): Map<number, number> {
  const wanted = new Set(places);
  const found = new Map<number, number>([[1, 1]]);
  if (wanted.size === 0) return found;
  const octets = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1');
  let place = 1;
  let line = 1;
  for (const [end] of octets.matchAll(/(?:\r?\r?\n|\r)[ \t]|\r\n?|\n/g)) {
    line += 1;
    if (!/[ \t]$/.test(end)) place += 1;
    if (wanted.has(place) && !found.has(place)) found.set(place, line);
  }
  return found;
}
