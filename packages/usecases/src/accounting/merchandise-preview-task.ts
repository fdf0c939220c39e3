import type { MerchandisePreview } from '@portal/domain/accounting/merchandise';
import type { ListedAccount } from '@portal/domain/accounting/merchandise-lines';
import { readMerchandise } from './reading/read-merchandise.ts';

export interface MerchandiseOrder {
  bytes: Uint8Array;
  /** The account list as JSON: it may be long, and bytes wait for nobody. */
  accounts: Uint8Array;
  accountsVersion: number;
}

/** A task for a process of its own: a list in, the JSON of its preview out. */
export async function run({ bytes, accounts, accountsVersion }: MerchandiseOrder): Promise<Uint8Array> {
  const { header, rows, errors, warnings } = await readMerchandise(bytes, accountsIn(accounts));
  const preview: MerchandisePreview = {
    header,
    rows: rows.map(({ account: _account, ...row }) => row),
    errors,
    warnings,
    accountsVersion,
  };
  return Buffer.from(JSON.stringify(preview));
}

export const accountsIn = (json: Uint8Array): ListedAccount[] =>
  JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()) as ListedAccount[];
