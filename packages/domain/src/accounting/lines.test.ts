import { describe, expect, it } from 'vitest';
import { findCanteenColumns, readCanteenLines } from './canteen-lines.ts';
import type { CanteenRow } from './canteen.ts';
import { findMonth, parseDay } from './month.ts';
import { isTotal } from './names.ts';
import { sameLines } from './same-lines.ts';
import { neutralized, restored } from './spreadsheet-text.ts';
import { fitsWindows1252 } from './windows-1252.ts';

function read(header: string[], lines: string[][]) {
  const columns = findCanteenColumns(header);
  if (!columns) throw new Error('no header');
  const rows: CanteenRow[] = [];
  const reading = readCanteenLines(columns, { headerLine: 1, maxLines: 100, month: '2026-11' }, (row) =>
    rows.push(row),
  );
  for (const [index, line] of lines.entries()) reading.take(index + 2, line);
  return { rows, reading, codes: reading.errors.map(({ code }) => code) };
}

describe('a line of a canteen’s list', () => {
  const header = ['Pers.-Nr.', 'Nachname', 'Vorname', 'Buchungsdatum', 'Betrag (€)'];
  it.each([
    [['101', 'A', 'B', '02.11.2026'], 'COLUMN_COUNT'],
    [['', 'A', 'B', '', '1'], 'PERSONNEL_MISSING'],
    [['0', 'A', 'B', '', '1'], 'PERSONNEL_INVALID'],
    [['123456', 'A', 'B', '', '1'], 'PERSONNEL_INVALID'],
    [['=1', 'A', 'B', '', '1'], 'PERSONNEL_INVALID'],
    [['101', 'A', 'B', '', ''], 'AMOUNT_MISSING'],
    [['101', 'A', 'B', '', 'x'], 'AMOUNT_INVALID'],
    [['101', 'A', 'B', '', '1,234'], 'AMOUNT_PRECISION'],
    [['101', 'A', 'B', '31.11.2026', '1'], 'DATE_INVALID'],
  ])('%j is %s', (line, code) => expect(read(header, [line]).codes).toEqual([code]));

  it.each([
    [['101', 'A', 'B', '', '0'], 'AMOUNT_ZERO'],
    [['101', 'A', 'B', '', '1-'], 'AMOUNT_NEGATIVE'],
    [['101', 'A', 'B', '', '1.234'], 'AMOUNT_AMBIGUOUS'],
    [['101', 'A', 'B', '01.12.2026', '1'], 'DATE_OUTSIDE_PERIOD'],
    [['101', 'Ł', 'B', '', '1'], 'NAME_UNMAPPABLE'],
    [['101', '\ufffd', 'B', '', '1'], 'NAME_UNMAPPABLE'],
    [['00102', 'C', 'D', '', '2'], 'DUPLICATE_ROW'],
    [['102', 'X', 'D', '', '3'], 'NAME_CONFLICT'],
  ])('%j has the warning %s', (line, code) => {
    const { rows, reading } = read(header, [['00102', 'C', 'D', '', '2'], line]);
    expect([reading.hasErrors, rows[1]?.warnings]).toEqual([false, [code]]);
  });

  it('gets a warning if it is a total or has a badge number', () => {
    expect(read(['Ausweisnummer', 'Summe'], [['Gesamt:', '5']]).reading.warnings.map(({ code }) => code)).toEqual([
      'BADGE_NUMBER',
      'TOTAL_LEFT_OUT',
    ]);
  });

  it('combines first name and surname', () => {
    expect(read(header, [['101', 'Müller', ' Käthe ', '', '1']]).rows[0]?.name).toBe('Käthe Müller');
  });
});

it('two lines are the same only if each cell is the same', () => {
  const isSame = sameLines(10_000);
  const lines = Array.from({ length: 10_000 }, (_, n) => [`${n % 100}`, `Name ${n % 7}`, `${n}`]);
  expect(lines.filter((line) => isSame(line))).toEqual([]);
  expect(lines.every((line) => isSame(line))).toBe(true);
  // A full table stores no more lines, and the search still ends.
  const full = sameLines(1);
  expect([['a'], ['b'], ['b'], ['a']].map((line) => full(line))).toEqual([false, false, false, true]);
  const cut = sameLines(10);
  expect([['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', '']].map((line) => cut(line))).toEqual(Array(4).fill(false));
});

it.each([
  ['02.11.2026', '2026-11-02'],
  ['2.11.26', '2026-11-02'],
  ['2026-11-02 12:30', '2026-11-02'],
  ['29.02.2028', '2028-02-29'],
  ['29.02.2026', null],
  ['31.04.2026', null],
  ['11/2026', null],
  ['46174', null],
])('the day of %j is %j', (text, day) => expect(parseDay(text)).toBe(day));

it.each([
  ['November 2026', '2026-11'],
  ['Umsatz 11/2026', '2026-11'],
  ['11.2026', '2026-11'],
  ['01.11.2026', '2026-11'],
  ['2026-11', '2026-11'],
  ['Jänner 2027', '2027-01'],
  ['MÄRZ 2026', '2026-03'],
  ['Mai 2026', '2026-05'],
  ['Juni/Juli 2026', '2026-07'],
  ['Oktober 2026 bis November 2026', null],
  ['13/2026', null],
  ['Umsatz', null],
  ['', null],
])('the month of %j is %j', (text, month) => expect(findMonth(text)).toBe(month));

it.each(['Summe', 'SUMME:', 'Gesamtsumme', ' Total ', 'S u m m e', 'Zwischensumme'])('%j is a total', (cell) =>
  expect(isTotal(cell)).toBe(true),
);
it.each(['', '101', 'Summer', 'Totalverlust', 'Tassen'])('%j is not a total', (cell) =>
  expect(isTotal(cell)).toBe(false),
);

it('an import removes the apostrophe that an export added', () => {
  for (const name of ['=1', "'=1", "''@x", "O'Neil", "'quoted'", '-5', '+x', 'T-Shirt', '＝1', "'", "''"]) {
    expect(restored(neutralized(name))).toBe(name);
    expect(neutralized(name)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
  }
});

it('exactly the printable characters of Windows-1252 fit', () => {
  const decoder = new TextDecoder('windows-1252');
  const all = Array.from({ length: 256 }, (_, byte) => decoder.decode(Uint8Array.of(byte)));
  const printable = all.filter((letter) => !/\p{Cc}/u.test(letter));
  expect(printable.filter((letter) => !fitsWindows1252(letter))).toEqual([]);
  expect(['Ł', 'Č', '中', '\u0081', '\ufffd', '😀'].filter((letter) => fitsWindows1252(letter))).toEqual([]);
});
