import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import type { AddressPolicy } from '../http/checked-address.ts';
import { guardedDownload } from '../http/guarded-fetch.ts';
import { asSourceFailure, refusedBy, SourceFailure } from './source-failure.ts';

/** A month has 27,500 notices and 94 MB; a day has a twentieth of that. */
export const exportBounds = {
  downloadBytes: 256 * 1024 * 1024,
  entries: 20_000,
  entryBytes: 5 * 1024 * 1024,
  totalBytes: 2 * 1024 * 1024 * 1024,
} as const;

const downloadTimeoutMs = 10 * 60_000;
const stallMs = 30_000;

export interface ExportRequest {
  url: string;
  policy: AddressPolicy;
  /** `2026-11-19` */
  day: string;
  /** Receives the archive; empty and open for reading and writing. */
  file: FileHandle;
  signal: AbortSignal;
}

/** Downloads the archive of a day into a file. Throws a SourceFailure. */
export async function downloadExport({ url, policy, day, file, signal }: ExportRequest): Promise<void> {
  const address = new URL(url);
  address.searchParams.set('pubDay', day);
  address.searchParams.set('format', 'eforms.zip');
  const answer = await guardedDownload(
    address,
    { ...policy, httpsOnly: false },
    { path: file, maxBytes: exportBounds.downloadBytes, timeoutMs: downloadTimeoutMs, stallMs, signal },
  ).catch(asSourceFailure(address.host));
  if (answer.status !== 200) throw refusedBy(address.host, answer);
}

/** A notice of the archive, or the reason why an entry was refused. */
export type ExportEntry = { name: string; bytes: Buffer } | { name: string; refusal: string };

/**
 * The entries of an archive; versions of the same notice are in ascending order. Entries that exceed a limit are refused, and reading goes
 * on. Throws a SourceFailure for a file that is not an archive.
 */
export async function* exportEntries(
  file: FileHandle,
  { entries = exportBounds.entries }: { entries?: number } = {},
): AsyncGenerator<ExportEntry, void> {
  const zip = await openZip(file);
  const { files, refused } = await directoryOf(zip, entries);
  yield* refused;
  let remainingBytes: number = exportBounds.totalBytes;
  for (const { name, entry } of files) {
    if (entry.uncompressedSize > exportBounds.entryBytes) {
      yield { name, refusal: 'is larger than 5 MB.' };
    } else if (entry.uncompressedSize > remainingBytes) {
      yield { name, refusal: 'exceeds the 2 GB that the portal reads of an archive.' };
    } else {
      remainingBytes -= entry.uncompressedSize;
      yield await contentOf(zip, name, entry);
    }
  }
}

/** Leaves the file open; the caller closes it. */
async function openZip(file: FileHandle): Promise<ZipFile> {
  try {
    // Names are checked below: one bad name must not end the whole archive.
    return await fromFdPromise(file.fd, { autoClose: false, decodeStrings: false });
  } catch (error) {
    const { size } = await file.stat();
    throw new SourceFailure(size === 0 ? 'The archive is an empty file.' : 'The file is damaged or not an archive.', {
      cause: error,
    });
  }
}

/** `<uuid>-<version>.xml` or `<number>-<version>.xml`, without a folder. */
const fileName = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{1,18})-(\d{1,6})\.xml$/i;

interface File {
  name: string;
  notice: string;
  version: number;
  entry: Entry;
}

async function directoryOf(
  zip: ZipFile,
  maxEntries: number,
): Promise<{ files: File[]; refused: { name: string; refusal: string }[] }> {
  const files: File[] = [];
  const refused: { name: string; refusal: string }[] = [];
  let count = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      count += 1;
      if (count > maxEntries) {
        const left = zip.entryCount - maxEntries;
        refused.push({ name: 'the archive', refusal: `has ${left} entries more than the portal reads.` });
        break;
      }
      const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
      const [, notice, version] = fileName.exec(name) ?? [];
      if (notice === undefined) refused.push({ name: shown(name), refusal: 'does not have the name of a notice.' });
      else files.push({ name, notice: notice.toLowerCase(), version: Number(version), entry });
    }
  } catch (error) {
    throw new SourceFailure('The archive is damaged.', { cause: error });
  }
  files.sort((a, b) => (a.notice < b.notice ? -1 : a.notice > b.notice ? 1 : a.version - b.version));
  return { files, refused };
}

const shown = (name: string): string => name.replace(/\p{C}/gu, '').slice(0, 100);

async function contentOf(zip: ZipFile, name: string, entry: Entry): Promise<ExportEntry> {
  if (entry.isEncrypted()) return { name, refusal: 'is encrypted.' };
  try {
    // Unpacking stops if it yields more bytes than the entry declares.
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return crc32(bytes) === entry.crc32 ? { name, bytes } : { name, refusal: 'has a wrong checksum.' };
  } catch {
    return { name, refusal: 'cannot be unpacked.' };
  }
}
