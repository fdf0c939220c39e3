import { parseAmount } from './amounts.ts';
import type { CanteenPreview, CanteenRow, PersonSum } from './canteen.ts';
import { type Finding, finding, type FindingCode, maxFindings } from './findings.ts';
import { parseDay } from './month.ts';
import { headingKey, isTotal, nameKey, shownCell, tidied } from './names.ts';
import { sameLines } from './same-lines.ts';
import { fitsWindows1252 } from './windows-1252.ts';

/** The headings, and the index of each column in a line. */
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

/** Finds the columns in a header line; null if the line is not a header. */
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

/** The lines of a canteen's list read so far. */
export interface CanteenReading {
  errors: Finding[];
  warnings: Finding[];
  /** Whether a line has a fault. `errors` and `warnings` are truncated. */
  readonly hasErrors: boolean;
  take(line: number, cells: readonly string[]): void;
  /** Number of lines without a fault. */
  readonly validLines: number;
  /** Sums of the valid lines by personnel number, including zero sums. */
  people(): (PersonSum & { row: number })[];
}

/** Checks at most `maxLines` lines below a header for the payroll of a month (`2026-11`), and passes each row to `onRow`. */
export function readCanteenLines(
  columns: CanteenColumns,
  { headerLine, maxLines, month }: { headerLine: number; maxLines: number; month: string },
  onRow: (row: CanteenRow) => void,
): CanteenReading {
  const errors: Finding[] = [];
  const warnings: Finding[] = [];
  const people = new Map<number, { name: string; cents: number; row: number }>();
  const isSame = sameLines(maxLines);
  const dayOf = memoized(parseDay);
  let hasErrors = false;
  let validLines = 0;

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
    else if (amount.cents <= 0 || amount.isAmbiguous) found.push(...amountWarnings(amount));
    const dateFault = checkDate(cells, found);
    if (dateFault) fault(line, columns.date, 'DATE_INVALID');
    if (!fitsWindows1252(name)) found.push('NAME_UNMAPPABLE');
    if (isSame(cells)) found.push('DUPLICATE_ROW');
    if (number !== null && !('fault' in amount) && !dateFault) {
      validLines += 1;
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

  /** Whether the line's date is invalid. Adds a warning to `found` if the date is outside the month. */
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
    get validLines() {
      return validLines;
    },
    take,
    people: () =>
      [...people]
        .toSorted(([a], [b]) => a - b)
        .map(([number, { name, cents, row }]) => ({ personnelNumber: `${number}`, name, amountCents: cents, row })),
  };
}

/** Caches results: the many lines of a month contain few different dates. */
function memoized<Value>(compute: (text: string) => Value): (text: string) => Value {
  const cache = new Map<string, Value>();
  return (text) => {
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
    const value = compute(text);
    if (cache.size < 1_000) cache.set(text, value);
    return value;
  };
}

const none: FindingCode[] = [];

function personnelOf(cell: string): { number: number | null; text: string; code?: FindingCode } {
  // Fast path: nearly all cells have this form.
  if (/^[1-9]\d{0,4}$/.test(cell)) return { number: Number(cell), text: cell };
  const trimmed = cell.trim();
  if (trimmed === '') return { number: null, text: '', code: 'PERSONNEL_MISSING' };
  const digits = /^0*(\d{1,5})$/.exec(trimmed)?.[1];
  const number = Number(digits ?? 0);
  if (number === 0) return { number: null, text: shownCell(trimmed), code: 'PERSONNEL_INVALID' };
  return { number, text: `${number}` };
}

const amountWarnings = ({ cents, isAmbiguous }: { cents: number; isAmbiguous: boolean }): FindingCode[] => [
  ...(cents === 0 ? (['AMOUNT_ZERO'] as const) : []),
  ...(cents < 0 ? (['AMOUNT_NEGATIVE'] as const) : []),
  ...(isAmbiguous ? (['AMOUNT_AMBIGUOUS'] as const) : []),
];

/** Totals and findings of a preview. */
export function canteenSummary(reading: CanteenReading): Pick<CanteenPreview, 'totals' | 'errors' | 'warnings'> {
  const { errors, warnings, validLines } = reading;
  const sums = reading.people();
  const sumWarnings = sums.flatMap(({ row, amountCents }) => {
    if (amountCents > 0) return [];
    return [finding(row, null, amountCents < 0 ? 'SUM_NEGATIVE' : 'SUM_ZERO')];
  });
  return {
    totals: {
      rows: validLines,
      people: sums.length,
      amountCents: sums.reduce((sum, { amountCents }) => sum + amountCents, 0),
      byPerson: sums.map(({ personnelNumber, name, amountCents }) => ({ personnelNumber, name, amountCents })),
    },
    errors,
    warnings: [...warnings, ...sumWarnings].slice(0, maxFindings),
  };
}
