import type { Assignments, MerchandiseSettings } from '@portal/domain/accounting/merchandise';
import { checkMerchandise, exportMerchandise } from '@portal/domain/accounting/merchandise-export';
import { accountsIn, type MerchandiseOrder } from './merchandise-preview-task.ts';
import { readMerchandise } from './reading/read-merchandise.ts';
import { inWindows1252 } from './writing/encode.ts';

export interface MerchandiseExportOrder extends Omit<MerchandiseOrder, 'accountsVersion'> {
  /** What the file is made with; null only checks the upload. */
  exported: { assignments: Assignments; settings: MerchandiseSettings; period: string | null; now: Date } | null;
}

export interface MerchandiseFile {
  name: string;
  bytes: Uint8Array;
  period: string;
  rows: number;
  /** The accounts the list has to take up, as JSON. */
  newAccounts: Uint8Array;
}

/** A task for a process of its own: a list in, the file for financial accounting out. */
export async function run({ bytes, accounts, exported }: MerchandiseExportOrder): Promise<MerchandiseFile | null> {
  const listed = accountsIn(accounts);
  const reading = await readMerchandise(bytes, listed);
  if (exported === null) {
    checkMerchandise(reading);
    return null;
  }
  const { name, text, period, newAccounts } = exportMerchandise(reading, { ...exported, accounts: listed });
  return {
    name,
    bytes: inWindows1252(text),
    period,
    rows: reading.rows.length,
    newAccounts: Buffer.from(JSON.stringify(newAccounts)),
  };
}
