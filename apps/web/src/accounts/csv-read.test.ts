import { describe, expect, it } from 'vitest';
import { csvLimits, decoded, parseCsv, readCsv, separatorOf } from './csv-read.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const cellsOf = (text: string) => {
  const read = parseCsv(text);
  return 'rows' in read ? read.rows.map(({ cells }) => cells) : read;
};

describe('decoded', () => {
  it('reads UTF-8 with and without a byte order mark', () => {
    expect(decoded(bytes('Käse'))).toBe('Käse');
    expect(decoded(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes('Käse')))).toBe('Käse');
  });

  it('falls back to Windows-1252, and reads UTF-16 with its mark', () => {
    expect(decoded(Uint8Array.of(0x4b, 0xe4, 0x73, 0x65, 0x80))).toBe('Käse€');
    expect(decoded(Uint8Array.of(0xff, 0xfe, 0x4b, 0x00, 0xe4, 0x00))).toBe('Kä');
    expect(decoded(Uint8Array.of(0xfe, 0xff, 0x00, 0x4b))).toBe('K');
    expect(decoded(new Uint8Array())).toBe('');
  });
});

describe('separatorOf', () => {
  it.each([
    ['a;b;c\n1,2,3,4,5', ';'],
    ['a,b;c,d', ','],
    ['a\tb', '\t'],
    ['"a,b,c";d;e', ';'],
    ['alone', ';'],
  ])('of %j is %j', (text, separator) => expect(separatorOf(text)).toBe(separator));
});

describe('parseCsv', () => {
  it('keeps separators, line breaks and doubled quotes in quotes', () => {
    expect(cellsOf('a;b\r\n"x;y";"one\r\ntwo"\r\n"say ""hi""";""\r\n')).toEqual([
      ['a', 'b'],
      ['x;y', 'one\r\ntwo'],
      ['say "hi"', ''],
    ]);
  });

  it('counts lines, also through cells with line breaks and blank rows', () => {
    const read = parseCsv('a;b\n"1\n2";x\n\n;\nlast;y');
    expect('rows' in read && read.rows.map(({ line }) => line)).toEqual([1, 2, 6]);
  });

  it('takes any line end, a missing last one, empty cells at the end and stray quotes', () => {
    expect(cellsOf('a,b\r1,\r\n2,3')).toEqual([
      ['a', 'b'],
      ['1', ''],
      ['2', '3'],
    ]);
    expect(cellsOf('5" pipe;"x"y')).toEqual([['5" pipe', 'xy']]);
  });

  it('obeys the line with the separator that Excel writes', () => {
    expect(cellsOf('sep=,\na,b;c')).toEqual([['a', 'b;c']]);
  });

  it('names the row whose quote stays open', () => {
    expect(parseCsv('a;b\nc;"d\ne')).toEqual({ problem: 'openQuote', line: 2 });
  });

  // In quadratic time, each would take longer than a test may.
  it('reads megabytes of quotes and separators', () => {
    expect(parseCsv('"'.repeat(2_000_001))).toEqual({ problem: 'openQuote', line: 1 });
    expect(parseCsv(';'.repeat(2_000_000))).toEqual({ rows: [] });
    expect(parseCsv('"a""'.repeat(500_000))).toHaveProperty('rows');
  });
});

describe('readCsv', () => {
  it('separates the header', () => {
    expect(readCsv(bytes(' Name ;Mail\nAnna;a@example.org'))).toEqual({
      header: ['Name', 'Mail'],
      rows: [{ line: 2, cells: ['Anna', 'a@example.org'] }],
    });
  });

  it('refuses what is empty, too large, too long or no text', () => {
    expect(readCsv(bytes(' \n'))).toEqual({ problem: 'empty' });
    expect(readCsv(new Uint8Array(csvLimits.bytes + 1))).toEqual({ problem: 'tooLarge' });
    expect(readCsv(bytes(`name\n${'x\n'.repeat(csvLimits.rows)}`))).toHaveProperty('rows');
    expect(readCsv(bytes(`name\n${'x\n'.repeat(csvLimits.rows + 1)}`))).toEqual({ problem: 'tooManyRows' });
    expect(readCsv(Uint8Array.of(0x50, 0x4b, 0x03, 0x00))).toEqual({ problem: 'notText' });
  });
});
