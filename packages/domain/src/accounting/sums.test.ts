import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { expect, it } from 'vitest';
import { formatAmount, parseAmount } from './amounts.ts';
import { exportCanteen } from './canteen-export.ts';
import { findCanteenColumns, readCanteenLines } from './canteen-lines.ts';
import { CanteenSettings } from './canteen.ts';
import { exportMerchandise } from './merchandise-export.ts';
import { readMerchandiseLines } from './merchandise-lines.ts';
import { MerchandiseSettings } from './merchandise.ts';

const cents = integer({ min: -9_999_999, max: 9_999_999 });
const centsIn = (text: string): number => {
  const amount = parseAmount(text);
  if ('fault' in amount) throw new Error(text);
  return amount.cents;
};
const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);
/** Sums by number, without zero sums. */
function sumsOf(lines: readonly { account: number; amount: number }[]): Record<string, number> {
  const sums = new Map<number, number>();
  for (const { account, amount } of lines) sums.set(account, (sums.get(account) ?? 0) + amount);
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0));
}

it('a payroll file contains the exact sums of its list', () => {
  const line = record({ account: integer({ min: 1, max: 20 }), amount: cents });
  assert(
    property(
      array(line, { minLength: 1, maxLength: 60 }),
      constantFrom('lodas', 'lohn-und-gehalt'),
      constantFrom('minus', 'plus'),
      (lines, target, sign) => {
        const columns = findCanteenColumns(['PNR', 'Betrag']);
        if (!columns) throw new Error('no columns');
        const shown: (number | null)[] = [];
        const reading = readCanteenLines(columns, { headerLine: 1, maxLines: 100, month: '2026-11' }, (row) =>
          shown.push(row.amountCents),
        );
        for (const [index, { account, amount }] of lines.entries())
          reading.take(index + 2, [`${account}`, formatAmount(amount)]);
        expect(shown).toEqual(lines.map(({ amount }) => amount));
        const expected = sumsOf(lines);
        if (Object.keys(expected).length === 0) return;
        const settings = CanteenSettings.parse({
          beraternummer: '1234567',
          mandantennummer: '1',
          lohnart: '9010',
          target,
          sign,
        });
        const { text } = exportCanteen(reading, { settings, month: '2026-11', allowNegative: true });
        const [number, amount] = target === 'lodas' ? [2, 5] : [0, 6];
        const rows = text.split('\r\n').filter((row) => row.split(';')[3] === '9010');
        const found = rows.map((row) => row.split(';'));
        expect(
          Object.fromEntries(
            found.map((cells) => [cells[number] ?? '', (sign === 'minus' ? -1 : 1) * centsIn(cells[amount] ?? '')]),
          ),
        ).toEqual(expected);
        expect(found.map((cells) => Number(cells[number]))).toEqual(
          Object.keys(expected)
            .map(Number)
            .toSorted((a, b) => a - b),
        );
      },
    ),
  );
});

it('a bookkeeping file contains the exact sums of its list', () => {
  const accounts = Array.from({ length: 12 }, (_, n) => ({ number: `${8_400 + n}`, name: `Artikel ${n}` }));
  const line = record({
    account: integer({ min: 8_400, max: 8_411 }),
    amount: cents,
    isText: constantFrom(true, false),
  });
  assert(
    property(array(line, { minLength: 1, maxLength: 60 }), constantFrom('txt', 'extf'), (lines, format) => {
      const cells = lines.map(
        ({ account, amount, isText }) =>
          [`Artikel ${account - 8_400}`, isText ? formatAmount(amount) : amount / 100] as const,
      );
      const reading = readMerchandiseLines(
        {
          cellsOf: (row) => (row === 1 ? ['Artikel', '11/2026'] : (cells[row - 2] ?? [undefined, undefined])),
          rowCount: cells.length + 1,
        },
        accounts,
        { maxRows: 100, lastRow: 100, tooMany: () => expect.fail('too many') },
      );
      expect(total(reading.rows.map(({ amountCents }) => amountCents ?? 0))).toBe(
        total(lines.map(({ amount }) => amount)),
      );
      const expected = sumsOf(lines);
      if (Object.keys(expected).length === 0) return;
      const settings = MerchandiseSettings.parse({
        format,
        defaultContraAccount: '1460',
        beraternummer: '1001',
        mandantennummer: '1',
      });
      const input = { accounts, assignments: [], settings, period: null, now: new Date() };
      const { text } = exportMerchandise(reading, input);
      const rows = text.split('\r\n').slice(format === 'txt' ? 1 : 2, -1);
      const found = rows.map((row) => row.split(';'));
      const sums =
        format === 'txt'
          ? found.map(([number = '', , amount = '']) => [number, centsIn(amount)])
          : found.map(([amount = '', mark, , , , , number = '']) => [
              number,
              centsIn(amount) * (mark === '"S"' ? -1 : 1),
            ]);
      expect(Object.fromEntries(sums)).toEqual(expected);
    }),
  );
});
