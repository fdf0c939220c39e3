import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { startObjectStore } from '@portal/testing/servers/object-store';
import { openFolderStore } from './folder-store.ts';
import { openObjectStore } from './object-store.ts';
import type { FileStore } from './store.ts';

/** A new, empty store, and what its tests see and do behind its back. */
interface Kit {
  files: FileStore;
  /** Another process's view of the same store. */
  again(): FileStore;
  /** Paths of all whole files. */
  found(): Promise<string[]>;
  /** What writers that are not done hold in the store. */
  unfinished(): Promise<string[]>;
  age(path: string, minutes: number): Promise<void>;
}

const folder = await mkdtemp(join(tmpdir(), 'portal-test-store-'));
const server = await startObjectStore();
const silent = { warn: () => undefined };
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function inFolder(): Promise<Kit> {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const root = join(dataDir, 'files');
  const all = async () => {
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
  };
  return {
    files: openFolderStore(dataDir),
    again: () => openFolderStore(dataDir),
    found: async () => (await all()).filter((name) => !name.endsWith('.part')).toSorted(),
    unfinished: async () => (await all()).filter((name) => name.endsWith('.part')),
    async age(path, minutes) {
      const then = new Date(Date.now() - minutes * 60_000);
      await utimes(join(root, path), then, then);
    },
  };
}

async function inObjectStore(): Promise<Kit> {
  const settings = server.settings();
  const before = await server.uploads();
  return {
    files: openObjectStore(settings, silent),
    again: () => openObjectStore(settings, silent),
    found: async () => (await server.keys(settings.prefix)).map((key) => key.slice(settings.prefix.length)),
    unfinished: async () => (await server.uploads()).filter((id) => !before.includes(id)),
    age: (path, minutes) => server.touch(`${settings.prefix}${path}`, new Date(Date.now() - minutes * 60_000)),
  };
}

const MiB = 1024 * 1024;
const write = (files: FileStore, content: Uint8Array | Readable, maxBytes = 100 * MiB) =>
  files.write('avatars', newId(), 'webp', content, { maxBytes });
const store = async ({ files }: Kit, text = 'hello'): Promise<string> => (await write(files, Buffer.from(text))).path;
const content = async (files: FileStore, path: string, part?: { start: number; end: number }) => {
  const file = await files.open(path, part && (() => part));
  return file && (await buffer(file.stream)).toString();
};
const listed = async ({ files }: Kit, minAgeMs?: number) =>
  (await Array.fromAsync(files.list('avatars', minAgeMs))).toSorted();
/** Bytes of which no two blocks are equal. */
const bytesOf = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(at, at);
  return bytes;
};
const inChunks = (bytes: Buffer, size: number): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })(),
    { objectMode: false },
  );
/** An endless stream of chunks of 100,000 bytes; `given` counts them. */
const endless = () => {
  const source = {
    given: 0,
    stream: new Readable({
      highWaterMark: 100_000,
      read() {
        source.given += 1;
        this.push(Buffer.alloc(100_000));
      },
    }),
  };
  return source;
};

