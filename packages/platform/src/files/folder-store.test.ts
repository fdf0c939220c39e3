import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { openFolderStore } from './folder-store.ts';
import type { FileStore } from './store.ts';

const folders: string[] = [];
let dataDir: string;
let fileStore: FileStore;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'portal-test-store-'));
  folders.push(dataDir);
  fileStore = openFolderStore(dataDir);
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const place = (path: string): string => join(dataDir, 'files', path);
/** All files in the store. */
const found = async (): Promise<string[]> => {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
};
const listed = async (): Promise<string[]> => (await Array.fromAsync(fileStore.list('avatars'))).toSorted();
const content = async (path: string, from = fileStore): Promise<string | null> => {
  const file = await from.open(path);
  return file && (await buffer(file.stream)).toString();
};
const store = async (text = 'hello'): Promise<string> =>
  (await fileStore.write('avatars', newId(), 'webp', Buffer.from(text), { maxBytes: 100 })).path;
const age = async (path: string, minutes: number): Promise<void> => {
  const then = new Date(Date.now() - minutes * 60_000);
  await utimes(place(path), then, then);
};
describe('writing', () => {
  it('stores a file under its id and type, private to this account', async () => {
    const stored = await fileStore.write(
      'avatars',
      '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e',
      'webp',
      Buffer.from('hello'),
      {
        maxBytes: 5,
      },
    );
    expect(stored).toEqual({ path: 'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp', sizeBytes: 5 });
    expect(await found()).toEqual([place(stored.path)]);
    expect(await content(stored.path)).toBe('hello');
    expect((await stat(place(stored.path))).mode & 0o777).toBe(0o600);
    for (const folder of ['', 'avatars', 'avatars/1e']) expect((await stat(place(folder))).mode & 0o777).toBe(0o700);
  });

  it('creates a missing data folder, and other processes can read the file', async () => {
    const nested = join(dataDir, 'not', 'there', 'yet');
    const { path } = await openFolderStore(nested).write('avatars', newId(), 'webp', Buffer.from('hello'), {
      maxBytes: 5,
    });
    expect(await content(path, openFolderStore(nested))).toBe('hello');
  });

  it('works if the data folder is reached through a link', async () => {
    const link = join(dataDir, 'link');
    await symlink(await mkdtemp(join(dataDir, 'disk-')), link);
    const linked = openFolderStore(link);
    const { path } = await linked.write('avatars', newId(), 'webp', Buffer.from('hello'), { maxBytes: 5 });
    expect(await content(path, linked)).toBe('hello');
  });
});

describe('writing content that cannot be stored', () => {
  it('leaves nothing and reports the error when the disk is full', async () => {
    // The shell lets the process write 16 blocks of 512 or 1,024 bytes to a file: the system refuses the rest, as a full disk does.
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -f 16 && exec "$0" "$@"',
      process.execPath,
      '--input-type=module',
      '--eval',
      `
      import { openFolderStore } from ${JSON.stringify(new URL('folder-store.ts', import.meta.url).href)};
      await openFolderStore(process.argv[1]).write('avatars', process.argv[2], 'webp', Buffer.alloc(100_000), { maxBytes: 100_000 }).catch(
        ({ kind, cause }) => console.log(kind, cause.code));`,
      dataDir,
      newId(),
    ]);
    expect(stdout).toBe('unavailable EFBIG\n');
    expect(await found()).toEqual([]);
  });

  it('stores and removes nothing in a read-only folder, and reports the error', async () => {
    const path = await store();
    await chmod(join(place(path), '..'), 0o500);
    // Without this capability, folder permissions also bind root.
    const bound = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override', '--'] : [];
    const [command, ...args] = [...bound, process.execPath, '--input-type=module', '--eval'];
    const { stdout } = await promisify(execFile)(command, [
      ...args,
      `
      import { openFolderStore } from ${JSON.stringify(new URL('folder-store.ts', import.meta.url).href)};
      const [dataDir, path, id] = process.argv.slice(1);
      const fileStore = openFolderStore(dataDir);
      const refusal = await fileStore.write('avatars', id, 'webp', Buffer.from('x'), { maxBytes: 9 }).catch((error) => error);
      console.log(await fileStore.remove(path), refusal.kind, refusal.retryAfterSec, refusal.cause.code);`,
      dataDir,
      path,
      path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('.')),
    ]);
    expect(stdout).toBe('false unavailable 60 EACCES\n');
    expect(await found()).toEqual([place(path)]);
    await chmod(join(place(path), '..'), 0o700);
    expect(await fileStore.remove(path)).toBe(true);
  });

  it('leaves no file under its path when its process is killed, and the rest to the sweep', async () => {
    const id = newId();
    const writer = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `
      import { Readable } from 'node:stream';
      import { setTimeout as pause } from 'node:timers/promises';
      import { openFolderStore } from ${JSON.stringify(new URL('folder-store.ts', import.meta.url).href)};
      const trickle = async function* () { for (;;) { yield Buffer.alloc(10_000); await pause(1); } };
      await openFolderStore(process.argv[1]).write('avatars', process.argv[2], 'webp', Readable.from(trickle()), { maxBytes: Infinity });`,
        dataDir,
        id,
      ],
      { stdio: 'inherit' },
    );
    await expect
      .poll(
        async () => (await Promise.all((await found()).map((file) => stat(file)))).some(({ size }) => size > 50_000),
        { timeout: 10_000 },
      )
      .toBe(true);
    writer.kill('SIGKILL');
    await once(writer, 'exit');

    const path = `avatars/${id.slice(-2)}/${id}.webp`;
    expect(await fileStore.open(path)).toBeNull();
    expect(await listed()).toEqual([]);
    const [left = ''] = await readdir(place(`avatars/${id.slice(-2)}`));
    expect(left).toMatch(/^[-0-9a-f]{36}\.webp\.[0-9a-f]{12}\.part$/);
    expect(await fileStore.open(`avatars/${id.slice(-2)}/${left}`)).toBeNull();

    await age(`avatars/${id.slice(-2)}/${left}`, 61);
    for (const orphan of await listed()) await fileStore.remove(orphan);
    expect(await found()).toEqual([]);
  });
});

