import { assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { centsOfNumber, formatAmount, parseAmount } from './amounts.ts';

const read = (text: string): string | number => {
  const amount = parseAmount(text);
  return 'fault' in amount ? amount.fault : amount.isAmbiguous ? `${amount.cents} ambiguous` : amount.cents;
};
const missing = 'AMOUNT_MISSING';
const invalid = 'AMOUNT_INVALID';
const precision = 'AMOUNT_PRECISION';

/** Spellings of each amount, separated by bars. */
const spellings: Record<string, string[]> = {
  123456: [
    "1234,56|1234.56|1.234,56|1'234,56|1’234,56|1 234,56|1\u00a0234,56|1\u202f234,56|1\u2009234,56",
    "1'234.56|1 234.56|+1234,56|+1.234,56| 1234,56 |\u00a01234,56\u202f|1234,56 €|€ 1234,56|€1.234,56",
    'EUR 1.234,56|1.234,56 EUR|1.234,56eur|01234,56|\t1234,56|1234,56 Eur',
  ],
  '-123456': [
    '-1234,56|-1.234,56|1.234,56-|1234,56 -|−1234,56|1234,56−|(1.234,56)|(1234,56) €|(1.234,56 €)',
    "€ -1234,56|-€1234,56|-1.234,56 €|- 1234,56|-1'234,56|1.234,56- €|EUR -1234,56",
  ],
  1250: ['12,5|12,50|12.5|12.50|012,5|12,5 €|+12,5|EUR12,50|12,50EUR|00012,50'],
  '-1250': ['-12,5|12,50-|(12,5)|-12.50|12.5-|(12.50)|- 12,5|-12,50 €'],
  1200: ['12|12,0|12,00|12.0|12.00|012|12 €|€12|+12'],
  '-1200': ['-12|12-|(12)|−12|(12,00)|-12 €'],
  0: ['0|0,00|0.00|-0|-0,00|(0)|0 €|00|0,0-'],
  1: ['0,01|0.01|00,01|0,01 €|+0,01'],
  '-1': ['-0,01|0,01-|(0,01)|−0,01'],
  123456700: ["1.234.567|1.234.567,00|1234567|1 234 567|1'234'567,00|1.234.567,0"],
  999999999: ['9999999,99|9.999.999,99'],
  '123400 ambiguous': ['1.234|+1.234|1.234 €'],
  '-123400 ambiguous': ['-1.234|1.234-|(1.234)'],
  '123456 ambiguous': ['1,234.56|€1,234.56'],
  '123456700 ambiguous': ['1,234,567.00|1,234,567.0'],
  [missing]: ['| |\t|\u00a0|\u202f'],
  [precision]: ['12,345|1,234|0,001|12.3456|1234.567|0.123|1.234,567|1,234.567|12,3456 €|-12,345'],
  [invalid]: [
    'abc|1,2,3|1.23.456,00|1.2.3|12,|,50|.50|12.|--12|-12-|(-12)|12,-|12 EUR EUR|€€12|1 23,45|12 34',
    '1.234 567|1 234.567,89|1e3|0x10|NaN|Infinity|12%|12,50 USD|$12|=12|1/2|12:30|１２|10.000.000,00',
    '99999999|1,234,567|01.234,56|0.123,45|99999999999999999999999999999999999999999|12;50|+-5|()|-',
  ],
};
const table = Object.entries(spellings).flatMap(([cents, texts]) =>
  texts.flatMap((text) => text.split('|')).map((text) => [text, cents] as const),
);

describe('an amount', () => {
  it('is tested in more than 150 spellings', () => expect(table.length).toBeGreaterThan(150));
  it.each(table)('%j is %s', (text, expected) => expect(String(read(text))).toBe(expected));

  it('is read as it was written', () => {
    assert(
      property(integer({ min: -999_999_999, max: 999_999_999 }), (cents) => {
        expect(read(formatAmount(cents))).toBe(cents);
        expect(read(formatAmount(cents).replace(/(\d)(?=(\d{3})+,)/g, '$1.'))).toBe(cents);
      }),
    );
  });
});

describe('a spreadsheet number', () => {
  it.each([
    [1.005, 101],
    [2.675, 268],
    [-12.345, -1235],
    [-2.5, -250],
    [0.1 + 0.2, 30],
    [1e-7, 0],
    [-1e-9, 0],
    [9_999_999.99, 999_999_999],
    [1_234.56, 123_456],
  ])('%d is %d cents', (value, cents) => expect(centsOfNumber(value)).toEqual({ cents, isAmbiguous: false }));

  it.each([Number.NaN, Infinity, 10_000_000, 1e21, -1e300])('%d is not an amount', (value) =>
    expect(centsOfNumber(value)).toEqual({ fault: invalid }),
  );

  it('is read back as the cents it was made of', () => {
    assert(
      property(integer({ min: -999_999_999, max: 999_999_999 }), (cents) => {
        expect(centsOfNumber(cents / 100)).toEqual({ cents, isAmbiguous: false });
      }),
    );
  });
});
