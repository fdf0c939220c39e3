import type { CanteenRow, CsvEncoding } from '@portal/domain/accounting/canteen';
import { type CanteenReading, findCanteenColumns, readCanteenLines } from '@portal/domain/accounting/canteen-lines';
import { csvMaxRows } from '../limits.ts';
import { decodeText } from './decode.ts';
import { openCsv } from './read-csv.ts';

/** Reads and checks a canteen's list, and passes each row to `onRow`. Throws 400 with the code of a fault of the whole file. */
export function readCanteen(
  { bytes, month }: { bytes: Uint8Array; month: string },
  onRow: (row: CanteenRow) => void = () => undefined,
): { encoding: CsvEncoding; reading: CanteenReading } {
  const { encoding, utf8 } = decodeText(bytes);
  const csv = openCsv(utf8, findCanteenColumns);
  const reading = readCanteenLines(csv.header, { headerLine: csv.line, maxLines: csvMaxRows, month }, onRow);
  csv.read(csvMaxRows, reading.take);
  return { encoding, reading };
}
