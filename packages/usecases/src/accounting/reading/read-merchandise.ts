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

/** The header, blanks between the rows and their total need room, too. */
const sheetRows = 2 * workbookMaxRows;

/** A list of merchandise compared with an account list. Throws 400 with the code of a fault of the whole file, and 413. */
export async function readMerchandise(
  bytes: Uint8Array,
  accounts: readonly ListedAccount[],
): Promise<MerchandiseReading> {
  // Further than rows may stand, so that one that does is not left out without a word.
  const sheet = readSheet(await openWorkbook(bytes), sheetRows + emptyRows);
  const reading = readMerchandiseLines(sheet, accounts, {
    maxRows: workbookMaxRows,
    lastRow: sheetRows,
    tooMany: () => {
      throw invalid('TOO_MANY_ROWS', `A list may have ${workbookMaxRows} rows at most. Please send it in parts.`);
    },
  });
  if (sheet.hasOthers) reading.warnings.unshift(finding(null, null, 'SHEETS_IGNORED'));
  return reading;
}
