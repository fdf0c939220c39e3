import type { CsvEncoding } from '@portal/domain/accounting/canteen';
import { type CanteenReading, findCanteenColumns, readCanteenLines } from '@portal/domain/accounting/canteen-lines';
import { csvMaxRows } from '../limits.ts';
import { decodeText } from './decode.ts';
import { openCsv } from './read-csv.ts';

/** A canteen's list, checked. Throws 400 with the code of a fault of the whole file. */
export function readCanteen(bytes: Uint8Array, month: string): { encoding: CsvEncoding; reading: CanteenReading } {
  const { encoding, utf8 } = decodeText(bytes);
  const csv = openCsv(utf8, findCanteenColumns);
  const reading = readCanteenLines(csv.header, csv.line, month);
  csv.read(csvMaxRows, reading.take);
  return { encoding, reading };
}
