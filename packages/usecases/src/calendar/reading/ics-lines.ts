import type { Note } from './findings.ts';

/** Properties shared by the events of one VCALENDAR. */
export interface IcsCalendar {
  /** METHOD of the message; `CANCEL` cancels its events. */
  method: string;
  /** The VTIMEZONE of each name, as written. */
  zones: Map<string, string>;
}

/** An unfolded line and its number among the unfolded lines, from 1. */
export interface IcsLine {
  text: string;
  at: number;
}

/** A VEVENT with the lines the portal uses, as written. */
export interface IcsEvent {
  uid: string;
  /** Number of its first line. */
  at: number;
  lines: IcsLine[];
  calendar: IcsCalendar;
}

/** Events of one source (reference, “Limits”). */
const maxEvents = 20_000;
/** Characters read from one event or zone; only an attack needs more. */
const maxCharacters = 128 * 1024;

// Other properties are not used and usually make up most of a file. EXRULE is from an earlier standard and is reported as a finding.
const wanted =
  /^(?:UID|SUMMARY|LOCATION|DTSTART|DTEND|DURATION|RRULE|RDATE|EXDATE|EXRULE|RECURRENCE-ID|STATUS|SEQUENCE)[;:]/i;
const edge = /^(BEGIN|END):\s*([A-Z\d-]+)\s*$/i;
/** Top-level components (RFC 5545, 3.6): the start or end of one closes the open one. */
const outer: ReadonlySet<string> = new Set(['VCALENDAR', 'VEVENT', 'VTODO', 'VJOURNAL', 'VFREEBUSY', 'VTIMEZONE']);

interface Component {
  name: string;
  at: number;
  lines: IcsLine[];
  depth: number;
  remainingCharacters: number;
}

/**
 * Splits a file into its events without reading their values, so that a broken event does not affect the others and most events outside
 * the window are never read (RFC 5545, 3.4 and 3.6). Returns or notes every component, also one without BEGIN or END.
 * `isWhole` is false if the file has more events than the limit.
 */
export function readIcsLines(file: Uint8Array, note: Note): { events: IcsEvent[]; isWhole: boolean } {
  const events: IcsEvent[] = [];
  let calendar: IcsCalendar = { method: '', zones: new Map() };
  let open: Component | null = null;
  /** First line of the open calendar. */
  let begun: number | null = null;
  let at = 0;
  let isWhole = true;

  function close({ name, at: begins, lines, depth, remainingCharacters }: Component, isEnded: boolean): void {
    if (name === 'VTIMEZONE') {
      addZone(calendar, lines);
      return;
    }
    if (name !== 'VEVENT') {
      note(begins, 'COMPONENT_UNKNOWN', name);
      return;
    }
    if (!isEnded || depth > 0) note(begins, 'END_MISSING', isEnded ? 'A part of a VEVENT' : name);
    if (remainingCharacters < 0) note(begins, 'EVENT_TOO_LONG', name);
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
      } else if (isBegin) open = { name, at, lines: [], depth: 0, remainingCharacters: maxCharacters };
      else if (name === 'VEVENT' && !isEnded) note(at, 'BEGIN_MISSING', name);
    } else if (open) {
      if (open.name === 'VTIMEZONE' || (open.depth === 0 && wanted.test(line))) {
        open.remainingCharacters -= line.length;
        if (open.remainingCharacters >= 0) open.lines.push({ text: line, at });
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

/** The value of the first line with this name. For dates only: a value with a colon would be cut. */
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

// A line end converted twice in text mode has an extra CR.
const fold = /(?:\r?\r?\n|\r)[ \t]/g;

/**
 * The lines of a file, unfolded first and decoded then: a writer that counts octets may fold inside a character (RFC 5545, 3.1).
 * Lines may end with CRLF, LF or CR; a byte order mark is skipped.
 */
function* unfoldedLines(file: Uint8Array): Generator<string> {
  // Latin-1 maps each octet to one character and back.
  const octets = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1').replaceAll(fold, '');
  const lines = Buffer.from(octets.replaceAll(/\r\n?/g, '\n'), 'latin1').toString();
  for (let from = lines.startsWith('\uFEFF') ? 1 : 0; from < lines.length;) {
    const end = lines.indexOf('\n', from);
    const to = end === -1 ? lines.length : end;
    yield lines.slice(from, to);
    from = to + 1;
  }
}

/** Maps unfolded line numbers to line numbers of the file, as an editor counts them. */
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
