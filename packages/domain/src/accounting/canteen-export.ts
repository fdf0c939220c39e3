import { conflict, invalid } from '../errors.ts';
import type { CanteenReading } from './canteen-lines.ts';
import { type CanteenSettings, missingCanteenSettings } from './canteen.ts';
import { detailsOf, finding, type FindingCode } from './findings.ts';
import { maxPayrollCents, payrollFile } from './payroll-file.ts';

/**
 * The payroll file of a list: one line per person, without people whose sum is zero. Throws 400 `ROW_ERRORS`, `SUM_NEGATIVE` and
 * `NOTHING_TO_EXPORT`, and 409 `SETTINGS_INCOMPLETE`.
 */
export function exportCanteen(
  reading: CanteenReading,
  { settings, month, allowNegative }: { settings: CanteenSettings; month: string; allowNegative: boolean },
): { name: string; text: string; people: number } {
  if (reading.hasErrors) throw invalid('ROW_ERRORS', undefined, { details: detailsOf(reading.errors) });
  const people = reading.people().filter(({ amountCents }) => amountCents !== 0);
  const findings = (code: FindingCode, matches: (cents: number) => boolean) =>
    detailsOf(people.filter(({ amountCents }) => matches(amountCents)).map(({ row }) => finding(row, null, code)));
  const tooLarge = findings('SUM_TOO_LARGE', (cents) => Math.abs(cents) > maxPayrollCents);
  if (tooLarge.length > 0) throw invalid('ROW_ERRORS', undefined, { details: tooLarge });
  const negative = findings('SUM_NEGATIVE', (cents) => cents < 0);
  if (negative.length > 0 && !allowNegative) throw invalid('SUM_NEGATIVE', undefined, { details: negative });
  if (people.length === 0) throw invalid('NOTHING_TO_EXPORT');
  const missing = missingCanteenSettings(settings);
  if (missing.length > 0) throw settingsIncomplete(missing);
  return { ...payrollFile(settings, month, people), people: people.length };
}

export const settingsIncomplete = (missing: readonly string[]) =>
  conflict('SETTINGS_INCOMPLETE', `Please complete the settings first: ${missing.join(', ')}.`, {
    details: missing.map((path) => ({ path, message: 'is not set' })),
  });
