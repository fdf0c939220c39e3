import { randomBytes } from 'node:crypto';
import { constants, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { tooLarge } from '@portal/domain/errors';
import { unfinishedPathOf } from './stored-path.ts';

/** A stream of bytes, not of text. */
export type FileContent = Uint8Array | Readable;

export interface WriteLimits {
  maxBytes: number;
  signal?: AbortSignal;
  /** File mode; default: only the owner may read and write. */
  mode?: number;
}

/** Writes a temporary file and renames it, so that `place` holds the whole content or nothing. Returns the number of bytes. */
export async function writeThenRename(place: string, content: FileContent, limits: WriteLimits): Promise<number> {
  const unfinished = unfinishedPathOf(place, randomBytes(6).toString('hex'));
  try {
    const sizeBytes = await writeDurably(unfinished, content, limits);
    await rename(unfinished, place);
    await syncPlace(dirname(place));
    return sizeBytes;
  } finally {
    await unlink(unfinished).catch(() => undefined);
  }
}

export const tooLargeFile = (maxBytes: number) => tooLarge(`The file must not be larger than ${maxBytes} bytes.`);

async function writeDurably(
  place: string,
  content: FileContent,
  { maxBytes, signal, mode = 0o600 }: WriteLimits,
): Promise<number> {
  await using file = await open(place, 'wx', mode);
  let sizeBytes = 0;
  // Holds one chunk at a time; leaving the loop early closes the stream.
  for await (const chunk of chunksOf(content, signal)) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw tooLargeFile(maxBytes);
    await file.writeFile(chunk);
  }
  await file.sync();
  return sizeBytes;
}

/** Runs the work that stores some content, and closes a stream in any case. One that breaks before it is read fails the work alone. */
export async function withContent<T>(content: FileContent, work: () => Promise<T>): Promise<T> {
  if (!(content instanceof Readable)) return work();
  content.on('error', () => undefined);
  try {
    return await work();
  } finally {
    content.destroy();
  }
}

/** The chunks of some content; an abort ends them. */
export function chunksOf(content: FileContent, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  const source = content instanceof Readable ? content : Readable.from([content]);
  if (signal) addAbortSignal(signal, source);
  return source as AsyncIterable<Uint8Array>;
}

/** Syncs a file, or a folder after a rename in it, to the disk. */
export async function syncPlace(place: string): Promise<void> {
  await using handle = await open(place, constants.O_RDONLY);
  await handle.sync();
}
