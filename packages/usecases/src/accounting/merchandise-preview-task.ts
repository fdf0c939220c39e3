import type { MerchandisePreview } from '@portal/domain/accounting/merchandise';
import type { ListedAccount } from '@portal/domain/accounting/merchandise-lines';
import { readMerchandise } from './reading/read-merchandise.ts';

export interface MerchandiseInput {
  bytes: Uint8Array;
  /** The account list as JSON bytes, which are cheap to transfer even for a long list. */
  accounts: Uint8Array;
  accountsVersion: number;
}

/** Sandbox task: returns the preview of a list as JSON. */
export async function run({ bytes, accounts, accountsVersion }: MerchandiseInput): Promise<Uint8Array> {
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
