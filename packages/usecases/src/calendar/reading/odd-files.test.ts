import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DAY } from '@portal/domain/time';
import { shown } from './moment.ts';
import { occurrencesBetween } from './occurrences.ts';

/** Events as products write them in violation of the standard, and what they mean. */
interface Odd {
  name: string;
  /** Sections of RFC 5545 or of the standard named here. */
  by: string;
  ics: string[];
  occurrences: [start: string, end: string, title: string][];
  /** Findings about lines that are not shown as written. */
  lines?: [line: number, reason: string][];
}

const odd = JSON.parse(readFileSync(new URL('fixtures/odd.json', import.meta.url), 'utf8')) as Odd[];

const window = { from: Date.UTC(2026, 10), to: Date.UTC(2027, 9) };
const fileOf = (lines: string[]) => Buffer.from(['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR', ''].join('\r\n'));

it.each(odd.map((one) => [one.name, one] as const))('%s', (_name, { ics, occurrences, lines = [] }) => {
  const read = occurrencesBetween(fileOf(ics), window, () => false);
  expect(read.occurrences.map(({ start, end, title }) => [shown(start), shown(end), title])).toEqual(occurrences);
  expect(read.findings.lines.map(({ line, reason }) => [line, reason])).toEqual(lines);
  expect([read.findings.count, read.isWhole]).toEqual([lines.length, true]);
});

it.each(odd.map((one) => [one.name, one] as const))('%s: also with one window per day', (_name, { ics }) => {
  const found = (from: number, to: number) =>
    occurrencesBetween(fileOf(ics), { from, to }, () => false).occurrences.map(({ start, end, title }) =>
      [shown(start), shown(end), title].join(' '),
    );
  const byDay = new Set<string>();
  for (let day = window.from; day < window.to; day += DAY) for (const one of found(day, day + DAY)) byDay.add(one);
  expect([...byDay].toSorted()).toEqual(found(window.from, window.to).toSorted());
});

it('reports the first hundred lines by their line number in the file, also with folded lines, and counts all', () => {
  const events = Array.from({ length: 150 }, (_, n) => [
    'BEGIN:VEVENT',
    `UID:${n}`,
    'DTST',
    ' ART:never',
    'END:VEVENT',
  ]);
  const { lines, count } = occurrencesBetween(fileOf(events.flat()), window, () => false).findings;
  expect([lines.length, count, lines[0]?.line, lines.at(-1)?.line]).toEqual([100, 150, 4, 499]);
});
