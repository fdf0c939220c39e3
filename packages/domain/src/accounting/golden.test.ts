import { describe, expect, it } from 'vitest';
import { CanteenSettings } from './canteen.ts';
import { extfColumns } from './extf-columns.ts';
import { extfFile } from './extf-file.ts';
import { MerchandiseSettings } from './merchandise.ts';
import { payrollFile } from './payroll-file.ts';
import { txtFile } from './txt-file.ts';

/** The required pieces of a file, each with its source. */
type Sourced = readonly (readonly [piece: string, source: string])[];
const piecesOf = (sourced: Sourced): string[] => sourced.map(([piece]) => piece);

const people = [
  { personnelNumber: '101', name: 'Käthe', amountCents: 4_860 },
  { personnelNumber: '102', name: 'Bob', amountCents: -790 },
  { personnelNumber: '20456', name: 'Eve', amountCents: 11_205 },
];
const payroll = CanteenSettings.parse({ beraternummer: '0012345', mandantennummer: '007', lohnart: '9010' });
const manual = 'manual “LODAS ASCII-Import”, [Allgemein]';
const project = 'moto-nrw/project-phoenix, DATEV writers';
const hydra = 'HYDRA interface manual EIS-LUG_82, 7.5';

describe('a file for LODAS', () => {
  const { name, text } = payrollFile(payroll, '2026-11', people);
  it('has the required lines', () => {
    const lines: Sourced = [
      ['[Allgemein]', manual],
      ['Ziel=LODAS', `${manual}, required`],
      ['Version_SST=1.0', `${manual}, optional; no Version_DB, which differs by year`],
      ['BeraterNr=12345', `${manual}, required, 4 to 7 digits, as a number`],
      ['MandantenNr=7', `${manual}, required, 1 to 5 digits, as a number`],
      ['Datumsformat=TT.MM.JJJJ', manual],
      ['Feldtrennzeichen=;', manual],
      ['Zahlenkomma=,', manual],
      ['', ''],
      ['[Satzbeschreibung]', 'the fixed order of sections: kontor, payroll-de-datev'],
      [
        '1;u_lod_bwd_buchung_standard;abrechnung_zeitraum#bwd;pnr#bwd;la_eigene#bwd;bs_nr#bwd;bs_wert_butab#bwd;',
        `${project}; the trailing separator too`,
      ],
      ['', ''],
      ['[Bewegungsdaten]', 'the fixed order of sections: kontor, payroll-de-datev'],
      ['1;01.11.2026;101;9010;3;-48,60;', ''],
      ['1;01.11.2026;102;9010;3;7,90;', ''],
      ['1;01.11.2026;20456;9010;3;-112,05;', ''],
    ];
    expect(text).toBe(
      piecesOf(lines)
        .map((line) => `${line}\r\n`)
        .join(''),
    );
    expect(name).toBe('LODAS_12345_7_2026_11.txt');
  });

  it('has the required fields per person', () => {
    const fields: Sourced = [
      ['1', 'number of the Satzbeschreibung above'],
      ['01.11.2026', 'abrechnung_zeitraum#bwd: first day of the month, as Datumsformat says'],
      ['101', 'pnr#bwd: HYDRA manual and SchichtFunk, 1 to 99999'],
      ['9010', 'la_eigene#bwd: SchichtFunk, 1 to 4 digits'],
      ['3', 'bs_nr#bwd: docs.dynamics-service.de and support.spesenfuchs.de, a net payment or deduction'],
      ['-48,60', 'bs_wert_butab#bwd: support.spesenfuchs.de, deductions with a minus'],
      ['', `the trailing separator: ${project}`],
    ];
    expect(text.split('\r\n')[13]?.split(';')).toEqual(piecesOf(fields));
  });
});

it('a file for Lohn und Gehalt has the required fields', () => {
  const { name, text } = payrollFile({ ...payroll, target: 'lohn-und-gehalt', sign: 'plus' }, '2026-11', people);
  const head: Sourced = [
    ['12345', `Beraternummer: ${hydra}`],
    ['7', `Mandantennummer: ${hydra}`],
    ['11/2026', `MM/JJJJ: ${hydra}`],
  ];
  const fields: Sourced = [
    ['101', 'Personalnummer: 123erfasst, INI with 11 fields'],
    ['', 'Kalendertag: empty for a month'],
    ['', 'Ausfallschlüssel: empty for a month'],
    ['9010', `Lohnartennummer: ${hydra}`],
    ['', 'Stundenanzahl: only one of hours, days and amount is filled'],
    ['', 'Tagesanzahl'],
    ['48,60', 'Wert: decimal comma of the INI'],
    ['', 'Abweichender Faktor'],
    ['', 'Abweichende Lohnveränderung'],
    ['', 'Kostenstellennummer'],
    ['', 'Kostenträger'],
  ];
  const lines = text.split('\r\n');
  expect(lines[0]?.split(';')).toEqual(piecesOf(head));
  expect(lines[1]?.split(';')).toEqual(piecesOf(fields));
  expect([lines.length, lines.at(-1), name]).toEqual([5, '', 'LUG_12345_7_2026_11.txt']);
});

