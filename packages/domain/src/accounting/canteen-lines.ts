import { parseAmount } from './amounts.ts';
import type { CanteenPreview, CanteenRow, PersonSum } from './canteen.ts';
import { type Finding, finding, type FindingCode, maxFindings } from './findings.ts';
import { parseDay } from './month.ts';
import { headingKey, isTotal, nameKey, shownCell, tidied } from './names.ts';
import { sameLines } from './same-lines.ts';
import { fitsWindows1252 } from './windows-1252.ts';

/** Which cell of a line holds what, and what the headings say. */
export interface CanteenColumns {
  headings: string[];
  personnel: number;
  amount: number;
  name: number | null;
  firstName: number | null;
  date: number | null;
  isBadge: boolean;
}

const personnelHeadings = ['personalnummer', 'personalnr', 'persnr', 'pnr'];
const amountHeadings = ['betrag', 'betrageur', 'betragineur', 'summe', 'gesamt', 'gesamtbetrag', 'umsatz'];

/** The columns a header names; null for a line that is no header. */
export function findCanteenColumns(cells: readonly string[]): CanteenColumns | null {
  const keys = cells.map(headingKey);
  const find = (...names: string[]): number | null => {
    const found = names.map((name) => keys.indexOf(name)).find((index) => index !== -1);
    return found ?? null;
  };
  const badge = find('ausweisnummer');
  const personnel = find(...personnelHeadings) ?? badge;
  const amount = find(...amountHeadings);
  if (personnel === null || amount === null) return null;
  const surname = find('nachname');
  return {
    headings: cells.map((cell) => shownCell(cell.trim())),
    personnel,
    amount,
    name: surname ?? find('name'),
    firstName: surname === null ? null : find('vorname'),
    date: find('datum', 'buchungsdatum', 'zeit'),
    isBadge: personnel === badge,
  };
}

/** What was read so far of a canteen's list, line by line. */
export interface CanteenReading {
  errors: Finding[];
  warnings: Finding[];
  /** Whether a line has a fault; the lists of findings are cut. */
  readonly hasErrors: boolean;
  take(line: number, cells: readonly string[]): void;
  /** How many lines have none. */
  readonly counted: number;
  /** Sums of the lines without a fault by personnel number, those that come to nothing too. */
  people(): (PersonSum & { row: number })[];
}

