import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, getFileNameLowLevel, validateFileName, type ZipFile } from 'yauzl';
import { uploadLimits } from '@portal/domain/certificates/certificates';
import { PortalError } from '@portal/domain/errors';
import { damaged, NotUsableError, tooMuch, unsupported } from './not-usable.ts';

export interface ArchiveEntry {
  name: string;
  /** The content, or the reason why it cannot be used. */
  content: Uint8Array | NotUsableError;
}

/** Folders and files that operating systems add. */
const isSystemEntry = (name: string): boolean => /(^|\/)(__MACOSX\/|\.DS_Store$)/.test(name) || name.endsWith('/');

/**
 * The files in a ZIP. Checks the directory before unpacking. Throws 413 `ARCHIVE_TOO_LARGE`, and a NotUsableError for a damaged archive.
 */
export async function readArchive(bytes: Uint8Array): Promise<ArchiveEntry[]> {
  try {
    const zip = await fromBufferPromise(Buffer.from(bytes), { autoClose: false, decodeStrings: false });
    const entries = await directoryOf(zip);
    checkSizes(entries, bytes.length);
    checkOverlaps(entries);
    const files = entries.map((entry) => ({ name: nameOf(entry), entry })).filter(({ name }) => !isSystemEntry(name));
    return await Array.fromAsync(files, async ({ name, entry }) => ({
      name: shown(name),
      content: await contentOf(zip, name, entry),
    }));
  } catch (error) {
    if (error instanceof PortalError || error instanceof NotUsableError) throw error;
    throw damaged('This archive cannot be read.', error);
  }
}

async function directoryOf(zip: ZipFile): Promise<Entry[]> {
  if (zip.entryCount > uploadLimits.archiveEntries)
    throw tooLarge(`The archive contains more than ${uploadLimits.archiveEntries} files.`);
  return Array.fromAsync(zip.eachEntry());
}

function checkSizes(entries: Entry[], packedBytes: number): void {
  const unpacked = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (unpacked > uploadLimits.unpackedBytes)
    throw tooLarge(`Unpacked, the archive has more than ${uploadLimits.unpackedBytes} bytes.`);
  const isBomb = (unpackedSize: number, packedSize: number) =>
    unpackedSize > uploadLimits.ratioFromBytes && unpackedSize > uploadLimits.ratio * packedSize;
  if (
    isBomb(unpacked, packedBytes) ||
    entries.some(({ uncompressedSize, compressedSize }) => isBomb(uncompressedSize, compressedSize))
  )
    throw tooLarge(`Unpacked, the archive is more than ${uploadLimits.ratio} times as large.`);
}

/** Overlapping entries would unpack the same bytes several times. */
function checkOverlaps(entries: Entry[]): void {
  const headerBytes = 30;
  const sorted = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  for (const [index, entry] of sorted.entries()) {
    const next = sorted[index + 1];
    const end = entry.relativeOffsetOfLocalHeader + headerBytes + entry.fileNameLength + entry.compressedSize;
    if (next && end > next.relativeOffsetOfLocalHeader) throw damaged('The files in this archive overlap.');
  }
}

/** Placeholder sizes in a local header; the real size is stored elsewhere. */
const deferredSizes = [0, 0xffffffff];

const nameOf = ({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string =>
  getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);

const shown = (name: string): string => name.replace(/\p{C}/gu, '').slice(0, 200);

async function contentOf(zip: ZipFile, name: string, entry: Entry): Promise<Uint8Array | NotUsableError> {
  if (validateFileName(name) !== null) return damaged('Its path points outside the archive.');
  if (entry.isEncrypted()) return unsupported('It is encrypted in the archive. Please unpack the archive first.');
  if (entry.uncompressedSize > uploadLimits.fileBytes)
    return tooMuch(`A file can have at most ${uploadLimits.fileBytes} bytes.`);
  try {
    const header = await zip.readLocalFileHeaderPromise(entry);
    if (![entry.uncompressedSize, ...deferredSizes].includes(header.uncompressedSize))
      return damaged('The archive states two different sizes for it.');
    const chunks = await Array.fromAsync(await zip.openReadStreamPromise(entry));
    const content = Buffer.concat(chunks as Buffer[]);
    return crc32(content) === entry.crc32 ? content : damaged('Its checksum in the archive is wrong.');
  } catch (error) {
    return damaged('It cannot be unpacked.', error);
  }
}

const tooLarge = (message: string): PortalError => new PortalError('ARCHIVE_TOO_LARGE', message);
