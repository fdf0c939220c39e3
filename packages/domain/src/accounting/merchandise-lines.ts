import { controlInLine } from '../text.ts';
import { type Amount, centsOfNumber, parseAmount } from './amounts.ts';
import { type Finding, finding, type FindingCode, maxFindings } from './findings.ts';
import type { MerchandiseHeader, MerchandiseRow } from './merchandise.ts';
import { accountNameMax } from './merchandise.ts';
import { findMonth } from './month.ts';
import { isTotal, nameKey, shownCell, tidied } from './names.ts';
import { fitsWindows1252 } from './windows-1252.ts';

/** The value of a cell: text, a number, a day, or a value of another type. Undefined if the cell is empty. */
export type Cell = string | number | { day: string } | { other: true } | undefined;

export interface ListedAccount {
  number: string;
  name: string;
}

/** The sum of an account in a month. */
export interface AccountSum extends ListedAccount {
  amountCents: number;
}

/** A row with its account; null if the list has none. */
export interface MatchedRow extends MerchandiseRow {
  account: ListedAccount | null;
}

export interface MerchandiseReading {
  header: MerchandiseHeader;
  rows: MatchedRow[];
  errors: Finding[];
  warnings: Finding[];
  hasErrors: boolean;
}

const headerMax = 60;
/** Consecutive empty rows that end a list. */
export const emptyRows = 10;

/** The text of B1 and the month it names. */
export function readHeader(cell: Cell): MerchandiseHeader {
  if (typeof cell === 'object' && 'day' in cell) {
    const period = cell.day.slice(0, 7);
    return { text: `${period.slice(5)}/${period.slice(0, 4)}`, period };
  }
  const text =
    typeof cell === 'object'
      ? ''
      : tidied(String(cell ?? ''))
          .slice(0, headerMax)
          .toWellFormed();
  return { text, period: findMonth(text) };
}

/**
 * Reads columns A and B from row 2 on and matches each row with an account, by number and then by name. Calls `tooMany` for more rows
 * than `maxRows` or for a row after `lastRow`.
 */
export function readMerchandiseLines(
  sheet: { cellsOf: (row: number) => readonly [Cell, Cell]; rowCount: number },
  accounts: readonly ListedAccount[],
  { maxRows, lastRow, tooMany }: { maxRows: number; lastRow: number; tooMany: () => never },
): MerchandiseReading {
  const byNumber = new Map(accounts.map((account) => [account.number, account]));
  const byName = new Map(accounts.map((account) => [nameKey(account.name), account]));
  const rows: MatchedRow[] = [];
  const errors: Finding[] = [];
  const warnings: Finding[] = [];
  let hasErrors = false;
  let sum = 0;
  let empty = 0;

  function fault(row: number, column: 'A' | 'B', code: FindingCode): void {
    hasErrors = true;
    if (errors.length < maxFindings) errors.push(finding(row, column, code));
  }
  function warn(row: number, column: 'A' | 'B', code: FindingCode): void {
    if (warnings.length < maxFindings) warnings.push(finding(row, column, code));
  }

  for (let row = 2; row <= sheet.rowCount && empty < emptyRows; row += 1) {
    const [a, b] = sheet.cellsOf(row);
    if (isEmpty(a) && isEmpty(b)) {
      empty += 1;
      continue;
    }
    empty = 0;
    if (row > lastRow) tooMany();
    const label = labelOf(a);
    const amount = amountOf(b);
    if (label !== null && isTotal(label)) {
      if ('fault' in amount || amount.cents !== sum) warn(row, 'B', 'TOTAL_DIFFERS');
      continue;
    }
    if (rows.length === maxRows) tooMany();
    if ('fault' in amount) fault(row, 'B', amount.fault);
    else {
      sum += amount.cents;
      if (amount.cents === 0) warn(row, 'B', 'AMOUNT_ZERO');
      if (amount.isAmbiguous) warn(row, 'B', 'AMOUNT_AMBIGUOUS');
    }
    const account = label === null ? null : (byNumber.get(label) ?? byName.get(nameKey(label)) ?? null);
    const name = account?.name ?? label ?? '';
    const nameFault = faultOf(name);
    if (nameFault) fault(row, 'A', nameFault);
    rows.push({
      row,
      name: shownCell(name),
      amountCents: 'fault' in amount ? null : amount.cents,
      accountNumber: account?.number ?? null,
      isNew: account === null,
      account,
    });
  }
  return { header: readHeader(sheet.cellsOf(1)[1]), rows, errors, warnings, hasErrors };
}

const isEmpty = (cell: Cell): boolean => cell === undefined || (typeof cell === 'string' && cell.trim() === '');

/** The account name or number in column A; null if there is none. A numeric cell counts only if it is a whole number. */
function labelOf(cell: Cell): string | null {
  if (typeof cell === 'number') return Number.isInteger(cell) && Math.abs(cell) < 1e15 ? String(cell) : null;
  return typeof cell === 'string' ? tidied(cell) || null : null;
}

function faultOf(name: string): FindingCode | null {
  if (name === '') return 'NAME_MISSING';
  if (controlInLine.test(name)) return 'NAME_INVALID';
  if (name.length > accountNameMax) return 'NAME_TOO_LONG';
  return fitsWindows1252(name) ? null : 'NAME_UNMAPPABLE';
}

function amountOf(cell: Cell): Amount | { fault: 'AMOUNT_IS_DATE' } {
  if (cell === undefined) return { fault: 'AMOUNT_MISSING' };
  if (typeof cell === 'number') return centsOfNumber(cell);
  if (typeof cell === 'string') return parseAmount(cell);
  return { fault: 'day' in cell ? 'AMOUNT_IS_DATE' : 'AMOUNT_INVALID' };
}
