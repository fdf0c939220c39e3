import { invalid, invalidField } from '../errors.ts';
import { settingsIncomplete } from './canteen-export.ts';
import { extfFile, maxExtfCents } from './extf-file.ts';
import { detailsOf, type Finding, finding } from './findings.ts';
import type { AccountSum, ListedAccount, MatchedRow, MerchandiseReading } from './merchandise-lines.ts';
import { type Assignments, type MerchandiseSettings, missingMerchandiseSettings } from './merchandise.ts';
import { nameKey } from './names.ts';
import { txtFile } from './txt-file.ts';

export interface MerchandiseExport {
  name: string;
  text: string;
  period: string;
  /** Accounts that must be added to the account list with this file. */
  newAccounts: ListedAccount[];
}

/**
 * The export file of a month: amounts summed by account, sorted by number, without zero sums. Throws 400 `ROW_ERRORS`,
 * `PERIOD_REQUIRED` and `NOTHING_TO_EXPORT`, and 409 `SETTINGS_INCOMPLETE`.
 */
export function exportMerchandise(
  reading: MerchandiseReading,
  input: {
    accounts: readonly ListedAccount[];
    assignments: Assignments;
    settings: MerchandiseSettings;
    period: string | null;
    now: Date;
  },
): MerchandiseExport {
  const { settings, assignments } = input;
  checkMerchandise(reading);
  const period = reading.header.period ?? input.period;
  if (period === null)
    throw invalid('PERIOD_REQUIRED', undefined, { details: [{ path: 'period', message: 'is required' }] });
  checkAssignments(assignments, input.accounts);
  const { sums, newAccounts } = sumUp(reading.rows, assignments);
  const nonZero = sums.filter(({ amountCents }) => amountCents !== 0);
  if (nonZero.length === 0) throw invalid('NOTHING_TO_EXPORT');
  const missing = missingMerchandiseSettings(settings);
  if (missing.length > 0) throw settingsIncomplete(missing);
  if (settings.format === 'txt') return { ...txtFile(nonZero, period, settings.separator), period, newAccounts };
  checkExtf(reading.rows, nonZero, settings);
  return { ...extfFile(nonZero, { period, settings, now: input.now }), period, newAccounts };
}

/** Throws 400 `ROW_ERRORS`. */
export function checkMerchandise({ hasErrors, errors }: MerchandiseReading): void {
  if (hasErrors) throw invalid('ROW_ERRORS', undefined, { details: detailsOf(errors) });
}

/** An assignment either creates an account or repeats one in the list. Numbers and names are unique in the list. */
function checkAssignments(assignments: Assignments, accounts: readonly ListedAccount[]): void {
  const byNumber = new Map(accounts.map((account) => [account.number, account]));
  const byName = new Map(accounts.map((account) => [nameKey(account.name), account]));
  for (const [index, { name, number }] of assignments.entries()) {
    const owner = byNumber.get(number);
    if (owner && nameKey(owner.name) !== nameKey(name))
      throw invalidField(`assignments.${index}.number`, `already belongs to ${owner.name}`);
    const known = byName.get(nameKey(name));
    if (known && known.number !== number)
      throw invalidField(`assignments.${index}.name`, `already has the account ${known.number}`);
  }
}

function sumUp(
  rows: readonly MatchedRow[],
  assignments: Assignments,
): { sums: AccountSum[]; newAccounts: ListedAccount[] } {
  const assigned = new Map(assignments.map(({ name, number }) => [nameKey(name), number]));
  const sums = new Map<string, AccountSum>();
  const newAccounts = new Map<string, ListedAccount>();
  const faults: Finding[] = [];
  for (const { row, name, amountCents, account } of rows) {
    const number = account?.number ?? assigned.get(nameKey(name));
    if (number === undefined) {
      faults.push(finding(row, 'A', 'ACCOUNT_MISSING'));
      continue;
    }
    // A new account gets the first spelling of its name.
    if (!account && !newAccounts.has(number)) newAccounts.set(number, { number, name });
    const sum = sums.get(number) ?? { ...(account ?? { number, name }), amountCents: 0 };
    sum.amountCents += amountCents ?? 0;
    sums.set(number, sum);
  }
  if (faults.length > 0) throw invalid('ROW_ERRORS', undefined, { details: detailsOf(faults) });
  return {
    sums: [...sums.values()].toSorted((a, b) => Number(a.number) - Number(b.number)),
    newAccounts: [...newAccounts.values()],
  };
}

/** Personal accounts have one digit more than general accounts, which is the maximum. */
function checkExtf(
  rows: readonly MatchedRow[],
  sums: readonly AccountSum[],
  { defaultContraAccount }: MerchandiseSettings,
): void {
  const namesOf = (matches: (sum: AccountSum) => boolean) => new Set(sums.filter(matches).map(({ name }) => name));
  const tooLong = namesOf(({ number }) => Number(number) >= 10 ** (defaultContraAccount.length + 1));
  const tooLarge = namesOf(({ amountCents }) => Math.abs(amountCents) > maxExtfCents);
  const faults = rows.flatMap(({ row, name }) => [
    ...(tooLong.has(name) ? [finding(row, 'A', 'ACCOUNT_TOO_LONG')] : []),
    ...(tooLarge.has(name) ? [finding(row, 'B', 'SUM_TOO_LARGE')] : []),
  ]);
  if (faults.length > 0) throw invalid('ROW_ERRORS', undefined, { details: detailsOf(faults) });
}
