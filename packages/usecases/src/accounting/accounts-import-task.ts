import { isAccountsHeader, readAccountLines } from '@portal/domain/accounting/account-list';
import { accountLimit } from '@portal/domain/accounting/merchandise';
import { decodeText } from './reading/decode.ts';
import { openCsv } from './reading/read-csv.ts';

/** Sandbox task: reads a file and returns its accounts as JSON. */
export function run(bytes: Uint8Array): Uint8Array {
  const csv = openCsv(decodeText(bytes).utf8, (cells) => (isAccountsHeader(cells) ? true : null));
  const lines = readAccountLines();
  csv.read(accountLimit, lines.take);
  return Buffer.from(JSON.stringify(lines.end()));
}
