import type { CanteenPreview } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { findingTexts } from './finding-texts.ts';

export type Finding = CanteenPreview['errors'][number];
export type FindingCode = Finding['code'];

/** The service reports no more in one answer. */
export const maxFindings = 1_000;

/** Whether the finding is about the cell with this content. */
export function cellOf(code: FindingCode): 'number' | 'name' | 'amount' | 'line' {
  if (/^(?:PERSONNEL|ACCOUNT|BADGE)|^DUPLICATE_NUMBER/.test(code)) return 'number';
  if (/^NAME|^DUPLICATE_NAME/.test(code)) return 'name';
  return /^(?:AMOUNT|SUM)/.test(code) ? 'amount' : 'line';
}

/** “Spalte „Betrag“: ist kein gültiger Betrag” */
export function findingText({ column, code }: Pick<Finding, 'column' | 'code'>): string {
  const { codes, ofColumn } = findingTexts.value;
  return column === null ? codes[code] : ofColumn(column, codes[code]);
}

/** The rows that an export or import refused. */
export function refusedRows(error: unknown): Finding[] {
  if (!(error instanceof PortalError)) return [];
  const { codes } = findingTexts.value;
  return error.details.flatMap(({ path, code, message }) => {
    const [, row, column = null] = /^rows\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
    if (row === undefined || code === undefined || !(code in codes)) return [];
    return [{ row: Number(row), column, code: code as FindingCode, message }];
  });
}
