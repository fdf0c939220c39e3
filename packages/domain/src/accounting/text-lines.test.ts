import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { accountsCsv } from './account-list.ts';
import { canteenDefaults } from './canteen.ts';
import { extfFile } from './extf-file.ts';
import { merchandiseDefaults } from './merchandise.ts';
import { payrollFile } from './payroll-file.ts';
import { txtFile } from './txt-file.ts';

const breaks = ['\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029', '\u0000', '\u001a'];
const hostile = breaks.map((char, n) => ({ number: `${1_000 + n}`, name: `a${char}9999;b`, amountCents: 100 }));
const settings = { ...merchandiseDefaults, defaultContraAccount: '1460', beraternummer: '1001', mandantennummer: '1' };
const canteen = { ...canteenDefaults, beraternummer: '1001', mandantennummer: '1', lohnart: '9010' };
const people = breaks.map((char, n) => ({ personnelNumber: `${n}${char}9`, name: `a${char}b`, amountCents: 100 }));

const files: [name: string, text: string, linesBefore: number][] = [
  ['account list', accountsCsv(hostile), 1],
  ...[';', '\t', '|'].map((separator): [string, string, number] => [
    `TXT with ${JSON.stringify(separator)}`,
    txtFile(hostile, '2026-11', separator).text,
    1,
  ]),
  ['EXTF', extfFile(hostile, { period: '2026-11', settings, now: new Date(0) }).text, 2],
  ['LODAS', payrollFile({ ...canteen, target: 'lodas' }, '2026-11', people).text, 13],
  ['Lohn und Gehalt', payrollFile({ ...canteen, target: 'lohn-und-gehalt' }, '2026-11', people).text, 1],
];

it.each(files)('the %s has one line per account, even for names with line breaks', (_, text, linesBefore) => {
  const lines = text.split(/\r\n|[\r\n\v\f\u0085\u2028\u2029]/);
  expect([lines.length, lines.at(-1)]).toEqual([linesBefore + breaks.length + 1, '']);
  // oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\u0000-\u0008\u000a-\u001f]/);
});

it('no other file here writes line ends', () => {
  const endsLines = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .filter((name) => readFileSync(join(import.meta.dirname, name), 'utf8').includes('\\r\\n`'));
  expect(endsLines).toEqual(['text-lines.ts']);
});
