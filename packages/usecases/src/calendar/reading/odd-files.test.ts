import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { shown } from './moment.ts';
import { occurrencesBetween } from './occurrences.ts';

/** Events as products write them against the standard, and what they mean by it. */
interface Odd {
  name: string;
  /** Paragraphs of RFC 5545, or of the standard that is named. */
  by: string;
  ics: string[];
  occurrences: [start: string, end: string, title: string][];
}

const odd = JSON.parse(readFileSync(new URL('fixtures/odd.json', import.meta.url), 'utf8')) as Odd[];

const window = { from: Date.UTC(2026, 10), to: Date.UTC(2027, 9) };
const fileOf = (lines: string[]) => Buffer.from(['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR', ''].join('\r\n'));

it.each(odd.map((one) => [one.name, one] as const))('%s', (_name, { ics, occurrences }) => {
  const read = occurrencesBetween(fileOf(ics), window, () => false);
  expect(read.isWhole).toBe(true);
  expect(read.occurrences.map(({ start, end, title }) => [shown(start), shown(end), title])).toEqual(occurrences);
});
