import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { openFileStore } from './store.ts';
import { sweepOrphanFiles } from './sweep-orphans.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'portal-test-sweep-'));
afterAll(() => rm(dataDir, { recursive: true, force: true }));
const { make, system: plainSystem } = await testRuntime();
const room = openFileStore(dataDir);
const system = (files = room) => ({ ...plainSystem(), files });
const owners = [{ folder: 'avatars', table: users, path: users.avatarPath }];

const store = async ({ isOld }: { isOld: boolean }): Promise<string> => {
  const { path } = await room.write('avatars', newId(), 'webp', Buffer.from('x'), { maxBytes: 1 });
  if (isOld) await utimes(join(dataDir, 'files', path), 0, 0);
  return path;
};
const found = async (): Promise<string[]> => {
  const entries = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + '/files/'.length));
};

it('removes old files without a row, whatever the tenant of those with one, and spares what was just written', async () => {
  const orphans = await Promise.all(Array.from({ length: 1_200 }, () => store({ isOld: true })));
  const kept = await Promise.all(Array.from({ length: 20 }, () => store({ isOld: true })));
  for (const avatarPath of kept) await make.user({ avatarPath });
  const fresh = await store({ isOld: false });
  const unfinished = join(dataDir, 'files', `${orphans[0]}.0123456789ab.part`);
  await writeFile(unfinished, 'half');
  await utimes(unfinished, 0, 0);

  expect(await sweepOrphanFiles(system(), owners, new AbortController().signal)).toBe(1_201);
  expect((await found()).toSorted()).toEqual([...kept, fresh].toSorted());
  expect(await sweepOrphanFiles(system(), owners, new AbortController().signal)).toBe(0);
});

it('has nothing to do before the first upload', async () => {
  expect(
    await sweepOrphanFiles(system(openFileStore(join(dataDir, 'empty'))), owners, new AbortController().signal),
  ).toBe(0);
});

it('goes on with the other folders where one cannot be read, and says so at the end', async () => {
  const path = await store({ isOld: true });
  const unreadable: typeof room = {
    ...room,
    async *list(folder) {
      if (folder === 'images') throw new Error('no right to read');
      yield* room.list(folder);
    },
  };
  const both = [{ folder: 'images', table: users, path: users.avatarPath }, ...owners];
  await expect(sweepOrphanFiles(system(unreadable), both, new AbortController().signal)).rejects.toThrow('no right');
  expect(await found()).not.toContain(path);
});

it('stops when told to, removing nothing more', async () => {
  const path = await store({ isOld: true });
  await expect(sweepOrphanFiles(system(), owners, AbortSignal.abort())).rejects.toThrow(
    expect.objectContaining({ name: 'AbortError' }),
  );
  expect(await found()).toContain(path);
});
