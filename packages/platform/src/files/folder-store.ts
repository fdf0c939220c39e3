import type { Dirent } from 'node:fs';
import { lstat, mkdir, opendir, realpath, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isUnwritable, throwUnwritable } from '@portal/domain/unwritable';
import { isAbsent, openPlainFile } from './plain-file.ts';
import { type FileStore, minOrphanAgeMs } from './store.ts';
import { isStoredPath, pathOf, readUnfinishedPath } from './stored-path.ts';
import { syncPlace, withContent, writeThenRename } from './write-then-rename.ts';

/** The store of files in the folder `files` below `dataDir`. */
export function openFolderStore(dataDir: string): FileStore {
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

  return {
    write: (folder, id, extension, content, limits) =>
      withContent(content, async () => {
        const path = pathOf(folder, id, extension);
        try {
          // Other accounts may need to pass through the data folder; the store itself is private.
          await mkdir(dirname(root), { recursive: true });
          await makeFolder(join(root, dirname(path)));
          const place = await locate(path);
          if (place === null) throw new Error(`The folder of ${path} lies outside the file store.`);
          return { path, sizeBytes: await writeThenRename(place, content, limits) };
        } catch (error) {
          return throwUnwritable(error);
        }
      }),

    async open(path, partOf) {
      const place = isStoredPath(path) ? await locate(path) : null;
      return place === null ? null : openPlainFile(place, partOf);
    },

    async remove(path) {
      const place = isOurs(path) ? await locate(path) : null;
      if (place === null) return true;
      try {
        await unlink(place);
      } catch (error) {
        if (isUnwritable(error)) return false;
        if (!isAbsent(error)) throw error;
      }
      return true;
    },

    async *list(folder, minAgeMs = minOrphanAgeMs) {
      for await (const subfolder of entriesOf(join(root, folder))) {
        if (!subfolder.isDirectory()) continue;
        for await (const { name } of entriesOf(join(root, folder, subfolder.name))) {
          const path = `${folder}/${subfolder.name}/${name}`;
          if (isOurs(path) && (await isOldEnough(join(root, path), minAgeMs))) yield path;
        }
      }
    },

    close: async () => {},
  };
}

const isOurs = (path: string): boolean => isStoredPath(path) || readUnfinishedPath(path) !== null;

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

async function isOldEnough(place: string, minAgeMs: number): Promise<boolean> {
  try {
    const stats = await lstat(place);
    return stats.isFile() && (minAgeMs === 0 || Date.now() - stats.mtimeMs > minAgeMs);
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