describe('opening', () => {
  it('continues when the file is removed meanwhile', async () => {
    const path = await store();
    const file = await fileStore.open(path);
    await fileStore.remove(path);
    expect(file && (await buffer(file.stream)).toString()).toBe('hello');
  });

  it.each([
    '',
    '.',
    '/etc/passwd',
    '../secret',
    'secret',
    'avatars',
    'avatars/',
    'avatars/../../secret',
    `avatars/1e/../../../secret`,
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp/../../../../secret',
    'avatars/1f/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e',
    'avatars/1e/0198D3C0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp\n',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp\0.png',
    'avatars//1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'avatars\\1e\\0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'others/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp',
    'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp.0123456789ab.part',
  ])('finds nothing under %j, and removes nothing', async (path) => {
    await fileStore.write('avatars', '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e', 'webp', Buffer.from('hello'), {
      maxBytes: 5,
    });
    await writeFile(join(dataDir, 'secret'), 'secret');
    await writeFile(join(dataDir, 'files', 'secret'), 'secret');
    expect(await fileStore.open(path)).toBeNull();
    await fileStore.remove(path);
    expect(await found()).toHaveLength(3);
  });

  it('follows no link, neither of a file nor of a folder', async () => {
    const outside = join(dataDir, 'outside');
    await mkdir(outside);
    const [file, inFolder, inArea] = [await store('file'), await store('folder'), await store('area')];
    await rename(place(file), join(outside, 'file'));
    await symlink(join(outside, 'file'), place(file));
    const folder = place(inFolder.slice(0, 'avatars/00'.length));
    await rename(folder, join(outside, 'folder'));
    await symlink(join(outside, 'folder'), folder);
    expect(await fileStore.open(file)).toBeNull();
    expect(await fileStore.open(inFolder)).toBeNull();

    await rename(place('avatars'), join(outside, 'area'));
    await symlink(join(outside, 'area'), place('avatars'));
    expect(await fileStore.open(inArea)).toBeNull();
    await fileStore.remove(inArea);
    await expect(fileStore.write('avatars', newId(), 'webp', Buffer.from('x'), { maxBytes: 9 })).rejects.toThrow(
      'lies outside the file store',
    );
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('file');
    expect(await readFile(join(outside, 'folder', basename(inFolder)), 'utf8')).toBe('folder');
    expect(await readFile(join(outside, inArea.replace('avatars', 'area')), 'utf8')).toBe('area');
    expect((await found()).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('finds no folder or pipe of the right name', async () => {
    const [path, other] = [await store(), await store()];
    await fileStore.remove(path);
    await mkdir(place(path));
    expect(await fileStore.open(path)).toBeNull();
    await fileStore.remove(other);
    await promisify(execFile)('mkfifo', [place(other)]);
    expect(await fileStore.open(other)).toBeNull();
  });
});

describe('removing', () => {
  it('removes a link, not what it leads to', async () => {
    const path = await store();
    await rename(place(path), join(dataDir, 'kept'));
    await symlink(join(dataDir, 'kept'), place(path));
    await fileStore.remove(path);
    expect(await readFile(join(dataDir, 'kept'), 'utf8')).toBe('hello');
  });
});

describe('listing', () => {
  it('lists no file that the store did not create', async () => {
    const path = await store();
    await age(path, 61);
    const folder = place(path.slice(0, 'avatars/00'.length));
    await symlink(place(path), join(folder, `${newId().slice(0, -2)}${path.slice(8, 10)}.webp`));
    // Files lie in folders by the last two digits of their ids: this one belongs to another folder.
    const elsewhere = `${newId().slice(0, -2)}${path.slice(8, 10) === '00' ? '11' : '00'}.webp`;
    for (const name of ['README', '.hidden', elsewhere]) await writeFile(join(folder, name), 'x');
    await writeFile(place('avatars/loose'), 'x');
    await symlink(folder, place('avatars/zz'));
    for (const file of await found()) if (!file.includes('zz')) await utimes(file, 0, 0);
    expect(await listed()).toEqual([path]);
  });

  it('continues while files vanish', async () => {
    const paths = await Promise.all(Array.from({ length: 30 }, () => store()));
    await Promise.all(paths.map((path) => age(path, 61)));
    const seen: string[] = [];
    for await (const path of fileStore.list('avatars')) {
      if (seen.length === 0)
        await Promise.all(paths.filter((other) => other !== path).map((other) => fileStore.remove(other)));
      seen.push(path);
    }
    expect(seen.length).toBeLessThan(30);
  });
});
