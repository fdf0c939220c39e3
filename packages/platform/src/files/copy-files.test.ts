import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { startObjectStore } from '@portal/testing/servers/object-store';
import { type CopyCounts, copyFiles } from './copy-files.ts';
import { openFolderStore } from './folder-store.ts';
import { usualTimes } from './object-store-calls.ts';
import { openObjectStore } from './object-store.ts';
import type { FileStore } from './store.ts';

const folder = await mkdtemp(join(tmpdir(), 'portal-test-copy-'));
const server = await startObjectStore();
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const silent = { warn: () => undefined };
const inFolder = async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  return { store: openFolderStore(dataDir), placeOf: (path: string) => join(dataDir, 'files', path) };
};
const inObjectStore = (settings = server.settings(), times = usualTimes) =>
  openObjectStore(settings, silent, { times });
const write = async (store: FileStore, content: string | Buffer, area = 'avatars') =>
  (await store.write(area, newId(), 'webp', Buffer.from(content), { maxBytes: 50_000_000 })).path;
const textOf = async (store: FileStore, path: string) => {
  const file = await store.open(path);
  return file && (await buffer(file.stream)).toString();
};
const paths = async (store: FileStore) => (await Array.fromAsync(store.list('avatars', 0))).toSorted();

async function copy(
  from: FileStore,
  to: FileStore,
  { compareAll = false, signal = new AbortController().signal } = {},
) {
  const failures: string[] = [];
  let last: CopyCounts | null = null;
  const counts = await copyFiles(from, to, {
    folders: ['avatars', 'images'],
    compareAll,
    signal,
    onFailure: (path, reason) => failures.push(`${path}: ${reason}`),
    onProgress: (now) => (last = { ...now }),
  });
  if (last !== null) expect(last).toEqual(counts);
  return { ...counts, failures };
}

describe.each([
  ['a folder', 'an object store'],
  ['an object store', 'a folder'],
  ['a folder', 'a folder'],
])('a copy from %s to %s', (from, to) => {
  const open = async (kind: string) => (kind === 'a folder' ? (await inFolder()).store : inObjectStore());

  it('has every file of its folders, and a second one copies only what is new', async () => {
    const [source, target] = [await open(from), await open(to)];
    const texts = Array.from({ length: 40 }, (_, n) => `file ${n}`);
    const stored = await Promise.all(texts.map((text) => write(source, text)));
    const large = await write(source, Buffer.alloc(9_000_000, 'portal'), 'images');
    await write(source, 'of nobody', 'others');
    const total = texts.join('').length + 9_000_000;
    const none = { same: 0, gone: 0, failed: 0, failures: [] };
    expect(await copy(source, target)).toEqual({ ...none, copied: 41, copiedBytes: total });
    expect(await Promise.all(stored.map((path) => textOf(target, path)))).toEqual(texts);
    expect((await target.open(large))?.sizeBytes).toBe(9_000_000);
    expect(await Array.fromAsync(target.list('others', 0))).toEqual([]);

    await source.remove(stored[0] ?? '');
    const added = await write(source, 'new');
    expect(await copy(source, target)).toEqual({ ...none, copied: 1, copiedBytes: 3, same: 40 });
    expect(await copy(source, target, { compareAll: true })).toEqual({ ...none, copied: 0, copiedBytes: 0, same: 41 });
    expect(await textOf(target, added)).toBe('new');
    expect(await textOf(target, stored[0] ?? '')).toBe('file 0');
  });
});

it('leaves what writers have not completed where it is', async () => {
  const { store: source, placeOf } = await inFolder();
  const path = await write(source, 'whole');
  await writeFile(`${placeOf(path)}.0123456789ab.part`, 'half');
  const target = inObjectStore();
  expect(await copy(source, target)).toMatchObject({ copied: 1, failed: 0 });
  expect(await paths(target)).toEqual([path]);
});

it('replaces no file that differs, but names it', async () => {
  const { store: source, placeOf } = await inFolder();
  const { store: target, placeOf: placeThere } = await inFolder();
  const [short, other] = [await write(source, 'hello'), await write(source, 'world')];
  await copy(source, target);
  await truncate(placeOf(short), 3);
  await writeFile(placeThere(other), 'wOrld');
  expect(await copy(source, target)).toMatchObject({
    same: 1,
    failed: 1,
    failures: [`${short}: the target has a file of another size`],
  });
  const compared = await copy(source, target, { compareAll: true });
  expect(compared.failures.toSorted()).toEqual(
    [
      `${short}: the target has a file of another size`,
      `${other}: the target has a file with another content`,
    ].toSorted(),
  );
  expect([await textOf(target, short), await textOf(target, other)]).toEqual(['hello', 'wOrld']);
});

it('keeps no copy that reads back differently', async () => {
  const { store: source } = await inFolder();
  const { store: target, placeOf } = await inFolder();
  const path = await write(source, 'hello');
  const corrupting: FileStore = {
    ...target,
    async write(...args) {
      const stored = await target.write(...args);
      await writeFile(placeOf(stored.path), 'hell0');
      return stored;
    },
  };
  expect(await copy(source, corrupting)).toMatchObject({
    copied: 0,
    failed: 1,
    failures: [`${path}: the copy does not equal its source`],
  });
  expect(await paths(target)).toEqual([]);
});

it('goes on with the other files after a failure, and counts what was deleted meanwhile', async () => {
  const { store: source } = await inFolder();
  const stored = await Promise.all(Array.from({ length: 30 }, (_, n) => write(source, `file ${n}`)));
  const [broken = '', gone = ''] = stored;
  const failing: FileStore = {
    ...source,
    async open(path, partOf) {
      if (path === broken) throw new Error('the disk is broken');
      if (path === gone) await source.remove(gone);
      return source.open(path, partOf);
    },
  };
  const target = inObjectStore();
  expect(await copy(failing, target)).toMatchObject({
    copied: 28,
    gone: 1,
    failed: 1,
    failures: [`${broken}: the disk is broken`],
  });
});

it('stops on abort, and soon if the target refuses everything; a later run copies the rest', async () => {
  const { store: source } = await inFolder();
  await Promise.all(Array.from({ length: 60 }, (_, n) => write(source, `file ${n}`)));
  const settings = server.settings();
  const [target, impatient] = [inObjectStore(settings), inObjectStore(settings, { ...usualTimes, callMs: 400 })];
  const stop = new AbortController();
  const counting: FileStore = {
    ...source,
    open(path, partOf) {
      if (!partOf) stop.abort();
      return source.open(path, partOf);
    },
  };
  await expect(copy(counting, target, { signal: stop.signal })).rejects.toThrow(
    expect.objectContaining({ name: 'AbortError' }),
  );
  await server.halt();
  await expect(copy(source, impatient)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await server.resume();
  const { copied, same } = await copy(source, target);
  expect(copied + same).toBe(60);
  expect(await paths(target)).toEqual(await paths(source));
});