describe('a Buchungsstapel', () => {
  const settings = MerchandiseSettings.parse({
    format: 'extf',
    defaultContraAccount: '1460',
    beraternummer: '1001',
    mandantennummer: '456',
    fiscalYearStart: '07-01',
  });
  const sums = [
    { number: '8400', name: 'Die "guten" T-Shirts', amountCents: 123_456 },
    { number: '8401', name: 'Tassen', amountCents: -1_250 },
  ];
  const now = new Date('2026-11-20T09:15:00.123Z');
  const { name, text } = extfFile(sums, { period: '2026-11', settings, now });
  const [head = '', names = '', first = '', second = '', ...rest] = text.split('\r\n');
  const ledermann = 'ledermann/datev, header';
  const rules = 'seamless-engineering/datev-extf-mcp, rules of developer.datev.de';

  it('has the required header fields', () => {
    const fields: Sourced = [
      ['"EXTF"', `1 mark of a foreign program: ${ledermann}`],
      ['700', `2 version: ${ledermann}`],
      ['21', `3 category: ${ledermann}`],
      ['"Buchungsstapel"', `4 name: ${ledermann}`],
      ['13', `5 version of the format: ${rules}`],
      ['20261120101500123', `6 created, here in Berlin: ${ledermann}`],
      ['', `7 must be empty: ${rules}`],
      ['"RE"', `8 origin, two letters: ${ledermann}`],
      ['""', '9 who exported'],
      ['""', `10 must be empty: ${rules}`],
      ['1001', `11 Berater: ${rules}`],
      ['456', `12 Mandant: ${rules}`],
      ['20260701', `13 first day of the fiscal year: ${rules}`],
      ['4', `14 digits of general accounts: ${rules}`],
      ['20261101', `15 from, in one fiscal year: ${rules}`],
      ['20261130', `16 to: ${rules}`],
      ['"Merchandise 11/2026"', `17 label, at most 30: ${ledermann}`],
      ['""', '18 dictation mark'],
      ['1', `19 type, financial accounting: ${ledermann}`],
      ['0', `20 purpose: ${ledermann}`],
      ['0', `21 not locked: ${rules}`],
      ['"EUR"', `22 currency: ${ledermann}`],
      ['', '23 reserved'],
      ['""', '24 mark of derivatives'],
      ['', '25 reserved'],
      ['', '26 reserved'],
      ['""', '27 chart of accounts, which the tax adviser knows'],
      ['', '28 branch'],
      ['', '29 reserved'],
      ['""', '30 reserved'],
      ['""', '31 information for applications'],
    ];
    expect(head.split(';')).toEqual(piecesOf(fields));
    expect([name, ...rest]).toEqual(['EXTF_Merchandise_2026-11.csv', '']);
  });

  it('names 125 columns', () => {
    expect(names.split(';')).toEqual(extfColumns.map((column) => column.name));
    expect([extfColumns.length, new Set(names.split(';')).size]).toEqual([125, 125]);
    // Column numbers from the rules of the format.
    const places = {
      7: 'Konto',
      10: 'Belegdatum',
      14: 'Buchungstext',
      37: 'KOST1 - Kostenstelle',
      114: 'Festschreibung',
    };
    for (const [place, column] of Object.entries(places)) expect(names.split(';')[Number(place) - 1]).toBe(column);
    expect(names.split(';').slice(120)).toEqual([
      'Abrechnungsreferenz',
      'BVV-Position',
      'EU-Land u. UStID (Ursprung)',
      'EU-Steuersatz (Ursprung)',
      'Abw. Skontokonto',
    ]);
  });

  it('has the required fields per booking', () => {
    const fields: Sourced = [
      ['1234,56', `1 Umsatz, positive, decimal comma: ${rules}`],
      ['"H"', `2 S or H, of column 7: ${rules}`],
      ['"EUR"', '3 WKZ Umsatz'],
      ...Array.from({ length: 2 }, () => ['', '4 and 5 Kurs, Basis-Umsatz'] as const),
      ['""', '6 WKZ Basis-Umsatz'],
      ['8400', `7 Konto: ${rules}`],
      ['1460', `8 Gegenkonto: ${rules}`],
      ['""', `9 BU-Schlüssel, empty unless the tax adviser asks: ${rules}`],
      ['3011', `10 Belegdatum TTMM: ${rules}`],
      ['"MERCH1126"', `11 Belegfeld 1, only allowed characters: ${rules}`],
      ['""', '12 Belegfeld 2'],
      ['', '13 Skonto'],
      ['"Die ""guten"" T-Shirts 11/2026"', `14 Buchungstext, at most 60: ${rules}`],
    ];
    const cells = first.split(';');
    expect(cells.slice(0, fields.length)).toEqual(piecesOf(fields));
    const filled = cells.flatMap((cell, index) =>
      index >= fields.length && !['', '""'].includes(cell) ? [index + 1] : [],
    );
    expect([cells.length, filled, cells[113]]).toEqual([125, [114], '0']);
    expect(second).toMatch(/^12,50;"S";/);
  });
});

it('a TXT file has the required fields', () => {
  const sums = [
    { number: '8400', name: 'T-Shirts; "rot"', amountCents: 123_456 },
    { number: '8401', name: '=1+1', amountCents: -1_250 },
    { number: '8402', name: '"x"', amountCents: 1 },
  ];
  const { name, text } = txtFile(sums, '2026-11', ';');
  // Our own format: fixed columns, which the importing program maps.
  expect(text.split('\r\n').map((line) => line.split(';'))).toEqual([
    ['Konto', 'Bezeichnung', 'Betrag', 'Zeitraum'],
    ['8400', 'T-Shirts "rot"', '1234,56', '11/2026'],
    ['8401', "'=1+1", '-12,50', '11/2026'],
    ['8402', `'"x"`, '0,01', '11/2026'],
    [''],
  ]);
  expect(name).toBe('Merchandise_2026-11.txt');
});
