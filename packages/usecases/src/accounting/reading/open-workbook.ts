import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { invalid, PortalError, tooLarge } from '@portal/domain/errors';
import { unpackedMaxBytes } from '../limits.ts';

/** Parts of a workbook by name, with one character per byte. */
export type WorkbookParts = Map<string, string>;

/** Far more than real workbooks have. */
const maxEntries = 2_000;
const contentTypes = '[Content_Types].xml';
/** The parts that cells are made of. Pictures, macros, links to other files and other parts are not unpacked. */
const isNeeded = (name: string): boolean =>
  name === contentTypes || /^(?:_rels\/\.rels|xl\/(?:_rels\/|worksheets\/)?[^/]+\.(?:xml|rels))$/.test(name);
/** Placeholder sizes in a local header; the real size is stored elsewhere. */
const deferredSizes = [0, 0xffffffff];

/**
 * Unpacks the needed parts of an XLSX file. Before unpacking, it compares the directory with the local headers and adds up all sizes. The
 * workbook reader gets only the parts, never the archive. Throws 400 `FILE_UNREADABLE` for an invalid file, and 413 for one that is too
 * large.
 */
export async function openWorkbook(bytes: Uint8Array): Promise<WorkbookParts> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!file.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004'))) throw unreadable('This is not an XLSX file.');
  try {
    const zip = await fromBufferPromise(file, { autoClose: false });
    const entries = await checkedEntries(zip, file.length);
    if (!entries.some(({ fileName }) => fileName === contentTypes)) throw unreadable('This is not an XLSX file.');
    const parts: WorkbookParts = new Map();
    for (const entry of entries) if (isNeeded(entry.fileName)) parts.set(entry.fileName, await textOf(zip, entry));
    return parts;
  } catch (error) {
    throw error instanceof PortalError ? error : unreadable('This XLSX file is damaged.', error);
  }
}

async function checkedEntries(zip: ZipFile, fileBytes: number): Promise<Entry[]> {
  if (zip.entryCount > maxEntries) throw tooLarge(`The file contains more than ${maxEntries} parts.`);
  const entries = await Array.fromAsync(zip.eachEntry());
  const unpacked = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (unpacked > unpackedMaxBytes) throw tooLarge(`Unpacked, the file has more than ${unpackedMaxBytes} bytes.`);
  // A thousand overlapping parts would unpack the same bytes a thousand times.
  const packed = entries.reduce((sum, { compressedSize }) => sum + compressedSize, 0);
  if (packed > fileBytes) throw unreadable('The parts of the file overlap.');
  if (new Set(entries.map(({ fileName }) => fileName)).size < entries.length)
    throw unreadable('The file contains the same part twice.');
  for (const entry of entries) {
    const { uncompressedSize } = await zip.readLocalFileHeaderPromise(entry);
    if (![entry.uncompressedSize, ...deferredSizes].includes(uncompressedSize))
      throw unreadable('The file states two different sizes for the same part.');
    if (entry.isEncrypted()) throw unreadable('The file is locked. Please save it without a password.');
  }
  return entries;
}

/** One character per byte, the form that the workbook reader expects. Refuses a part whose size or checksum is wrong. */
async function textOf(zip: ZipFile, entry: Entry): Promise<string> {
  const content = Buffer.concat((await Array.fromAsync(await zip.openReadStreamPromise(entry))) as Buffer[]);
  if (crc32(content) !== entry.crc32) throw unreadable('This XLSX file is damaged.');
  return content.toString('latin1');
}

export const unreadable = (what: string, cause?: unknown) =>
  invalid('FILE_UNREADABLE', `${what} Please save the list as XLSX again.`, { cause });
