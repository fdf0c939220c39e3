import type { Assignments, MerchandiseSettings } from '@portal/domain/accounting/merchandise';
import { checkMerchandise, exportMerchandise } from '@portal/domain/accounting/merchandise-export';
import { accountsIn, type MerchandiseInput } from './merchandise-preview-task.ts';
import { readMerchandise } from './reading/read-merchandise.ts';
import { inWindows1252 } from './writing/encode.ts';

export interface MerchandiseExportInput extends Omit<MerchandiseInput, 'accountsVersion'> {
  /** The options of the export; null only checks the upload. */
  exportOptions: { assignments: Assignments; settings: MerchandiseSettings; period: string | null; now: Date } | null;
}

export interface MerchandiseFile {
  name: string;
  bytes: Uint8Array;
  period: string;
  rows: number;
  /** Accounts that must be added to the account list, as JSON. */
  newAccounts: Uint8Array;
}

/** Sandbox task: creates the financial accounting file of a list. */
export async function run({ bytes, accounts, exportOptions }: MerchandiseExportInput): Promise<MerchandiseFile | null> {
  const listed = accountsIn(accounts);
  const reading = await readMerchandise(bytes, listed);
  if (exportOptions === null) {
    checkMerchandise(reading);
    return null;
  }
  const { name, text, period, newAccounts } = exportMerchandise(reading, { ...exportOptions, accounts: listed });
  return {
    name,
    bytes: inWindows1252(text),
    period,
    rows: reading.rows.length,
    newAccounts: Buffer.from(JSON.stringify(newAccounts)),
  };
}
