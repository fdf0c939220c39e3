import type { Dirent } from 'node:fs';
import { lstat, mkdir, opendir, realpath, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HOUR } from '@portal/domain/time';
import { isUnwritable, throwUnwritable } from '@portal/domain/unwritable';
import { isAbsent, type OpenedFile, openPlainFile } from './plain-file.ts';
import { fillThenRename, type FileContent, syncPlace, type WriteLimits, writeThenRename } from './write-then-rename.ts';

export interface StoredFile {
  /** Relative to the store; rows hold this path. */
  path: string;
  sizeBytes: number;
}

export interface FileStore {
  /**
   * Stores `content` completely or not at all; resolves once it would survive a power cut.
   * Use a new `id` for each content: the content of a path never changes.
   * Throws 413 `PAYLOAD_TOO_LARGE` above `maxBytes`, and closes the stream without reading on.
   */
  write(folder: string, id: string, extension: string, content: FileContent, limits: WriteLimits): Promise<StoredFile>;
  /**
   * Like `write`, but `fill` writes the content to the given new file. Returns the stored path; null if `fill` returns false.
   */
  receive(
    folder: string,
    id: string,
    extension: string,
    fill: (place: string) => Promise<boolean>,
  ): Promise<string | null>;
  /** The content of a stored path; null if there is no such file or `write` never returns such a path. */
  open(path: string): Promise<OpenedFile | null>;
  /**
   * Removes a file by a path from `write` or `list`; a missing file is fine. Returns false if the file system refuses; the sweep removes
   * the file later, because its row is gone.
   */
  remove(path: string): Promise<boolean>;
  /** All files of a folder that were last written over an hour ago, including leftovers of killed writers. */
  list(folder: string): AsyncGenerator<string>;
}

// A younger file may still be written, or its row may not be committed yet.
const minAgeMs = HOUR;

// The folder repeats the id's last two digits, its most random ones: 256 folders that fill evenly.
const stored = `[a-z][a-z-]{0,40}/(?<folder>[0-9a-f]{2})/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{10}\\k<folder>\\.[a-z0-9]{1,8}`;
const storedPath = new RegExp(`^${stored}$`);
// No stored path ends like this, so half-written files cannot be opened.
const unfinishedPath = new RegExp(`^${stored}\\.[0-9a-f]{12}\\.part$`);

/**
 * The store of files under `dataDir`: `files/<folder>/<last two digits of the id>/<id>.<extension>`.
 * Callers with a row write the file, commit the row, then remove the previous row's file. A failure in between leaves a file without a
 * row, which the sweep removes, but never a row without its file.
 */
export function openFileStore(dataDir: string): FileStore {
  const root = resolve(dataDir, 'files');

  /** The absolute path; null if its folder is missing or reached through a link. */
  async function locate(path: string): Promise<string | null> {
    try {
      const [realRoot, realFolder] = await Promise.all([realpath(root), realpath(join(root, dirname(path)))]);
      return realFolder === join(realRoot, dirname(path)) ? join(root, path) : null;
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  /** Creates the folder of a new file and lets `put` write the file. */
  async function storeAt<T>(path: string, put: (place: string) => Promise<T>): Promise<T> {
    if (!storedPath.test(path)) throw new TypeError('A stored file needs a UUID and a plain extension.');
    try {
      // Other accounts may need to pass through the data folder; the store itself is private.
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
      return storeAt(path, async (place) => ({ path, sizeBytes: await writeThenRename(place, content, limits) }));
    },

    receive(folder, id, extension, fill) {
      const path = pathOf(folder, id, extension);
      return storeAt(path, async (place) => {
        const isStored = await fillThenRename(place, async (unfinished) => {
          const isFilled = await fill(unfinished);
          if (isFilled) await syncPlace(unfinished);
          return isFilled;
        });
        return isStored ? path : null;
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
      for await (const subfolder of entriesOf(join(root, folder))) {
        if (!subfolder.isDirectory()) continue;
        for await (const { name } of entriesOf(join(root, folder, subfolder.name))) {
          const path = `${folder}/${subfolder.name}/${name}`;
          const isOurs = storedPath.test(path) || unfinishedPath.test(path);
          if (isOurs && (await isOldEnough(join(root, path)))) yield path;
        }
      }
    },
  };
}

async function makeFolder(folder: string): Promise<void> {
  const firstCreated = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (firstCreated === undefined) return;
  // A new folder survives a power cut once its parent folder is synced.
  for (let created = folder; created.length >= firstCreated.length; created = dirname(created))
    await syncPlace(dirname(created));
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

async function isOldEnough(place: string): Promise<boolean> {
  try {
    const stats = await lstat(place);
    return stats.isFile() && Date.now() - stats.mtimeMs > minAgeMs;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
