import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import type { AddressPolicy } from '../http/checked-address.ts';
import { guardedDownload } from '../http/guarded-fetch.ts';
import { asSourceFailure, refusedBy, SourceFailure } from './source-failure.ts';

/** A month has 27,500 notices and 94 MB, a day a twentieth of that. */
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
  /** Where the archive goes; open for reading and writing, and empty. */
  file: FileHandle;
  signal: AbortSignal;
}

/** Fetches the archive of a day into a file. Throws a SourceFailure. */
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

/** A notice of the archive, or why one of its entries is none. */
export type ExportEntry = { name: string; bytes: Buffer } | { name: string; refusal: string };

/**
 * The entries of an archive, those of one notice in the order of their versions. What breaks a bound is named and left out, and
 * the rest goes on. Throws a SourceFailure for what is no archive.
 */
export async function* exportEntries(
  file: FileHandle,
  { entries = exportBounds.entries }: { entries?: number } = {},
): AsyncGenerator<ExportEntry, void> {
  const zip = await openZip(file);
  const { files, refused } = await directoryOf(zip, entries);
  yield* refused;
  let room: number = exportBounds.totalBytes;
  for (const { name, entry } of files) {
    if (entry.uncompressedSize > exportBounds.entryBytes) {
      yield { name, refusal: 'is larger than 5 MB.' };
    } else if (entry.uncompressedSize > room) {
      yield { name, refusal: 'is beyond the 2 GB that are read of an archive.' };
    } else {
      room -= entry.uncompressedSize;
      yield await contentOf(zip, name, entry);
    }
  }
}

/** The file stays open: it is its owner's. */
async function openZip(file: FileHandle): Promise<ZipFile> {
  try {
    // Names are judged here: one bad name must not end the whole archive.
    return await fromFdPromise(file.fd, { autoClose: false, decodeStrings: false });
  } catch (error) {
    const { size } = await file.stat();
    throw new SourceFailure(size === 0 ? 'The archive is an empty file.' : 'The file is damaged or not an archive.', {
      cause: error,
    });
  }
}

/** `<uuid>-<version>.xml` or `<number>-<version>.xml`; nothing that names a folder. */
const fileName = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{1,18})-(\d{1,6})\.xml$/i;

interface File {
  name: string;
  notice: string;
  version: number;
  entry: Entry;
}

async function directoryOf(
  zip: ZipFile,
  most: number,
): Promise<{ files: File[]; refused: { name: string; refusal: string }[] }> {
  const files: File[] = [];
  const refused: { name: string; refusal: string }[] = [];
  let count = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      count += 1;
      if (count > most) {
        const left = zip.entryCount - most;
        refused.push({ name: 'the archive', refusal: `has ${left} entries more than are read of it.` });
        break;
      }
      const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
      const [, notice, version] = fileName.exec(name) ?? [];
      if (notice === undefined) refused.push({ name: shown(name), refusal: 'has a name that no notice has.' });
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
    // Unpacking stops where it comes to more than was said.
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return crc32(bytes) === entry.crc32 ? { name, bytes } : { name, refusal: 'has a wrong checksum.' };
  } catch {
    return { name, refusal: 'cannot be unpacked.' };
  }
}