describe.each([
  ['a folder', inFolder],
  ['an object store', inObjectStore],
])('files in %s', (_name, open) => {
  it('are stored under id and type, and other processes read them', async () => {
    const kit = await open();
    const id = '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e';
    const stored = await kit.files.write('avatars', id, 'webp', Buffer.from('hello'), { maxBytes: 5 });
    expect(stored).toEqual({ path: `avatars/1e/${id}.webp`, sizeBytes: 5 });
    expect(await content(kit.again(), stored.path)).toBe('hello');
    expect(await kit.found()).toEqual([stored.path]);
  });

  it('come from streams of any length, also of none', async () => {
    const kit = await open();
    for (const length of [0, 5, 300_000, 8 * MiB, 8 * MiB + 1, 17 * MiB]) {
      const bytes = bytesOf(length);
      const { path, sizeBytes } = await write(kit.files, inChunks(bytes, 70_001));
      expect(sizeBytes).toBe(length);
      const file = await kit.files.open(path);
      expect(file?.sizeBytes).toBe(length);
      expect(file && (await buffer(file.stream)).equals(bytes)).toBe(true);
    }
    expect(await kit.unfinished()).toEqual([]);
  });

  it('are written many at a time', async () => {
    const kit = await open();
    const paths = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const bytes = Buffer.from(`file ${n}`);
        return (await write(kit.files, n % 2 === 0 ? bytes : Readable.from([bytes]))).path;
      }),
    );
    expect(await Promise.all(paths.map((path) => content(kit.files, path)))).toEqual(paths.map((_, n) => `file ${n}`));
  });

  it.each([
    ['../avatars', newId(), 'webp'],
    ['avatars', '../../../../etc/passwd', 'webp'],
    ['avatars', newId().toUpperCase(), 'webp'],
    ['avatars', '', 'webp'],
    ['avatars', newId(), ''],
    ['avatars', newId(), '../x'],
    ['avatars', newId(), 'we\0p'],
    ['avatars', `${newId()}\n`, 'webp'],
    ['avatars?acl', newId(), 'webp'],
  ])('refuse area %j, id %j, extension %j', async (area, id, extension) => {
    const kit = await open();
    await expect(kit.files.write(area, id, extension, Buffer.from('x'), { maxBytes: 9 })).rejects.toThrow(TypeError);
    expect(await kit.found()).toEqual([]);
  });

  it('end at the limit, read no further and leave nothing', async () => {
    const kit = await open();
    for (const maxBytes of [1_000_000, 20 * MiB]) {
      const source = endless();
      await expect(write(kit.files, source.stream, maxBytes)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
      expect(source.stream.destroyed).toBe(true);
      expect(source.given).toBeLessThan(maxBytes / 100_000 + 5);
    }
    await expect(write(kit.files, Buffer.alloc(51), 50)).rejects.toMatchObject({ kind: 'too_large' });
    expect([await kit.found(), await kit.unfinished()]).toEqual([[], []]);
  });

  it.each([1_000, 9 * MiB])('leave nothing of a stream that breaks after %d bytes', async (length) => {
    const kit = await open();
    const broken = new Readable({ read() {} });
    broken.push(Buffer.alloc(length));
    const writing = write(kit.files, broken);
    if (length > 8 * MiB) await expect.poll(kit.unfinished).toHaveLength(1);
    expect(await kit.found()).toEqual([]);
    broken.destroy(new Error('the line is dead'));
    await expect(writing).rejects.toThrow('the line is dead');

    const closed = new Readable({ read() {} });
    closed.push(Buffer.alloc(length));
    const second = write(kit.files, closed);
    closed.destroy();
    await expect(second).rejects.toThrow('Premature close');
    expect([await kit.found(), await kit.unfinished()]).toEqual([[], []]);
  });

  it('fail if their stream has broken before it is read', async () => {
    const kit = await open();
    const broken = new Readable({ read() {} });
    broken.destroy(new Error('the line is dead'));
    await expect(write(kit.files, broken)).rejects.toThrow('the line is dead');
    expect(await kit.found()).toEqual([]);
  });

  it('leave nothing after their signal is aborted', async () => {
    const kit = await open();
    const stalled = new Readable({ read() {} });
    stalled.push(Buffer.alloc(9 * MiB));
    const stop = new AbortController();
    const limits = { maxBytes: 50 * MiB, signal: stop.signal };
    const writing = kit.files.write('avatars', newId(), 'webp', stalled, limits);
    await expect.poll(kit.unfinished).toHaveLength(1);
    stop.abort();
    await expect(writing).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(stalled.destroyed).toBe(true);
    await expect(kit.files.write('avatars', newId(), 'webp', Buffer.from('x'), limits)).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    );
    expect([await kit.found(), await kit.unfinished()]).toEqual([[], []]);
  });

  it('are read in parts', async () => {
    const kit = await open();
    const path = await store(kit, 'abcdefghij');
    for (const [start, end, text] of [
      [0, 3, 'abcd'],
      [4, 9, 'efghij'],
      [9, 9, 'j'],
    ] as const) {
      const file = await kit.files.open(path, (sizeBytes) => (sizeBytes === 10 ? { start, end } : null));
      expect([file?.sizeBytes, file?.part]).toEqual([10, { start, end }]);
      expect(file && (await buffer(file.stream)).toString()).toBe(text);
    }
    expect((await kit.files.open(path, () => null))?.part).toBeNull();
  });

  it('tell their size alone', async () => {
    const kit = await open();
    const file = await kit.files.open(await store(kit), () => 'none');
    expect([file?.sizeBytes, file && (await buffer(file.stream)).length]).toEqual([5, 0]);
    expect(await kit.files.open(`avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp`, () => 'none')).toBeNull();
  });

  it('pass on what the choice of a part throws', async () => {
    const kit = await open();
    const choosing = kit.files.open(await store(kit), () => {
      throw new RangeError('no such part');
    });
    await expect(choosing).rejects.toThrow('no such part');
  });

  it('may be dropped unread, and are readable afterwards', async () => {
    const kit = await open();
    const { path } = await write(kit.files, bytesOf(3 * MiB));
    for (let n = 0; n < 20; n += 1) (await kit.files.open(path))?.stream.destroy();
    const file = await kit.files.open(path);
    expect(file && (await buffer(file.stream)).length).toBe(3 * MiB);
  });

  it.each([
    '',
    '.',
    '/etc/passwd',
    'avatars',
    'avatars/../../secret',
    'avatars/1f/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp\n',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp?acl',
    'avatars//1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'others/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp.0123456789ab.part',
  ])('are not found under %j, which removes nothing', async (path) => {
    const kit = await open();
    await kit.files.write('avatars', '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e', 'webp', Buffer.from('x'), { maxBytes: 5 });
    expect(await kit.files.open(path)).toBeNull();
    expect(await kit.files.remove(path)).toBe(true);
    expect(await kit.found()).toHaveLength(1);
  });

  it('are removed once; a missing one is fine, also in an empty store', async () => {
    const kit = await open();
    expect(await kit.files.remove('avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp')).toBe(true);
    expect(await listed(kit, 0)).toEqual([]);
    const [path, other] = [await store(kit), await store(kit, 'stays')];
    for (let n = 0; n < 2; n += 1) expect(await kit.files.remove(path)).toBe(true);
    expect(await kit.files.open(path)).toBeNull();
    expect(await content(kit.files, other)).toBe('stays');
  });

  it('are listed once they are older than an hour, or than the caller wants', async () => {
    const kit = await open();
    const paths: string[] = [];
    for (let n = 0; n < 3; n += 1) paths.push(...(await Promise.all(Array.from({ length: 100 }, () => store(kit)))));
    await kit.files.write('avatars-of-others', newId(), 'webp', Buffer.from('x'), { maxBytes: 5 });
    await Promise.all(paths.slice(0, 260).map((path) => kit.age(path, 61)));
    await Promise.all(paths.slice(260).map((path) => kit.age(path, 59)));
    expect(await listed(kit)).toEqual(paths.slice(0, 260).toSorted());
    expect(await listed(kit, 0)).toEqual(paths.toSorted());
  });

  it('go on being listed while they vanish', async () => {
    const kit = await open();
    const paths = await Promise.all(Array.from({ length: 30 }, () => store(kit)));
    await Promise.all(paths.map((path) => kit.age(path, 61)));
    for await (const path of kit.files.list('avatars')) await kit.files.remove(path);
    expect(await kit.found()).toEqual([]);
  });
});
