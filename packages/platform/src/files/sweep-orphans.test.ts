import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { startObjectStore } from '@portal/testing/servers/object-store';
import { openFolderStore } from './folder-store.ts';
import { openObjectStore } from './object-store.ts';
import type { FileStore } from './store.ts';
import { sweepOrphanFiles } from './sweep-orphans.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'portal-test-sweep-'));
afterAll(() => rm(dataDir, { recursive: true, force: true }));
const { make, system: plainSystem } = await testRuntime();
const system = (files: FileStore) => ({ ...plainSystem(), files });
const owners = [{ folder: 'avatars', table: users, path: users.avatarPath }];

/** A file store per test, because the sweep covers all files of a store. */
function openTestStore(name: string) {
  const folder = join(dataDir, name, 'files');
  const fileStore = openFolderStore(join(dataDir, name));
  return {
    folder,
    fileStore,
    async store({ isOld }: { isOld: boolean }): Promise<string> {
      const { path } = await fileStore.write('avatars', newId(), 'webp', Buffer.from('x'), { maxBytes: 1 });
      if (isOld) await utimes(join(folder, path), 0, 0);
      return path;
    },
    async found(): Promise<string[]> {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
    },
  };
}

it('removes old files without a row, and keeps new files and files with a row of any tenant', async () => {
  const { folder, fileStore, store, found } = openTestStore('usual');
  const orphans = await Promise.all(Array.from({ length: 1_200 }, () => store({ isOld: true })));
  const kept = await Promise.all(Array.from({ length: 20 }, () => store({ isOld: true })));
  for (const avatarPath of kept) await make.user({ avatarPath });
  const fresh = await store({ isOld: false });
  const unfinished = join(folder, `${orphans[0]}.0123456789ab.part`);
  await writeFile(unfinished, 'half');
  await utimes(unfinished, 0, 0);

  expect(await sweepOrphanFiles(system(fileStore), owners, new AbortController().signal)).toBe(1_201);
  expect((await found()).toSorted()).toEqual([...kept, fresh].toSorted());
  expect(await sweepOrphanFiles(system(fileStore), owners, new AbortController().signal)).toBe(0);
});

it('has nothing to do before the first upload', async () => {
  expect(await sweepOrphanFiles(system(openTestStore('empty').fileStore), owners, new AbortController().signal)).toBe(
    0,
  );
});

it('goes on with the other folders if one cannot be read, and fails at the end', async () => {
  const { fileStore, store, found } = openTestStore('unreadable');
  const path = await store({ isOld: true });
  const unreadable: typeof fileStore = {
    ...fileStore,
    async *list(folder) {
      if (folder === 'images') throw new Error('no right to read');
      yield* fileStore.list(folder);
    },
  };
  const both = [{ folder: 'images', table: users, path: users.avatarPath }, ...owners];
  await expect(sweepOrphanFiles(system(unreadable), both, new AbortController().signal)).rejects.toThrow('no right');
  expect(await found()).not.toContain(path);
});

it('works in an object store, whose clock decides what is old', async () => {
  const server = await startObjectStore();
  onTestFinished(() => server.stop());
  const settings = server.settings();
  const fileStore = openObjectStore(settings, { warn: () => undefined });
  const store = async (minutes: number) => {
    const { path } = await fileStore.write('avatars', newId(), 'webp', Buffer.from('x'), { maxBytes: 1 });
    await server.touch(`${settings.prefix}${path}`, new Date(Date.now() - minutes * 60_000));
    return path;
  };
  const orphans = await Promise.all(Array.from({ length: 20 }, () => store(61)));
  const [kept, fresh] = [await store(61), await store(59)];
  await make.user({ avatarPath: kept });
  expect(await sweepOrphanFiles(system(fileStore), owners, new AbortController().signal)).toBe(orphans.length);
  expect(await server.keys(settings.prefix)).toEqual([kept, fresh].map((path) => settings.prefix + path).toSorted());
});

it('stops on abort and removes nothing more', async () => {
  const { fileStore, store, found } = openTestStore('stopped');
  const path = await store({ isOld: true });
  await expect(sweepOrphanFiles(system(fileStore), owners, AbortSignal.abort())).rejects.toThrow(
    expect.objectContaining({ name: 'AbortError' }),
  );
  expect(await found()).toContain(path);
});
