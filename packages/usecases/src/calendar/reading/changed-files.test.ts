import { readFileSync } from 'node:fs';
import { assert as assertProperty, constantFrom, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { occurrencesBetween } from './occurrences.ts';

const isLong = process.env['LONG_FORM'] !== undefined;
/** Changes of each sample; `pnpm soak calendar-changes` makes 200. */
const changes = isLong ? 200 : 4;

const samplesOf = (name: string, wrap: (lines: string[]) => string[]) =>
  (
    JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')) as {
      name: string;
      ics: string[];
    }[]
  ).map(({ name: called, ics }): [string, string[]] => [called, wrap(ics)]);
const samples = [
  ...samplesOf('series', (lines) => lines),
  ...samplesOf('odd', (lines) => ['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR']),
];

const read = (file: Uint8Array, from: string, to: string) =>
  occurrencesBetween(file, { from: Date.parse(from), to: Date.parse(to) }, () => false);

/** First line, last line and content of each VEVENT of a file. */
function eventsOf(lines: string[]) {
  const begins = lines.flatMap((line, n) => (line.toUpperCase() === 'BEGIN:VEVENT' ? [n] : []));
  return begins.map((from, n) => {
    const to = begins[n + 1] ?? lines.length;
    return { title: `#${n}`, from, to, text: lines.slice(from, to).join('\n') };
  });
}

/** Whether a file withdraws an event itself, by a cancellation or a later revision. */
function isTakenBack(event: string, lines: string[]): boolean {
  const numberOf = (text: string) => Number(/^SEQUENCE:(\d+)/m.exec(text)?.[1] ?? 0);
  const uidOf = (text: string) => /^UID:(.*)/m.exec(text)?.[1];
  const isLater = ({ text }: { text: string }) => uidOf(text) === uidOf(event) && numberOf(text) > numberOf(event);
  return /^STATUS:CANCELLED/m.test(event) || lines.includes('METHOD:CANCEL') || eventsOf(lines).some(isLater);
}

it.each(samples)('%s: every event is shown, withdrawn by the file, or reported', (_name, lines) => {
  const events = eventsOf(lines);
  // Each title is the event’s place.
  let n = -1;
  const called = lines.flatMap((line) => {
    if (line === 'BEGIN:VEVENT') n += 1;
    return line.startsWith('SUMMARY') ? `SUMMARY:#${n}` : line;
  });
  const { occurrences, findings } = read(Buffer.from(called.join('\n')), '1970-01-01', '2031-01-01');
  const shown = new Set(occurrences.map(({ title }) => title));
  const lost = events.filter(
    ({ title, from, to, text }) =>
      !shown.has(title) && !findings.lines.some(({ line }) => line > from && line <= to) && !isTakenBack(text, lines),
  );
  expect(lost).toEqual([]);
  expect(n + 1).toBe(events.length);
});

/** Changes one byte or one line. */
const change = record({
  kind: constantFrom('byte', 'bit', 'drop', 'insert', 'line gone', 'line twice', 'lines swapped', 'cut', 'blank'),
  place: nat(1_000_000),
  byte: nat(255),
});

function changed(lines: string[], { kind, place, byte }: { kind: string; place: number; byte: number }): Buffer {
  const whole = [...lines];
  const at = place % whole.length;
  const [line = ''] = whole.slice(at, at + 1);
  if (kind === 'line gone') whole.splice(at, 1);
  if (kind === 'line twice') whole.splice(at, 0, line);
  if (kind === 'lines swapped') whole.splice(at, 2, whole[at + 1] ?? '', line);
  const bytes = Buffer.from(whole.join('\r\n'));
  const n = place % bytes.length;
  if (kind === 'byte') bytes[n] = byte;
  if (kind === 'bit') bytes[n] = (bytes[n] ?? 0) ^ (1 << (byte % 8));
  if (kind === 'cut') return bytes.subarray(0, n);
  if (kind === 'drop') return Buffer.concat([bytes.subarray(0, n), bytes.subarray(n + 1)]);
  const added = kind === 'insert' ? [byte] : kind === 'blank' ? [0x20] : [];
  return Buffer.concat([bytes.subarray(0, n), Buffer.from(added), bytes.subarray(n)]);
}

describe.each(samples)('%s, with something changed', (_name, lines) => {
  it('is read within a second, and is never lost completely without a finding', () => {
    const near = (file: Buffer) => read(file, '2026-01-01', '2030-01-01');
    const isShown = near(Buffer.from(lines.join('\r\n'))).occurrences.length > 0;
    const holds = (what: Parameters<typeof changed>[1]) => {
      const file = changed(lines, what);
      const before = process.cpuUsage();
      const { occurrences, findings, isWhole } = near(file);
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
      // A file that does not begin as a calendar is refused before it is read.
      const isRefused = !/^BEGIN:VCALENDAR\s/i.test(file.toString());
      const isReported = occurrences.length > 0 || findings.count > 0 || !isWhole || !isShown || isRefused;
      // A digit may have moved it to another year, a letter may have cancelled it, and all remaining occurrences may be excluded.
      const kept = Buffer.from(file.toString('latin1').replaceAll(/^EXDATE.*\r\n/gm, ''), 'latin1');
      const isElsewhere = () => read(kept, '0001-01-01', '9999-12-31').occurrences.length > 0;
      expect(isReported || file.includes('CANCEL') || isElsewhere(), file.toString()).toBe(true);
    };
    assertProperty(property(change, holds), { seed: 5545, numRuns: changes });
  });
});
