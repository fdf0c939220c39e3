import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import type { CsvEncoding } from '@portal/domain/accounting/canteen';
import { invalid } from '@portal/domain/errors';

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);
/** UTF-32 first, because its mark begins like one of UTF-16. */
const otherMarks: [name: string, mark: Buffer][] = [
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0])],
  ['UTF-32', Buffer.from([0, 0, 0xfe, 0xff])],
  ['UTF-16', Buffer.from([0xff, 0xfe])],
  ['UTF-16', Buffer.from([0xfe, 0xff])],
];

/** A text file as UTF-8 without a byte order mark, and its original encoding. Throws 400 `ENCODING_UNSUPPORTED`. */
export function decodeText(bytes: Uint8Array): { encoding: CsvEncoding; utf8: Buffer } {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const other = otherMarks.find(([, mark]) => file.subarray(0, mark.length).equals(mark));
  if (other) throw unsupported(`This file is written in ${other[0]}.`);
  if (file.includes(0)) throw unsupported('This is not a text file, or it is written in UTF-16.');
  const isMarked = file.subarray(0, 3).equals(utf8Mark);
  const body = isMarked ? file.subarray(3) : file;
  if (isUtf8(body)) return { encoding: isMarked ? 'utf-8-bom' : 'utf-8', utf8: body };
  if (isMarked) throw unsupported('This file is marked as UTF-8, but it is not UTF-8.');
  return { encoding: 'windows-1252', utf8: Buffer.from(iconv.decode(file, 'win1252')) };
}

const unsupported = (what: string) =>
  invalid('ENCODING_UNSUPPORTED', `${what} Please save it as CSV in UTF-8 or Windows-1252.`);
