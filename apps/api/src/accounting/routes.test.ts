import { describe, expect, it } from 'vitest';
import { accountingSample } from '@portal/testing/accounting-samples';
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

  it('starts without settings, and exports once they are set', async () => {
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
    // The frame and its keys are those of an LODAS file; the rows carry the sums of the list above.
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

  it('previews the rows, totals and warnings', async () => {
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

  it('reports the line a record starts on, with or without quotes', async () => {
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
    ['only zero sums', 'PNR;Betrag\n1;2,00\n1;-2,00\n', 'NOTHING_TO_EXPORT'],
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
    const parts = { file: list, accountsVersion: '0', assignments };
    const both = await Promise.all([post('/merchandise/export', parts, as), post('/merchandise/export', parts, as)]);
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
    const broken = await post('/merchandise/accounts/import', { file: 'Konto;Name\n1;a\n2;"b\nc"\n3;d\u0007\n' }, as);
    expect([broken.statusCode, broken.json()]).toMatchObject([
      400,
      {
        code: 'ROW_ERRORS',
        details: [
          { path: 'rows.3.Name', code: 'NAME_INVALID' },
          { path: 'rows.5.Name', code: 'NAME_INVALID' },
        ],
      },
    ]);
    expect(await codeOf(post('/merchandise/accounts/import', { file: 'Konto;Name\n1;a\n2;A\n' }, as))).toBe(
      '400 ROW_ERRORS',
    );
    expect((await request({ url: '/accounting/merchandise/accounts', as })).json()).toHaveLength(3);
  });

  it('writes a Buchungsstapel with 31 header fields and 125 columns', async () => {
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

  it('accepts any day that exists every year as the start of a fiscal year', async () => {
    const set = async (fiscalYearStart: string) => (await put('/merchandise/settings', { fiscalYearStart })).statusCode;
    for (const day of ['07-01', '12-31', '02-28', ' 01-01 ']) expect([day, await set(day)]).toEqual([day, 200]);
    for (const day of ['02-29', '13-01', '00-10', '04-31', '1-1', '', 'x', '07-01\n1'])
      expect([day, await set(day)]).toEqual([day, 400]);
  });

  it('requires the month if B1 names none', async () => {
    const file = workbook([
      ['Artikel', 'Umsatz'],
      ['T-Shirts', 1],
    ]);
    const parts = { file, accountsVersion: '0', assignments };
    expect(await codeOf(post('/merchandise/export', parts))).toBe('400 PERIOD_REQUIRED');
    expect((await post('/merchandise/export', { ...parts, period: '2026-10' })).body).toContain(
      '8400;T-Shirts;1,00;10/2026',
    );
  });
});

describe('access to settings', () => {
  it('needs MANAGE for the canteen and an administrator for merchandise, while the module is on', async () => {
    const boss = await make.user({ role: 'ADMIN' });
    const user = await make.user({ tenantId: boss.tenantId });
    const grant = async (moduleKey: string, level: string) => {
      const payload = { subjectType: 'user', subjectId: user.id, moduleKey, level };
      return (await request({ method: 'PUT', url: '/module-grants', as: boss, payload })).statusCode;
    };
    for (const key of ['canteen-billing', 'merchandise-export']) expect(await grant(key, 'MANAGE')).toBeLessThan(300);
    expect((await put('/canteen/settings', numbers, user)).statusCode).toBe(200);
    expect((await put('/merchandise/settings', {}, user)).json()).toMatchObject({ statusCode: 403 });
    expect((await put('/merchandise/settings', {}, boss)).statusCode).toBe(200);
    expect((await request({ url: '/accounting/merchandise/settings', as: user })).statusCode).toBe(200);
    expect((await post('/merchandise/accounts', {}, user)).statusCode).toBe(415);
    expect(await grant('merchandise-export', 'USE')).toBeLessThan(300);
    expect((await post('/merchandise/accounts/import', { file: 'Konto;Name\n' }, user)).json()).toMatchObject({
      code: 'MANAGE_REQUIRED',
    });
    await request({ method: 'PATCH', url: '/modules/merchandise-export', as: boss, payload: { enabled: false } });
    expect((await put('/merchandise/settings', {}, boss)).json()).toMatchObject({ code: 'MODULE_DISABLED' });
  });
});

describe('files of a real spreadsheet program', () => {
  it.each([
    ['canteen.utf-8.csv', 'utf-8'],
    ['canteen.windows-1252.csv', 'windows-1252'],
    ['canteen.tab.csv', 'utf-8'],
  ])('%s is read', async (name, encoding) => {
    const file = accountingSample(name);
    expect((await post('/canteen/preview', { file, month: '2026-11' })).json()).toEqual({
      encoding,
      rows: [
        { row: 2, personnelNumber: '101', name: 'Käthe Müller', amountCents: 450, warnings: [] },
        { row: 3, personnelNumber: '102', name: 'Jörg "Joe" O;Neil', amountCents: 123456, warnings: [] },
        { row: 4, personnelNumber: '101', name: 'Käthe Müller', amountCents: -50, warnings: ['AMOUNT_NEGATIVE'] },
      ],
      totals: {
        rows: 3,
        people: 2,
        amountCents: 123856,
        byPerson: [
          { personnelNumber: '101', name: 'Käthe Müller', amountCents: 400 },
          { personnelNumber: '102', name: 'Jörg "Joe" O;Neil', amountCents: 123456 },
        ],
      },
      errors: [],
      warnings: [expect.objectContaining({ row: 5, code: 'TOTAL_LEFT_OUT' })],
    });
  });

  it('a UTF-16 file is refused with a message that names UTF-16', async () => {
    const { json } = await post('/canteen/preview', { file: accountingSample('canteen.utf-16.csv'), month: '2026-11' });
    expect(json()).toMatchObject({ code: 'ENCODING_UNSUPPORTED', message: expect.stringContaining('UTF-16') });
  });

  it('a workbook is read to the cent, including formulas and the total', async () => {
    const as = await make.user({ role: 'ADMIN' });
    const file = accountingSample('merchandise.xlsx');
    await request({
      method: 'POST',
      url: '/accounting/merchandise/accounts',
      as,
      payload: { number: '8400', name: 'Bücher' },
    });
    expect((await post('/merchandise/preview', { file }, as)).json()).toMatchObject({
      header: { text: '11/2026', period: '2026-11' },
      rows: [
        { row: 2, name: 'T-Shirts', amountCents: 123456, accountNumber: null, isNew: true },
        { row: 3, name: 'Tassen', amountCents: -1250 },
        { row: 4, name: 'Käse „Alt“', amountCents: 246912 },
        { row: 5, name: 'Bücher', amountCents: 10, accountNumber: '8400', isNew: false },
        { row: 6, name: 'tassen', amountCents: 30 },
      ],
      errors: [],
      warnings: [],
      accountsVersion: 1,
    });
    const assignments = JSON.stringify([
      { name: 'T-Shirts', number: '8500' },
      { name: 'TASSEN', number: '8501' },
      { name: 'Käse „Alt“', number: '8502' },
    ]);
    const { rawPayload } = await post('/merchandise/export', { file, accountsVersion: '1', assignments }, as);
    // In Windows-1252 the low and the high quotation mark are 84 and 93.
    expect(rawPayload.toString('latin1').split('\r\n')).toEqual([
      'Konto;Bezeichnung;Betrag;Zeitraum',
      '8400;Bücher;0,10;11/2026',
      '8500;T-Shirts;1234,56;11/2026',
      '8501;Tassen;-12,20;11/2026',
      '8502;Käse \u0084Alt\u0093;2469,12;11/2026',
      '',
    ]);
  });

  it('only the first visible sheet is read', async () => {
    const file = workbook(
      [
        ['Artikel', 'Mai 2026'],
        ['Tassen', 1],
      ],
      { behind: [['Alt'], ['Geheim', 2]] },
    );
    expect((await post('/merchandise/preview', { file })).json()).toMatchObject({
      header: { period: '2026-05' },
      rows: [{ name: 'Tassen' }],
      warnings: [],
    });
  });

  it('a list with blank rows is refused if it continues past the last row that is read', async () => {
    const rows = Array.from({ length: 15_000 }, (_, n) => [[`Artikel ${n}`, 1], [], []]).flat();
    const file = workbook([['Artikel', 'Mai 2026'], ...rows]);
    expect(await codeOf(post('/merchandise/preview', { file }))).toBe('400 TOO_MANY_ROWS');
  });

  it('each fault of a workbook is reported', async () => {
    const file = accountingSample('merchandise-faults.xlsx');
    const { errors } = (await post('/merchandise/preview', { file })).json<{
      errors: { row: number; column: string; code: string }[];
    }>();
    expect(errors.map(({ row, column, code }) => `${column}${row} ${code}`)).toEqual([
      'B2 AMOUNT_IS_DATE',
      'B3 AMOUNT_INVALID',
      'B4 AMOUNT_INVALID',
      'B5 AMOUNT_MISSING',
      'B6 AMOUNT_INVALID',
      'B7 AMOUNT_PRECISION',
      'B8 AMOUNT_INVALID',
      'A9 NAME_UNMAPPABLE',
    ]);
    const refused = await post('/merchandise/export', { file, accountsVersion: '0', period: '2026-11' });
    expect(refused.json()).toMatchObject({
      statusCode: 400,
      code: 'ROW_ERRORS',
      details: [{ path: 'rows.2.B' }, {}, {}, {}, {}, {}, {}, {}],
    });
  });
});

it('a simultaneous import and export never leave a mixed list', { timeout: 120_000 }, async () => {
  const file = workbook([
    ['Artikel', '11/2026'],
    ['Neu', 1],
  ]);
  const assignments = JSON.stringify([{ name: 'Neu', number: '8999' }]);
  const imported = 'Konto;Name\n8400;T-Shirts\n8401;Tassen\n';
  const outcomes = new Set<string>();
  for (let round = 0; round < 6; round += 1) {
    const as = await make.user({ role: 'ADMIN' });
    const one = post('/merchandise/export', { file, accountsVersion: '0', assignments }, as);
    const other = await make.user({ role: 'ADMIN', tenantId: as.tenantId });
    const [exported, replaced] = await Promise.all([
      one,
      post('/merchandise/accounts/import', { file: imported }, other),
    ]);
    expect(replaced.statusCode).toBe(200);
    const listed = await request({ url: '/accounting/merchandise/accounts', as });
    expect(listed.json<{ number: string }[]>().map(({ number }) => number)).toEqual(['8400', '8401']);
    // The second request saw the result of the first.
    expect([
      exported.statusCode,
      replaced.json<{ removed: number }>().removed,
      listed.headers['x-list-version'],
    ]).toEqual(exported.statusCode === 200 ? [200, 1, '2'] : [409, 0, '1']);
    outcomes.add(`${exported.statusCode}`);
  }
  expect(outcomes.size).toBeGreaterThan(0);
});

it('an export is audited, and a preview stores nothing', async () => {
  const as = await make.user({ role: 'ADMIN' });
  const file = workbook([
    ['Artikel', '11/2026'],
    ['Geheimes', 1],
  ]);
  await post('/merchandise/preview', { file }, as);
  await post('/canteen/preview', { file: 'PNR;Name;Betrag\n1;Geheimer;1,00\n', month: '2026-11' }, as);
  const entries = async () => (await request({ url: '/audit-log', as })).json<{ action: string; summary: string }[]>();
  expect(await entries()).toEqual([]);
  await put('/canteen/settings', numbers, as);
  await post('/canteen/export', { file: 'PNR;Name;Betrag\n1;Geheimer;1,00\n', month: '2026-11' }, as);
  const assignments = JSON.stringify([{ name: 'Geheimes', number: '8400' }]);
  await post('/merchandise/export', { file, accountsVersion: '0', assignments }, as);
  expect((await entries()).map(({ action, summary }) => `${action}: ${summary}`)).toEqual([
    'merchandise.export: Exported merchandise for 2026-11: 1 rows, 1 new accounts.',
    'canteen.export: Exported canteen billing for 2026-11: 1 rows, 1 people.',
    'canteen.settings: Changed the settings of canteen billing.',
  ]);
  expect(JSON.stringify(logLines)).not.toContain('Geheim');
});
