import { finding } from '@portal/domain/accounting/findings';
import {
  emptyRows,
  type ListedAccount,
  type MerchandiseReading,
  readMerchandiseLines,
} from '@portal/domain/accounting/merchandise-lines';
import { invalid } from '@portal/domain/errors';
import { workbookMaxRows } from '../limits.ts';
import { openWorkbook } from './open-workbook.ts';
import { readSheet } from './read-sheet.ts';

/** Allows for the header, blank rows and totals. */
const sheetRows = 2 * workbookMaxRows;

/** Reads a merchandise list and matches it with an account list. Throws 400 with the code of a fault of the whole file, and 413. */
export async function readMerchandise(
  bytes: Uint8Array,
  accounts: readonly ListedAccount[],
): Promise<MerchandiseReading> {
  // Reads past the last allowed row, so that rows after it are reported instead of ignored.
  const sheet = readSheet(await openWorkbook(bytes), sheetRows + emptyRows);
  const reading = readMerchandiseLines(sheet, accounts, {
    maxRows: workbookMaxRows,
    lastRow: sheetRows,
    tooMany: () => {
      throw invalid('TOO_MANY_ROWS', `A list can have at most ${workbookMaxRows} rows. Please split it into parts.`);
    },
  });
  if (sheet.hasOthers) reading.warnings.unshift(finding(null, null, 'SHEETS_IGNORED'));
  return reading;
}
