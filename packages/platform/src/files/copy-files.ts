import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { PortalError } from '@portal/domain/errors';
import type { FileStore } from './store.ts';
import { isStoredPath, splitPath } from './stored-path.ts';

export interface CopyCounts {
  copied: number;
  copiedBytes: number;
  /** There already, with the same size or, if everything is compared, the same content. */
  same: number;
  /** Removed from the source after it was listed. */
  gone: number;
  failed: number;
}

export interface CopyOptions {
  /** Folders of the store, such as `avatars`. */
  folders: readonly string[];
  /** Reads files that are there already on both sides and compares them, instead of their sizes alone. */
  compareAll?: boolean;
  signal: AbortSignal;
  onFailure(path: string, reason: string): void;
  /** Called after each file. */
  onProgress(counts: CopyCounts): void;
}

/** Files at a time, each with at most one part of an upload in memory. */
const parallel = 6;
/** After so many failures in a row a store is out of order, and the rest would fail as well. */
const maxFailuresInARow = 20;

class CopyFault extends Error {}

/**
 * Copies every file of some folders under the same path, and reads each copy back to compare it. A copy is complete or absent, so a
 * second run goes on where the first has ended. It neither replaces nor removes anything at the target: a path's content never changes,
 * so a file that differs there is damaged on one side, and counts as failed. Throws the signal's reason, and an error of a store that
 * cannot be listed or refuses everything.
 */
export async function copyFiles(from: FileStore, to: FileStore, options: CopyOptions): Promise<CopyCounts> {
  const { folders, signal, onFailure, onProgress } = options;
  const counts: CopyCounts = { copied: 0, copiedBytes: 0, same: 0, gone: 0, failed: 0 };
  let failuresInARow = 0;

  async function copyOne(path: string): Promise<void> {
    try {
      const outcome = await copyFile(from, to, path, options);
      if (typeof outcome === 'number') {
        counts.copied += 1;
        counts.copiedBytes += outcome;
      } else counts[outcome] += 1;
      failuresInARow = 0;
    } catch (error) {
      signal.throwIfAborted();
      counts.failed += 1;
      failuresInARow += 1;
      onFailure(path, reasonOf(error));
      if (failuresInARow >= maxFailuresInARow) throw error;
    } finally {
      onProgress(counts);
    }
  }

  const paths = pathsOf(from, folders, signal);
  // Several readers of one list: each takes the next path when it is done with the last one.
  const work = async () => {
    for (let next = await paths.next(); next.done !== true; next = await paths.next()) await copyOne(next.value);
  };
  const workers = await Promise.allSettled(Array.from({ length: parallel }, work));
  await paths.return(undefined);
  signal.throwIfAborted();
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  return counts;
}

async function* pathsOf(
  from: FileStore,
  folders: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  for (const folder of folders)
    for await (const path of from.list(folder, 0)) {
      signal.throwIfAborted();
      // Leftovers of killed writers stay where they are.
      if (isStoredPath(path)) yield path;
    }
}

/** Returns the number of copied bytes, or why there was nothing to copy. */
async function copyFile(
  from: FileStore,
  to: FileStore,
  path: string,
  { compareAll = false, signal }: CopyOptions,
): Promise<number | 'same' | 'gone'> {
  const [source, present] = await Promise.all([from.open(path, () => 'none'), to.open(path, () => 'none')]);
  if (!source) return 'gone';
  if (present) {
    if (present.sizeBytes !== source.sizeBytes) throw new CopyFault('the target has a file of another size');
    if (compareAll && (await digestOf(from, path)) !== (await digestOf(to, path)))
      throw new CopyFault('the target has a file with another content');
    return 'same';
  }
  const file = await from.open(path);
  if (!file) return 'gone';
  const hash = createHash('sha256');
  const { folder, id, extension } = splitPath(path);
  const content = Readable.from(hashed(file.stream, hash), { objectMode: false });
  const { sizeBytes } = await to.write(folder, id, extension, content, { maxBytes: file.sizeBytes, signal });
  if (sizeBytes !== file.sizeBytes || (await digestOf(to, path)) !== hash.digest('hex')) {
    await to.remove(path);
    throw new CopyFault('the copy does not equal its source');
  }
  return sizeBytes;
}

async function* hashed(stream: Readable, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield chunk;
  }
}

/** SHA-256 of a file's content; null if there is none. */
async function digestOf(store: FileStore, path: string): Promise<string | null> {
  const file = await store.open(path);
  if (!file) return null;
  const hash = createHash('sha256');
  for await (const chunk of file.stream as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest('hex');
}

/** One line that says who refused. */
function reasonOf(error: unknown): string {
  if (error instanceof PortalError && error.cause instanceof Error) return error.cause.message;
  return error instanceof Error ? error.message : String(error);
}
