import { invalid } from '../errors.ts';
import { detailsOf, type Finding, finding } from './findings.ts';
import type { ListedAccount } from './merchandise-lines.ts';
import { accountNameMax, accountNumberPattern } from './merchandise.ts';
import { headingKey, nameKey, tidied } from './names.ts';
import { neutralized, restored } from './spreadsheet-text.ts';
import { textOfLines } from './text-lines.ts';

/** The account list as CSV with the header `Konto;Name`; cells are quoted only if necessary. */
export function accountsCsv(accounts: readonly ListedAccount[]): string {
  const cell = (value: string): string => (/[;"]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return textOfLines(['Konto;Name', ...accounts.map(({ number, name }) => `${number};${cell(neutralized(name))}`)]);
}

export const isAccountsHeader = (cells: readonly string[]): boolean =>
  headingKey(cells[0] ?? '') === 'konto' && headingKey(cells[1] ?? '') === 'name';

// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/u;

/** Checks the raw cells, because tidying turns a quoted line break into a space. */
function controlIn(line: number, [number = '', name = '']: readonly string[]): Finding | null {
  if (control.test(number)) return finding(line, 'Konto', 'ACCOUNT_INVALID');
  return control.test(name) ? finding(line, 'Name', 'NAME_INVALID') : null;
}

/** Collects and checks the lines of an account list. */
export function readAccountLines() {
  const accounts: ListedAccount[] = [];
  const errors: Finding[] = [];
  const numbers = new Set<string>();
  const names = new Set<string>();

  function check(line: number, number: string, name: string): Finding | null {
    if (!accountNumberPattern.test(number)) return finding(line, 'Konto', 'ACCOUNT_INVALID');
    if (name === '') return finding(line, 'Name', 'NAME_MISSING');
    if (name.length > accountNameMax) return finding(line, 'Name', 'NAME_TOO_LONG');
    if (numbers.has(number)) return finding(line, 'Konto', 'DUPLICATE_NUMBER');
    return names.has(nameKey(name)) ? finding(line, 'Name', 'DUPLICATE_NAME') : null;
  }

  return {
    get count() {
      return accounts.length;
    },
    take(line: number, cells: readonly string[]): void {
      const cellFault = cells.length === 2 ? controlIn(line, cells) : finding(line, null, 'COLUMN_COUNT');
      const number = (cells[0] ?? '').trim();
      const name = tidied(restored(cells[1] ?? ''));
      const fault = cellFault ?? check(line, number, name);
      if (fault) errors.push(fault);
      numbers.add(number);
      names.add(nameKey(name));
      accounts.push({ number, name });
    },
    /** Returns the accounts. Throws 400 `ROW_ERRORS` if a line has a fault. */
    end(): ListedAccount[] {
      if (errors.length > 0) throw invalid('ROW_ERRORS', undefined, { details: detailsOf(errors) });
      return accounts;
    },
  };
}
