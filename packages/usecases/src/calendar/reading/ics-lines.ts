/** What holds for the events of one VCALENDAR. */
export interface IcsCalendar {
  /** Of the message; `CANCEL` takes back what it holds. */
  method: string;
  /** The VTIMEZONE of each name, as it is written. */
  zones: Map<string, string>;
}

/** A VEVENT: its lines that say when it is and how it is called, as the file has them, unfolded. */
export interface IcsEvent {
  uid: string;
  lines: string[];
  calendar: IcsCalendar;
}

/** Events of one source (reference, “Limits”). */
const mostEvents = 20_000;
/** Characters of one event or zone that are looked at; nobody writes as many, except to keep us busy. */
const mostCharacters = 128 * 1024;

// What an event has besides is none of ours, and mostly the larger part of a file.
const wanted = /^(?:UID|SUMMARY|LOCATION|DTSTART|DTEND|DURATION|RRULE|RDATE|EXDATE|RECURRENCE-ID|STATUS|SEQUENCE)[;:]/i;
const edge = /^(BEGIN|END):\s*([A-Z-]+)\s*$/i;

/**
 * Takes a file apart into its events without a look at their values, so that one that is broken spoils none of the others, and most
 * that are out of sight are never read. `isWhole` is false when there are more than are taken.
 */
export function readIcsLines(text: string): { events: IcsEvent[]; isWhole: boolean } {
  const events: IcsEvent[] = [];
  let calendar: IcsCalendar = { method: '', zones: new Map() };
  let component: { name: string; lines: string[]; depth: number; room: number } | null = null;
  for (const line of unfoldedLines(text)) {
    const [, which, named = ''] = edge.exec(line) ?? [];
    const name = named.toUpperCase();
    const begins = which?.toUpperCase() === 'BEGIN';
    if (component === null) {
      if (begins && (name === 'VEVENT' || name === 'VTIMEZONE'))
        component = { name, lines: [], depth: 0, room: mostCharacters };
      else if (begins && name === 'VCALENDAR') calendar = { method: '', zones: new Map() };
      else if (/^METHOD[;:]/i.test(line))
        calendar.method = line
          .slice(line.indexOf(':') + 1)
          .trim()
          .toUpperCase();
      continue;
    }
    const isOwn: boolean = component.depth === 0;
    const isLast: boolean = which !== undefined && !begins && isOwn;
    const isWanted = component.name === 'VTIMEZONE' || (isOwn && wanted.test(line));
    if (isWanted) component.room -= line.length;
    if (isWanted && component.room >= 0) component.lines.push(line);
    if (which !== undefined) component.depth += begins ? 1 : -1;
    if (!isLast) continue;
    if (component.name === 'VTIMEZONE') addZone(calendar, component.lines);
    else {
      if (events.length === mostEvents) return { events, isWhole: false };
      events.push({ uid: uidOf(component.lines) ?? `#${events.length}`, lines: component.lines, calendar });
    }
    component = null;
  }
  return { events, isWhole: true };
}

function uidOf(lines: readonly string[]): string | undefined {
  const [, uid] = lines.map((line) => /^UID(?:;[^:]*)?:(.+)$/i.exec(line)).find((found) => found !== null) ?? [];
  return uid?.replaceAll(/\\([\\,;])/g, '$1').trim();
}

/** What follows the name and parameters of the first line of this name: of a date, which has no colon in it. */
export function valueOf(lines: readonly string[], name: string): string | undefined {
  const found = lines.find(
    (line) => /[;:]/.test(line[name.length] ?? '') && line.slice(0, name.length).toUpperCase() === name,
  );
  return found?.slice(found.lastIndexOf(':') + 1).trim();
}

function addZone(calendar: IcsCalendar, lines: string[]): void {
  const named = lines.find((line) => /^TZID[;:]/i.test(line));
  const name = named?.slice(named.indexOf(':') + 1).trim();
  if (name !== undefined && !calendar.zones.has(name))
    calendar.zones.set(name, ['BEGIN:VTIMEZONE', ...lines].join('\r\n'));
}

function* unfoldedLines(text: string): Generator<string> {
  const unfolded = text.replaceAll(/\r?\n[ \t]/g, '');
  for (let from = 0; from < unfolded.length;) {
    const end = unfolded.indexOf('\n', from);
    const to = end === -1 ? unfolded.length : end;
    yield unfolded.slice(from, unfolded[to - 1] === '\r' ? to - 1 : to);
    from = to + 1;
  }
}