/** Checks the lines below a header, `maxLines` at most, for the payroll of a month (`2026-11`), and hands on each as it is read. */
export function readCanteenLines(
  columns: CanteenColumns,
  { headerLine, maxLines, month }: { headerLine: number; maxLines: number; month: string },
  onRow: (row: CanteenRow) => void,
): CanteenReading {
  const errors: Finding[] = [];
  const warnings: Finding[] = [];
  const people = new Map<number, { name: string; cents: number; row: number }>();
  const isSame = sameLines(maxLines);
  const dayOf = remembering(parseDay);
  let hasErrors = false;
  let counted = 0;

  function fault(line: number, column: number | null, code: FindingCode): void {
    hasErrors = true;
    if (errors.length < maxFindings) errors.push(finding(line, column === null ? null : headingOf(column), code));
  }
  function warn(line: number, column: number | null, code: FindingCode): void {
    if (warnings.length < maxFindings) warnings.push(finding(line, column === null ? null : headingOf(column), code));
  }
  const headingOf = (column: number): string => columns.headings[column] ?? '';

  function take(line: number, cells: readonly string[]): void {
    if (isTotal(cells[0] ?? '')) return warn(line, null, 'TOTAL_LEFT_OUT');
    if (cells.length !== columns.headings.length) return fault(line, null, 'COLUMN_COUNT');
    const found: FindingCode[] = [];
    const name = nameOf(cells);
    const { number, text, code } = personnelOf(cells[columns.personnel] ?? '');
    if (code) fault(line, columns.personnel, code);
    const amount = parseAmount(cells[columns.amount] ?? '');
    if ('fault' in amount) fault(line, columns.amount, amount.fault);
    else if (amount.cents <= 0 || amount.isAmbiguous) found.push(...remarksOn(amount));
    const dateFault = checkDate(cells, found);
    if (dateFault) fault(line, columns.date, 'DATE_INVALID');
    if (!fitsWindows1252(name)) found.push('NAME_UNMAPPABLE');
    if (isSame(cells)) found.push('DUPLICATE_ROW');
    if (number !== null && !('fault' in amount) && !dateFault) {
      counted += 1;
      const person = people.get(number);
      if (!person) people.set(number, { name, cents: amount.cents, row: line });
      else {
        person.cents += amount.cents;
        if (person.name !== name && nameKey(person.name) !== nameKey(name)) found.push('NAME_CONFLICT');
      }
    }
    onRow({
      row: line,
      personnelNumber: text,
      name,
      amountCents: 'fault' in amount ? null : amount.cents,
      warnings: found.length === 0 ? none : found,
    });
  }

  function nameOf(cells: readonly string[]): string {
    const name = (columns.name === null ? undefined : cells[columns.name]) ?? '';
    const firstName = (columns.firstName === null ? undefined : cells[columns.firstName]) ?? '';
    return shownCell(tidied(firstName === '' ? name : `${firstName} ${name}`));
  }

  /** Whether the line's date is none; one outside the month is found. */
  function checkDate(cells: readonly string[], found: FindingCode[]): boolean {
    const text = columns.date === null ? '' : (cells[columns.date] ?? '').trim();
    if (text === '') return false;
    const day = dayOf(text);
    if (day !== null && !day.startsWith(month)) found.push('DATE_OUTSIDE_PERIOD');
    return day === null;
  }

  if (columns.isBadge) warn(headerLine, columns.personnel, 'BADGE_NUMBER');
  return {
    errors,
    warnings,
    get hasErrors() {
      return hasErrors;
    },
    get counted() {
      return counted;
    },
    take,
    people: () =>
      [...people]
        .toSorted(([a], [b]) => a - b)
        .map(([number, { name, cents, row }]) => ({ personnelNumber: `${number}`, name, amountCents: cents, row })),
  };
}

/** The same function for what is asked again and again: a month has few days, however they are written. */
function remembering<Value>(of: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const value = known.get(text);
    if (value !== undefined) return value;
    const found = of(text);
    if (known.size < 1_000) known.set(text, found);
    return found;
  };
}

const none: FindingCode[] = [];

function personnelOf(cell: string): { number: number | null; text: string; code?: FindingCode } {
  // What nearly all of them look like.
  if (/^[1-9]\d{0,4}$/.test(cell)) return { number: Number(cell), text: cell };
  const trimmed = cell.trim();
  if (trimmed === '') return { number: null, text: '', code: 'PERSONNEL_MISSING' };
  const digits = /^0*(\d{1,5})$/.exec(trimmed)?.[1];
  const number = Number(digits ?? 0);
  if (number === 0) return { number: null, text: shownCell(trimmed), code: 'PERSONNEL_INVALID' };
  return { number, text: `${number}` };
}

const remarksOn = ({ cents, isAmbiguous }: { cents: number; isAmbiguous: boolean }): FindingCode[] => [
  ...(cents === 0 ? (['AMOUNT_ZERO'] as const) : []),
  ...(cents < 0 ? (['AMOUNT_NEGATIVE'] as const) : []),
  ...(isAmbiguous ? (['AMOUNT_AMBIGUOUS'] as const) : []),
];

/** What a person sees before an export, beside the rows. */
export function canteenSummary(reading: CanteenReading): Pick<CanteenPreview, 'totals' | 'errors' | 'warnings'> {
  const { errors, warnings, counted } = reading;
  const sums = reading.people();
  const odd = sums.flatMap(({ row, amountCents }) => {
    if (amountCents > 0) return [];
    return [finding(row, null, amountCents < 0 ? 'SUM_NEGATIVE' : 'SUM_ZERO')];
  });
  return {
    totals: {
      rows: counted,
      people: sums.length,
      amountCents: sums.reduce((sum, { amountCents }) => sum + amountCents, 0),
      byPerson: sums.map(({ personnelNumber, name, amountCents }) => ({ personnelNumber, name, amountCents })),
    },
    errors,
    warnings: [...warnings, ...odd].slice(0, maxFindings),
  };
}
