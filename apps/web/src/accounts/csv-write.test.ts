import { describe, expect, it } from 'vitest';
import { parseCsv } from './csv-read.ts';
import { csvText, withoutMark } from './csv-write.ts';

const written = (value: string) => csvText([[value]], ';').slice(1, -2);

describe('csvText', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+49', "'+49"],
    ['-2', "'-2"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1', "  '=1"],
    ['\t=1', "' =1"],
    ['\tx', "' x"],
    ['＝1', "'＝1"],
    ['a;=1', `"a;'=1"`],
    ['a,@b', `"a,'@b"`],
    ['a=b', 'a=b'],
    ['anna-marie@example.org', 'anna-marie@example.org'],
    ['one\r\ntwo\u2028three', 'one two three'],
    ['say "hi"', '"say ""hi"""'],
  ])('writes %j as %j', (value, text) => expect(written(value)).toBe(text));

  it('begins with a mark, ends each row, and is read as it was written', () => {
    const rows = [
      ['name', 'note'],
      ['Müller; "Hans"', ''],
      ['=x', 'y'],
    ];
    const text = csvText(
      [
        ['name', 'note'],
        ['Müller; "Hans"', null],
        ['=x', 'y'],
      ],
      ',',
    );
    expect(text.startsWith('\uFEFF')).toBe(true);
    expect(text.endsWith('\r\n')).toBe(true);
    const read = parseCsv(text.slice(1));
    expect('rows' in read && read.rows.map(({ cells }) => cells.map(withoutMark))).toEqual(rows);
  });
});
