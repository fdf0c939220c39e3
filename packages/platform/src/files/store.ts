import type { Dirent } from 'node:fs';
import { lstat, mkdir, opendir, realpath, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HOUR } from '@portal/domain/time';
import { isUnwritable, throwUnwritable } from '@portal/domain/unwritable';
import { isAbsent, type OpenedFile, openPlainFile } from './plain-file.ts';
import { fillThenRename, type FileContent, syncPlace, type WriteLimits, writeThenRename } from './write-then-rename.ts';

export interface StoredFile {
  /** Relative to the store; what a row keeps. */
  path: string;
  sizeBytes: number;
}

export interface FileStore {
  /**
   * Stores `content` whole or not at all, and answers once it would survive a power cut.
   * `id` is a new one for each content, never that of an earlier file: what lies under a path never changes.
   * More than `maxBytes` is 413 `PAYLOAD_TOO_LARGE`, and the stream is closed without reading on.
   */
  write(folder: string, id: string, extension: string, content: FileContent, limits: WriteLimits): Promise<StoredFile>;
  /**
   * The same for content that `fill` writes itself, to a place of its own, where nothing is yet. Answers its path; null when `fill`
   * says that there is none.
   */
  receive(
    folder: string,
    id: string,
    extension: string,
    fill: (place: string) => Promise<boolean>,
  ): Promise<string | null>;
  /** The bytes under a stored path; null when there is no such file, or the path is none that `write` answers. */
  open(path: string): Promise<OpenedFile | null>;
  /**
   * Removes a file by a path that `write` or `list` gave. One that is gone already is fine; false for one that the disk does not let go:
   * that is left to the sweep, for its row is gone.
   */
  remove(path: string): Promise<boolean>;
  /** Every file of a folder last written over an hour ago, also what killed writers left behind. */
  list(folder: string): AsyncGenerator<string>;
}

// A younger file may still be written, or its row may not be committed yet.
const settledAfterMs = HOUR;

// The folder repeats the id's last two digits, its most random ones: 256 folders that fill evenly.
const stored = `[a-z][a-z-]{0,40}/(?<folder>[0-9a-f]{2})/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{10}\\k<folder>\\.[a-z0-9]{1,8}`;
const storedPath = new RegExp(`^${stored}$`);
// Ends as no stored path does, so nothing half-written can be opened.
const unfinishedPath = new RegExp(`^${stored}\\.[0-9a-f]{12}\\.part$`);

/**
 * The store of files under `dataDir`: `files/<folder>/<last two digits of the id>/<id>.<extension>`.
 * Order of work for callers that keep a row: write the file, commit the row, then remove the file of the row before.
 * Whatever goes wrong in between leaves a file without a row, which the sweep removes, never a row without its file.
 */
export function openFileStore(dataDir: string): FileStore {
  const root = resolve(dataDir, 'files');

  /** Where a path lies; null when its folder is missing or reached through a link. */
  async function locate(path: string): Promise<string | null> {
    try {
      const [realRoot, realFolder] = await Promise.all([realpath(root), realpath(join(root, dirname(path)))]);
      return realFolder === join(realRoot, dirname(path)) ? join(root, path) : null;
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  /** The place of a new file, for `put` to write to. */
  async function storing<T>(path: string, put: (place: string) => Promise<T>): Promise<T> {
    if (!storedPath.test(path)) throw new TypeError('A stored file needs a UUID and a plain extension.');
    try {
      // Others may have to pass through the data folder; the store itself is ours alone.
      await mkdir(dirname(root), { recursive: true });
      await makeFolder(join(root, dirname(path)));
      const place = await locate(path);
      if (place === null) throw new Error(`The folder of ${path} lies outside the file store.`);
      return await put(place);
    } catch (error) {
      return throwUnwritable(error);
    }
  }

  const pathOf = (folder: string, id: string, extension: string) => `${folder}/${id.slice(-2)}/${id}.${extension}`;

  return {
    write(folder, id, extension, content, limits) {
      const path = pathOf(folder, id, extension);
      return storing(path, async (place) => ({ path, sizeBytes: await writeThenRename(place, content, limits) }));
    },

    receive(folder, id, extension, fill) {
      const path = pathOf(folder, id, extension);
      return storing(path, async (place) => {
        const isThere = await fillThenRename(place, async (unfinished) => {
          const isFilled = await fill(unfinished);
          if (isFilled) await syncPlace(unfinished);
          return isFilled;
        });
        return isThere ? path : null;
      });
    },

    async open(path) {
      const place = storedPath.test(path) ? await locate(path) : null;
      return place === null ? null : openPlainFile(place);
    },

    async remove(path) {
      const place = storedPath.test(path) || unfinishedPath.test(path) ? await locate(path) : null;
      if (place === null) return true;
      try {
        await unlink(place);
      } catch (error) {
        if (isUnwritable(error)) return false;
        if (!isAbsent(error)) throw error;
      }
      return true;
    },

    async *list(folder) {
      for await (const inner of entriesOf(join(root, folder))) {
        if (!inner.isDirectory()) continue;
        for await (const { name } of entriesOf(join(root, folder, inner.name))) {
          const path = `${folder}/${inner.name}/${name}`;
          const isOurs = storedPath.test(path) || unfinishedPath.test(path);
          if (isOurs && (await isSettled(join(root, path)))) yield path;
        }
      }
    },
  };
}

async function makeFolder(folder: string): Promise<void> {
  const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  // A new folder is there after a power cut once the folder above it is on the disk.
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) await syncPlace(dirname(made));
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

async function isSettled(place: string): Promise<boolean> {
  try {
    const stats = await lstat(place);
    return stats.isFile() && Date.now() - stats.mtimeMs > settledAfterMs;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
