import { formatAmount } from './amounts.ts';
import type { CanteenSettings, PersonSum } from './canteen.ts';
import { monthLabel } from './month.ts';
import { textOfLines } from './text-lines.ts';

/** An amount has at most 9 digits before the comma and 2 after it. */
export const maxPayrollCents = 99_999_999_999;

/** A number without leading zeros. */
const plain = (digits: string): string => String(Number(digits));

/** The import file of the payroll program for a month, and its name. People appear only by number, never by name. */
export function payrollFile(
  settings: CanteenSettings,
  month: string,
  people: readonly PersonSum[],
): { name: string; text: string } {
  const [year, monthOfYear] = month.split('-');
  const { target, sign } = settings;
  const numbers = [plain(settings.beraternummer), plain(settings.mandantennummer)];
  const amounts = people.map(({ personnelNumber, amountCents }) => ({
    personnelNumber,
    amount: formatAmount(sign === 'minus' ? -amountCents : amountCents),
  }));
  const write = target === 'lodas' ? lodasLines : lohnUndGehaltLines;
  const lines = write(numbers, plain(settings.lohnart), month, amounts);
  return {
    name: `${[target === 'lodas' ? 'LODAS' : 'LUG', ...numbers, year, monthOfYear].join('_')}.txt`,
    text: textOfLines(lines),
  };
}

type Write = (
  numbers: string[],
  lohnart: string,
  month: string,
  amounts: { personnelNumber: string; amount: string }[],
) => string[];

const columns = ['abrechnung_zeitraum#bwd', 'pnr#bwd', 'la_eigene#bwd', 'bs_nr#bwd', 'bs_wert_butab#bwd'];
/** Bearbeitungsschlüssel: a net payment or deduction in euros. */
const netAmount = '3';

const lodasLines: Write = ([berater, mandant], lohnart, month, amounts) => [
  '[Allgemein]',
  'Ziel=LODAS',
  'Version_SST=1.0',
  `BeraterNr=${berater}`,
  `MandantenNr=${mandant}`,
  'Datumsformat=TT.MM.JJJJ',
  'Feldtrennzeichen=;',
  'Zahlenkomma=,',
  '',
  '[Satzbeschreibung]',
  `1;u_lod_bwd_buchung_standard;${columns.join(';')};`,
  '',
  '[Bewegungsdaten]',
  ...amounts.map(
    ({ personnelNumber, amount }) =>
      `1;01.${monthLabel(month).replace('/', '.')};${personnelNumber};${lohnart};${netAmount};${amount};`,
  ),
];

/** Eleven columns: personnel number, day, absence, Lohnart, hours, days, amount, factor, change, cost centre, cost unit. */
const lohnUndGehaltLines: Write = (numbers, lohnart, month, amounts) => [
  [...numbers, monthLabel(month)].join(';'),
  ...amounts.map(({ personnelNumber, amount }) =>
    [personnelNumber, '', '', lohnart, '', '', amount, '', '', '', ''].join(';'),
  ),
];
