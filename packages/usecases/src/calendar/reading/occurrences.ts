import { writtenMoment } from '@portal/domain/calendar/content-lines';
import { DAY } from '@portal/domain/time';
import { type Findings, noteInto } from './findings.ts';
import { type IcsEvent, linesInFile, readIcsLines, valueOf } from './ics-lines.ts';
import { type Occurrence, occurrencesOf } from './series.ts';

/** Occurrences of one source in a window (reference, “Limits”). */
export const maxOccurrences = 2_000;

/**
 * The occurrences between two instants, sorted by start. `isWhole` is false if some are missing: those that begin last beyond the limit,
 * or those not reached in time, which `isLate` tells. `findings` lists the lines within the window that are not shown as written, and
 * every event whose time cannot be read.
 *
 * `ical.js` reads the zones that a file describes, `rrule-temporal` expands rules, and the rest is our own code. It gets all 134 series in
 * `fixtures/series.json` right; `node-ical` 0.27.2 got 33 of them wrong, and `ical.js` 2.2.1 with its own expansion 37 (109 in a process
 * whose zone is UTC). `node-ical` loses a second master of one UID, RDATE, and zones that only the file describes.
 */
export function occurrencesBetween(
  file: Uint8Array,
  { from, to }: { from: number; to: number },
  isLate: () => boolean,
): { occurrences: Occurrence[]; isWhole: boolean; isLate: boolean; findings: Findings } {
  const findings: Findings = { lines: [], count: 0 };
  const note = noteInto(findings);
  const read = readIcsLines(file, note);
  const groups = Map.groupBy(read.events, ({ uid }) => uid);
  let occurrences: Occurrence[] = [];
  let { isWhole } = read;
  let before = to;
  const cut = () => {
    occurrences = occurrences.toSorted(byStart);
    if (occurrences.length <= maxOccurrences) return;
    isWhole = false;
    occurrences.length = maxOccurrences;
    // From here on, only occurrences that begin earlier can be in the result.
    before = (occurrences.at(-1)?.start.at ?? 0) + 1;
  };
  for (const [uid, events] of groups) {
    if (isLate()) break;
    if (events.length === 1 && events.every((event) => isFarFrom(event, from, to))) continue;
    for (const one of occurrencesOf(uid, events, { from, to: before, max: maxOccurrences + 1, isLate, note }))
      occurrences.push(one);
    if (occurrences.length > 2 * maxOccurrences) cut();
  }
  cut();
  const wasLate = isLate();
  const places = linesInFile(
    file,
    findings.lines.map(({ line }) => line),
  );
  const lines = findings.lines.map((finding) => ({ ...finding, line: places.get(finding.line) ?? finding.line }));
  return {
    occurrences,
    isWhole: isWhole && !wasLate,
    isLate: wasLate,
    findings: { ...findings, lines: lines.toSorted((a, b) => a.line - b.line) },
  };
}

const byStart = (a: Occurrence, b: Occurrence): number =>
  a.start.at - b.start.at || Number(b.start.isDay) - Number(a.start.isDay) || (a.title < b.title ? -1 : 1);

/** Whether a single event is days away from the window, by its dates. False if a date cannot be read. */
function isFarFrom({ lines }: IcsEvent, from: number, to: number): boolean {
  if (lines.some(({ text }) => /^(?:RRULE|RDATE|DURATION|RECURRENCE-ID)/i.test(text))) return false;
  const wallOf = (name: string): number | undefined => {
    const value = valueOf(lines, name);
    return value === undefined ? undefined : (writtenMoment({ parameters: {} }, value)?.wall ?? Number.NaN);
  };
  const start = wallOf('DTSTART') ?? Number.NaN;
  const end = wallOf('DTEND') ?? start + DAY;
  return (start > to + 2 * DAY && !Number.isNaN(end)) || Math.max(start, end) < from - 2 * DAY;
}
