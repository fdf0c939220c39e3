import { describe, expect, it } from 'vitest';
import { workbook } from '@portal/testing/workbook';
import { testApp } from '../../testing/app.ts';

const { make, request, logLines } = await testApp();
const admin = await make.user({ role: 'ADMIN' });

function form(parts: Record<string, string | Buffer>, boundary = 'x') {
  const chunks = Object.entries(parts).flatMap(([name, value]) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${name === 'file' ? '; filename="a"' : ''}\r\n\r\n`,
    value,
    '\r\n',
  ]);
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    payload: Buffer.concat([...chunks, `--${boundary}--\r\n`].map((one) => Buffer.from(one))),
  };
}
const post = (url: string, parts: Record<string, string | Buffer>, as = admin) =>
  request({ method: 'POST', url: `/accounting${url}`, as, ...form(parts) });
const put = (url: string, payload: object, as = admin) =>
  request({ method: 'PUT', url: `/accounting${url}`, as, payload });
const codeOf = async (answer: ReturnType<typeof post>) => {
  const { statusCode, json } = await answer;
  return `${statusCode} ${json<{ code: string }>().code}`;
};
const numbers = { beraternummer: '1234567', mandantennummer: '12345', lohnart: '9010' };

describe('canteen billing', () => {
  const list =
    'Personalnummer;Name;Betrag\r\n00101;Käthe;50,00\r\n102;Bob;7,90\r\n101;Käthe;1,40-\r\n103;Eve;0\r\nSumme;;56,50\r\n';

  it('starts with nothing set, and exports once it is', async () => {
    const as = await make.user({ role: 'ADMIN' });
    expect((await request({ url: '/accounting/canteen/settings', as })).json()).toEqual({
      beraternummer: '',
      mandantennummer: '',
      lohnart: '',
      target: 'lodas',
      sign: 'minus',
    });
    const parts = { file: Buffer.from(list, 'latin1'), month: '2026-11' };
    const refused = await post('/canteen/export', parts, as);
    expect(refused.json()).toMatchObject({
      statusCode: 409,
      code: 'SETTINGS_INCOMPLETE',
      details: [{ path: 'beraternummer' }, {}, {}],
    });
    expect((await put('/canteen/settings', numbers, as)).statusCode).toBe(200);
    const { rawPayload, headers } = await post('/canteen/export', parts, as);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=windows-1252',
      'content-disposition': expect.stringMatching(/^attachment; filename="?LODAS_1234567_12345_2026_11.txt"?$/),
    });
    // The frame and its keys are those of the reference, section 1.1; the rows are 1.2 with the sums of the list above.
    expect(rawPayload.toString('latin1').split('\r\n')).toEqual([
      '[Allgemein]',
      'Ziel=LODAS',
      'Version_SST=1.0',
      'BeraterNr=1234567',
      'MandantenNr=12345',
      'Datumsformat=TT.MM.JJJJ',
      'Feldtrennzeichen=;',
      'Zahlenkomma=,',
      '',
      '[Satzbeschreibung]',
      '1;u_lod_bwd_buchung_standard;abrechnung_zeitraum#bwd;pnr#bwd;la_eigene#bwd;bs_nr#bwd;bs_wert_butab#bwd;',
      '',
      '[Bewegungsdaten]',
      '1;01.11.2026;101;9010;3;-48,60;',
      '1;01.11.2026;102;9010;3;-7,90;',
      '',
    ]);
    // Reference, section 1.3.
    await put('/canteen/settings', { ...numbers, target: 'lohn-und-gehalt' }, as);
    expect((await post('/canteen/export', parts, as)).body).toBe(
      '1234567;12345;11/2026\r\n101;;;9010;;;-48,60;;;;\r\n102;;;9010;;;-7,90;;;;\r\n',
    );
    expect(JSON.stringify(logLines)).not.toContain('Käthe');
  });

  it('shows what it read', async () => {
    const { json } = await post('/canteen/preview', { file: Buffer.from(list, 'latin1'), month: '2026-11' });
    expect(json()).toMatchObject({
      encoding: 'windows-1252',
      rows: [
        { row: 2, personnelNumber: '101', name: 'Käthe', amountCents: 5000, warnings: [] },
        { row: 3, amountCents: 790 },
        { row: 4, amountCents: -140, warnings: ['AMOUNT_NEGATIVE'] },
        { row: 5, amountCents: 0, warnings: ['AMOUNT_ZERO'] },
      ],
      totals: { rows: 4, people: 3, amountCents: 5650 },
      errors: [],
      warnings: [
        { row: 6, code: 'TOTAL_LEFT_OUT' },
        { row: 5, code: 'SUM_ZERO' },
      ],
    });
  });

  it('counts the line a record starts on, quotes or not', async () => {
    const file = 'Pers.-Nr.,Name,"Betrag (€)"\n1,"A\r\nB","1,00"\n\n2,C,"x"\n';
    const { rows, errors } = (await post('/canteen/preview', { file, month: '2026-11' })).json<{
      rows: { row: number }[];
      errors: object[];
    }>();
    expect(rows.map(({ row }) => row)).toEqual([2, 5]);
    expect(errors).toMatchObject([{ row: 5, column: 'Betrag (€)', code: 'AMOUNT_INVALID' }]);
  });

  it.each([
    ['UTF-16', Buffer.from('\ufeffPNR;Betrag\n1;2', 'utf16le'), 'ENCODING_UNSUPPORTED'],
    ['NUL', 'PNR;Betrag\n1;2\0', 'ENCODING_UNSUPPORTED'],
    ['no header', '1;2\n3;4\n', 'HEADER_MISSING'],
    ['unclosed quotes', 'PNR;Betrag\n1;"2\n3;4\n', 'FILE_UNREADABLE'],
    ['one endless line', `PNR;Betrag\n1;${'x;'.repeat(4_000_000)}`, 'FILE_UNREADABLE'],
    ['too many rows', `PNR;Betrag\n${'1;1\n'.repeat(100_001)}`, 'TOO_MANY_ROWS'],
    ['a faulty row', 'PNR;Betrag\n=1+1;2,00\n', 'ROW_ERRORS'],
    ['a negative sum', 'PNR;Betrag\n1;-2,00\n', 'SUM_NEGATIVE'],
    ['nothing left', 'PNR;Betrag\n1;2,00\n1;-2,00\n', 'NOTHING_TO_EXPORT'],
  ])('refuses %s', { timeout: 30_000 }, async (_what, file, code) => {
    expect(await codeOf(post('/canteen/export', { file, month: '2026-11' }))).toBe(`400 ${code}`);
  });
});

describe('the merchandise export', () => {
  const list = workbook([
    ['Artikel', 'November 2026'],
    ['T-Shirts', 1000],
    ['=cmd', '-12,50'],
    ['t-shirts', '234,56'],
    ['Summe', 1222.06],
  ]);
  const assignments = JSON.stringify([
    { name: 'T-Shirts', number: '8400' },
    { name: '=CMD', number: '8401' },
  ]);

  it('stores new accounts with the file, once', async () => {
    const as = await make.user({ role: 'ADMIN' });
    const preview = (await post('/merchandise/preview', { file: list }, as)).json();
    expect(preview).toMatchObject({
      header: { text: 'November 2026', period: '2026-11' },
      rows: [{ row: 2, name: 'T-Shirts', amountCents: 100000, accountNumber: null, isNew: true }, {}, {}],
      errors: [],
      warnings: [],
      accountsVersion: 0,
    });
    expect(await codeOf(post('/merchandise/export', { file: list, accountsVersion: '0' }, as))).toBe('400 ROW_ERRORS');
    const order = { file: list, accountsVersion: '0', assignments };
    const both = await Promise.all([post('/merchandise/export', order, as), post('/merchandise/export', order, as)]);
    expect(both.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409]);
    expect(both.find(({ statusCode }) => statusCode === 200)?.body).toBe(
      "Konto;Bezeichnung;Betrag;Zeitraum\r\n8400;T-Shirts;1234,56;11/2026\r\n8401;'=cmd;-12,50;11/2026\r\n",
    );
    expect(both.find(({ statusCode }) => statusCode === 409)?.json()).toMatchObject({
      code: 'ACCOUNTS_STALE',
      details: [{ path: 'accountsVersion' }, { path: 'accounts.8400', code: 'ADDED' }, { path: 'accounts.8401' }],
    });
    const listed = await request({ url: '/accounting/merchandise/accounts', as });
    expect([listed.headers['x-list-version'], listed.json<object[]>().length]).toEqual(['1', 2]);

    const exported = await request({ url: '/accounting/merchandise/accounts/export', as });
    expect(exported.body).toBe("\ufeffKonto;Name\r\n8400;T-Shirts\r\n8401;'=cmd\r\n");
    const again = await post('/merchandise/accounts/import', { file: exported.rawPayload }, as);
    expect(again.json()).toEqual({ added: 0, changed: 0, removed: 0 });
    const swapped = 'Konto;Name\n8400;=cmd\n8401;T-Shirts\n8500;Neu\n';
    expect((await post('/merchandise/accounts/import?dryRun=true', { file: swapped }, as)).json()).toEqual({
      added: 1,
      changed: 2,
      removed: 0,
    });
    expect((await post('/merchandise/accounts/import', { file: swapped }, as)).json()).toEqual({
      added: 1,
      changed: 2,
      removed: 0,
    });
    expect(await codeOf(post('/merchandise/accounts/import', { file: 'Konto;Name\n1;a\n2;A\n' }, as))).toBe(
      '400 ROW_ERRORS',
    );
    expect((await request({ url: '/accounting/merchandise/accounts', as })).json()).toHaveLength(3);
  });

  it('writes a Buchungsstapel of 31 and 125 fields', async () => {
    const as = await make.user({ role: 'ADMIN' });
    const extf = { format: 'extf', defaultContraAccount: '1460', beraternummer: '1001', mandantennummer: '456' };
    expect((await put('/merchandise/settings', extf, as)).statusCode).toBe(200);
    const { body } = await post('/merchandise/export', { file: list, accountsVersion: '0', assignments }, as);
    const [head = '', names = '', first = '', second = ''] = body.split('\r\n');
    expect(head.replace(/;\d{17};/, ';CREATED;')).toBe(
      '"EXTF";700;21;"Buchungsstapel";13;CREATED;;"RE";"";"";1001;456;20260101;4;20261101;20261130;"Merchandise 11/2026";"";1;0;0;"EUR";;"";;;"";;;"";""',
    );
    expect([head, names, first].map((line) => line.split(';').length)).toEqual([31, 125, 125]);
    expect(first).toMatch(/^1234,56;"H";"EUR";;;"";8400;1460;"";3011;"MERCH1126";"";;"T-Shirts 11\/2026";/);
    expect(second).toMatch(/^12,50;"S";/);
  });

  it.each([
    ['text', Buffer.from('Artikel;1')],
    ['a ZIP of something else', Buffer.from('504b0506000000000000000000000000000000000000', 'hex')],
  ])('refuses %s', async (_what, file) => {
    expect(await codeOf(post('/merchandise/preview', { file }))).toBe('400 FILE_UNREADABLE');
  });

  it('wants to know the month where B1 names none', async () => {
    const file = workbook([
      ['Artikel', 'Umsatz'],
      ['T-Shirts', 1],
    ]);
    const order = { file, accountsVersion: '0', assignments };
    expect(await codeOf(post('/merchandise/export', order))).toBe('400 PERIOD_REQUIRED');
    expect((await post('/merchandise/export', { ...order, period: '2026-10' })).body).toContain(
      '8400;T-Shirts;1,00;10/2026',
    );
  });
});
