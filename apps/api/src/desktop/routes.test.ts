import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { desktopPlatforms } from '@portal/domain/desktop/packages';
import { newId } from '@portal/domain/ids';
import { openLog } from '@portal/platform/log';
import { writeManifest } from '@portal/usecases/desktop/write-manifest';
import { testApp } from '../../testing/app.ts';
import { buildApp } from '../app.ts';

const root = await mkdtemp(join(tmpdir(), 'portal-desktop-'));
afterAll(() => rm(root, { recursive: true }));
const folder = join(root, 'packages');
const outside = join(root, 'outside.exe');
await writeFile(outside, 'no package of ours');

const { app, runtime, request } = await testApp({
  env: { DESKTOP_DIR: folder, PUBLIC_URL: 'https://portal.example.org' },
});

const bytes = Buffer.from('the installer for windows');
const setup = 'Portal_1.4.2_x64-setup.exe';
const sha256 = hash('sha256', bytes);
const entry = { file: setup, size: bytes.length, sha256, signature: 'c2lnbmF0dXJl' };
const good = {
  version: '1.4.2',
  channel: 'live',
  commit: '3f2c1ab',
  updateVersion: '1.4.2',
  pubDate: '2026-11-20T09:30:00+01:00',
  notes: 'Behebt einen Fehler.\nUnd noch einen.',
  platforms: { 'windows-x86_64': entry },
};
/** Replaces the manifest atomically, as a release does. */
async function put(manifest: unknown): Promise<void> {
  const place = join(folder, `${newId()}.part`);
  await writeFile(place, typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  await rename(place, join(folder, 'manifest.json'));
}
beforeEach(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await writeFile(join(folder, setup), bytes);
  await put(good);
});

const latest = () => request({ url: '/desktop/latest' });
const download = (platform: string, headers: Record<string, string> = {}) =>
  request({ url: `/desktop/download/${platform}`, headers });
const update = (query: Record<string, string | string[]> = {}) =>
  request({
    url: '/desktop/update',
    query: { target: 'windows', arch: 'x86_64', current_version: '1.4.1', ...query },
  });
const statuses = async () =>
  (await Promise.all([latest(), download('windows-x86_64'), update()])).map(({ statusCode }) => statusCode);

describe('the current release', () => {
  it('lists the available packages', async () => {
    expect((await latest()).json()).toEqual({
      version: '1.4.2',
      channel: 'live',
      commit: '3f2c1ab',
      updateVersion: '1.4.2',
      platforms: [
        {
          platform: 'windows-x86_64',
          fileName: setup,
          sizeBytes: bytes.length,
          sha256,
          signed: true,
          url: 'https://portal.example.org/desktop/download/windows-x86_64',
        },
      ],
    });
  });

  it('lists only valid packages of the six platforms and leaves out each wrong one separately', async () => {
    await symlink(outside, join(folder, 'link.exe'));
    await mkdir(join(folder, 'folder.exe'));
    const { signature: _, ...unsigned } = entry;
    await put({
      ...good,
      updateVersion: undefined,
      platforms: {
        'windows-x86_64': { ...entry, file: '../outside.exe', size: 18 },
        'windows-aarch64': { ...entry, file: 'link.exe', size: 18 },
        'darwin-x86_64': { ...entry, size: bytes.length + 1 },
        'darwin-aarch64': { ...entry, size: `${bytes.length}` },
        'linux-x86_64': unsigned,
        'linux-riscv64': entry,
        ['__proto__']: entry,
      },
    });
    const { updateVersion, platforms } = (await latest()).json();
    expect(updateVersion).toBeNull();
    expect(platforms).toEqual([expect.objectContaining({ platform: 'linux-x86_64', signed: false })]);
    for (const platform of desktopPlatforms)
      expect([platform, (await download(platform)).statusCode]).toEqual([
        platform,
        platform === 'linux-x86_64' ? 200 : 404,
      ]);
  });

  it.each([
    ['an absolute name', { file: outside, size: 18 }],
    ['the folder', { file: '.' }],
    ['the folder above', { file: '..' }],
    ['a folder', { file: 'folder.exe' }],
    ['a backslash', { file: '..\\outside.exe' }],
    ['a NUL', { file: `${setup}\0` }],
    ['no name', { file: '' }],
    ['a number for a name', { file: 5 }],
    ['a file that is not there', { file: 'none.exe' }],
    ['another size', { size: bytes.length - 1 }],
    ['a size of nothing', { size: 0 }],
    ['a fractional size', { size: 24.5 }],
    ['no size', { size: undefined }],
    ['no hash', { sha256: undefined }],
    ['half a hash', { sha256: sha256.slice(32) }],
    ['a hash of other letters', { sha256: 'g'.repeat(64) }],
    ['a signature that is no text', { signature: 7 }],
  ])('leaves out a package with %s, and so does the feed', async (_what, wrong) => {
    await mkdir(join(folder, 'folder.exe'));
    await put({ ...good, platforms: { 'windows-x86_64': { ...entry, ...wrong } } });
    expect((await latest()).json()).toMatchObject({ version: '1.4.2', platforms: [] });
    expect(await statuses()).toEqual([200, 404, 404]);
  });
});

describe('without a usable manifest everything is 404', () => {
  const { version: _version, ...nameless } = good;
  it.each<[string, unknown]>([
    ['not JSON', '{"version": '],
    ['empty', ''],
    ['a list', []],
    ['null', 'null'],
    ['no version', nameless],
    ['a number for a version', { ...good, version: 1.4 }],
    ['an invalid date', { ...good, pubDate: 'yesterday' }],
    ['a list of platforms', { ...good, platforms: [entry] }],
    ['notes that are no text', { ...good, notes: ['a'] }],
    ['a key twice', JSON.stringify(good).replace('{', '{"updateVersion":"9.0.0",')],
    ['a key of a package twice', JSON.stringify(good).replace('"file"', '"fi\\u006ce":"x","file"')],
    ['10 MB', JSON.stringify({ ...good, padding: 'x'.repeat(10_000_000) })],
    ['a deep nest', '['.repeat(500_000)],
  ])('%s', async (_what, manifest) => {
    await put(manifest);
    expect(await statuses()).toEqual([404, 404, 404]);
    await put(good);
    expect(await statuses()).toEqual([200, 200, 200]);
  });

  it('a link, a folder, a pipe, nothing', async () => {
    const place = join(folder, 'manifest.json');
    await rename(place, join(root, 'manifest.json'));
    expect(await statuses()).toEqual([404, 404, 404]);
    await symlink(join(root, 'manifest.json'), place);
    expect(await statuses()).toEqual([404, 404, 404]);
    await rm(place);
    await mkdir(place);
    expect(await statuses()).toEqual([404, 404, 404]);
    await rm(place, { recursive: true });
    await promisify(execFile)('mkfifo', [place]);
    expect(await statuses()).toEqual([404, 404, 404]);
  });

  it('no folder, and no setting', async () => {
    await rm(folder, { recursive: true });
    expect(await statuses()).toEqual([404, 404, 404]);
    const { app: bare } = await appWith({ config: { ...runtime.config, desktopDir: null } });
    for (const url of ['latest', 'download/linux-x86_64', 'update?target=linux&arch=x86_64&current_version=1.0.0'])
      expect((await bare.inject(`/desktop/${url}`)).statusCode).toBe(404);
  });

  it('logs once that the manifest cannot be used', async () => {
    const { app: watched, lines } = await appWith({});
    await put({ ...good, notes: 5 });
    await pause(150);
    for (let n = 0; n < 3; n += 1) await watched.inject('/desktop/latest');
    expect(lines.filter(({ level }) => level === 'error').map(({ msg }) => msg)).toEqual([
      'the desktop manifest cannot be used',
    ]);
  });
});

describe('a download', () => {
  it('returns the file with its name', async () => {
    const answer = await download('windows-x86_64');
    expect([answer.statusCode, answer.rawPayload]).toEqual([200, bytes]);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename=${setup}`,
      'accept-ranges': 'bytes',
      etag: `"${sha256}"`,
      'x-content-type-options': 'nosniff',
    });
  });

  it('continues where it broke off, and starts again if the file has changed', async () => {
    const headers = { range: 'bytes=4-', 'if-range': `"${sha256}"` };
    const rest = await download('windows-x86_64', headers);
    expect([rest.statusCode, rest.rawPayload]).toEqual([206, bytes.subarray(4)]);
    const other = Buffer.from('another installer');
    await writeFile(join(folder, 'Portal_1.4.3_x64-setup.exe'), other);
    await writeManifest(folder, { version: '1.4.3', channel: 'live', commit: 'x' }, new Date());
    const anew = await download('windows-x86_64', headers);
    expect([anew.statusCode, anew.rawPayload]).toEqual([200, other]);
    expect((await download('windows-x86_64', { range: 'bytes=99-' })).statusCode).toBe(416);
    expect((await download('windows-x86_64', { 'if-none-match': anew.headers.etag ?? '' })).statusCode).toBe(304);
  });

  it('does not read the file for HEAD', async () => {
    const { statusCode, headers, body } = await request({ method: 'HEAD', url: '/desktop/download/windows-x86_64' });
    expect([statusCode, headers['content-length'], headers.etag, body]).toEqual([200, '25', `"${sha256}"`, '']);
  });

  const hostile = [
    '..',
    '../outside.exe',
    '..%2Foutside.exe',
    '..%2foutside.exe',
    '%2e%2e%2foutside.exe',
    '%2e%2e/outside.exe',
    '..%5Coutside.exe',
    '..\\outside.exe',
    '%252e%252e%252foutside.exe',
    '..%c0%afoutside.exe',
    '..%ef%bc%8foutside.exe',
    '....//outside.exe',
    '/etc/passwd',
    '%2Fetc%2Fpasswd',
    'file:%2F%2F%2Fetc%2Fpasswd',
    'manifest.json',
    setup,
    `${setup}%00`,
    'windows-x86_64%00',
    'windows-x86_64%00.exe',
    'windows-x86_64/',
    'windows-x86_64/..',
    'windows-x86_64%2F..%2Fmanifest.json',
    'windows-x86_64.exe',
    'windows-x86_64%20',
    '%20windows-x86_64',
    'windows-x86_64%0a',
    'Windows-x86_64',
    'windows-x86_64;v=1',
    'windows%2Dx86_65',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    '0',
    '%',
    '%ff',
    'a'.repeat(150),
    'CON',
    'link',
    'pipe',
    'device',
  ];
  it.each(hostile)('of the platform %s reads nothing', async (platform) => {
    await symlink(outside, join(folder, 'link'));
    await symlink('/dev/zero', join(folder, 'device'));
    await promisify(execFile)('mkfifo', [join(folder, 'pipe')]);
    const answer = await download(platform);
    expect([400, 404]).toContain(answer.statusCode);
    expect(answer.json()).toMatchObject({ code: expect.any(String) });
    // The same over a raw socket, without a client that normalizes the path.
    expect(await rawStatus(`/desktop/download/${platform}`)).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  it.each(['link', 'device', 'pipe', 'folder', 'loop', '../outside.exe', 'link-to-folder/outside.exe'])(
    'of a file that is a %s ends at once',
    async (file) => {
      await symlink(outside, join(folder, 'link'));
      await symlink('/dev/zero', join(folder, 'device'));
      await symlink('loop', join(folder, 'loop'));
      await symlink(root, join(folder, 'link-to-folder'));
      await mkdir(join(folder, 'folder'));
      await promisify(execFile)('mkfifo', [join(folder, 'pipe')]);
      for (const size of [18, 1, 4_096]) {
        await put({ ...good, platforms: { 'windows-x86_64': { ...entry, file, size } } });
        expect(await statuses()).toEqual([200, 404, 404]);
      }
    },
  );

  it('breaks off when its file is truncated meanwhile', async () => {
    const large = Buffer.alloc(40_000_000, 1);
    await writeFile(join(folder, 'large.exe'), large);
    await put({
      ...good,
      platforms: {
        'windows-x86_64': { ...entry, file: 'large.exe', size: large.length, sha256: hash('sha256', large) },
      },
    });
    const answer = await fetch(`${await baseUrl()}/desktop/download/windows-x86_64`);
    expect(answer.headers.get('content-length')).toBe(String(large.length));
    await truncate(join(folder, 'large.exe'), 1_000);
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });

  it('returns one complete file, or is refused, while the manifest is replaced a hundred times', async () => {
    const url = `${await baseUrl()}/desktop/download/windows-x86_64`;
    const hashes = new Set<string>();
    const ends: (number | string)[] = [];
    const files = [0, 1, 2].map((n) => Buffer.alloc(300_000 + n * 50_000, `release ${n}`));
    for (const file of files) hashes.add(hash('sha256', file));
    const place = join(folder, 'Portal_x64-setup.exe');
    async function replaceAll(): Promise<void> {
      for (let n = 0; n < 100; n += 1) {
        const part = join(folder, `${newId()}.part`);
        await writeFile(part, files[n % files.length] ?? '');
        await rename(part, place);
        await writeManifest(folder, { version: `2.0.${n}`, channel: 'live', commit: 'x' }, new Date());
        await pause(5);
      }
    }
    await rm(join(folder, setup));
    const replaced = replaceAll();
    let isOver = false;
    void replaced.finally(() => (isOver = true));
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        do {
          // A client that continues a download: first a part of the file, then the rest of the same file.
          const first = await fetch(url, { headers: { range: 'bytes=0-99999' } });
          const begun = Buffer.from(await first.arrayBuffer());
          if (first.status !== 206) {
            ends.push(first.status);
            continue;
          }
          const headers = { range: 'bytes=100000-', 'if-range': first.headers.get('etag') ?? '' };
          const rest = await fetch(url, { headers });
          const ended = Buffer.from(await rest.arrayBuffer());
          const whole = rest.status === 206 ? Buffer.concat([begun, ended]) : ended;
          ends.push(rest.status === 206 || rest.status === 200 ? hash('sha256', whole) : rest.status);
          if (rest.status < 300) expect(hash('sha256', whole)).toBe(rest.headers.get('etag')?.slice(1, -1));
        } while (!isOver);
      }),
    );
    await replaced;
    expect(ends.length).toBeGreaterThanOrEqual(10);
    for (const end of ends) expect([...hashes, 404, 416]).toContain(end);
    expect(ends.filter((end) => typeof end === 'string').length).toBeGreaterThan(2);
  });
});

describe('the update feed', () => {
  const higher = ['0.0.0', '1.4.1', 'v1.4.1', '1.3.99', '1.4.2-rc.1', '1.4.2-0', '0.99.99+build', '1.4.1+99'];
  const same = ['1.4.2', 'v1.4.2', '1.4.2+build.7'];
  const lower = ['1.4.3', '1.5.0-alpha', '2.0.0', '99999999999999999999.0.0', '1.4.10'];
  const unreadable = [
    '',
    'dev',
    '1.4',
    '1',
    '1.4.2.1',
    '01.4.2',
    ' 1.4.1',
    '1.4.1 ',
    '-1.0.0',
    'v',
    '1.4.1-',
    'NaN',
    '1'.repeat(101),
  ];
  const signed = { ...good, platforms: { 'windows-x86_64': entry } };
  const withEntry = (change: object) => ({ ...good, platforms: { 'windows-x86_64': { ...entry, ...change } } });

  // The app's updater expects 200 with the five fields, 204 without a body, or 404 for any other problem.
  it.each<[string, unknown, (version: string) => number]>([
    ['newer and signed', signed, (version) => (higher.includes(version) ? 200 : 204)],
    ['a version with a v', { ...good, updateVersion: 'v1.4.2' }, (version) => (higher.includes(version) ? 200 : 204)],
    [
      'blanks around it',
      { ...good, updateVersion: `${' '.repeat(100)}1.4.2\t\r\n` },
      (version) => (higher.includes(version) ? 200 : 204),
    ],
    [
      'a pre-release',
      { ...good, updateVersion: '1.4.2-0' },
      (v) => (higher.includes(v) && !v.startsWith('1.4.2') ? 200 : 204),
    ],
    ['not signed', withEntry({ signature: undefined }), () => 204],
    ['signed with nothing', withEntry({ signature: ' \n' }), () => 204],
    ['signed with null', withEntry({ signature: null }), () => 204],
    ['no update version', { ...good, updateVersion: undefined }, () => 204],
    ['a number for the update version', { ...good, updateVersion: 2 }, () => 204],
    ['an empty update version', { ...good, updateVersion: '' }, () => 204],
    ['an update version that is too long', { ...good, updateVersion: '9'.repeat(101) }, () => 204],
    ['null for the update version', { ...good, updateVersion: null }, () => 204],
    ['an update version that cannot be compared', { ...good, updateVersion: 'dev' }, () => 204],
    ['a package of another size', withEntry({ size: 1 }), () => 404],
    ['no package for the platform', { ...good, platforms: {} }, () => 404],
    ['no manifest', 'none', () => 404],
  ])('%s', async (_state, manifest, statusFor) => {
    await put(manifest);
    for (const version of [...higher, ...same, ...lower, ...unreadable]) {
      const { statusCode, body, headers } = await update({ current_version: version });
      expect([version, statusCode]).toEqual([version, statusFor(version)]);
      if (statusCode === 204) expect([body, headers['content-type']]).toEqual(['', undefined]);
    }
  });

  it('returns the five fields, with a link at the origin the caller uses', async () => {
    const offer = {
      version: '1.4.2',
      pub_date: '2026-11-20T08:30:00.000Z',
      url: 'https://portal.example.org/desktop/download/windows-x86_64',
      signature: 'c2lnbmF0dXJl',
      notes: good.notes,
    };
    expect((await update()).json()).toEqual(offer);
    for (const [origin, base] of [
      ['https://intern.example.org', 'https://intern.example.org'],
      ['https://Intern.example.org:443', 'https://intern.example.org'],
      ['https://intern.example.org:8443', 'https://intern.example.org:8443'],
      ['https://[2001:db8::1]', 'https://[2001:db8::1]'],
      ['http://localhost:3000', 'http://localhost:3000'],
      ['http://127.0.0.1', 'http://127.0.0.1'],
      ['http://[::1]:3000', 'http://[::1]:3000'],
    ] as const)
      expect((await update({ origin })).json()).toEqual({ ...offer, url: `${base}/desktop/download/windows-x86_64` });
  });

  it.each([
    '',
    'null',
    'portal.example.org',
    '//portal.example.org',
    'https://',
    'https:portal.example.org',
    'http://portal.example.org',
    'http://127.0.0.1.example.org',
    'http://localhost.example.org',
    'http://10.0.0.1',
    'ftp://portal.example.org',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://portal.example.org/path',
    'https://portal.example.org?a=1',
    'https://portal.example.org#x',
    'https://ada:secret@portal.example.org',
    'https://portal.example.org\\@evil.example.org',
    'https://portal.example.org\n',
    ' https://portal.example.org',
    'https://portal example.org',
    'https://portal.example.org:99999',
  ])('refuses the origin %j', async (origin) => {
    expect((await update({ origin })).json()).toMatchObject({ statusCode: 400, code: 'INVALID_ORIGIN' });
  });

  it.each(['target', 'arch', 'current_version'])('needs %s, once', async (name) => {
    const { [name]: _, ...others } = { target: 'windows', arch: 'x86_64', current_version: '1.4.1' } as Record<
      string,
      string
    >;
    const answer = await request({ url: '/desktop/update', query: others });
    expect(answer.json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED', details: [{ path: name }] });
    expect((await update({ [name]: ['a', 'b'] })).statusCode).toBe(400);
  });

  it.each([
    { target: 'beos' },
    { target: 'Windows' },
    { target: '' },
    { target: '../windows' },
    { target: '__proto__', arch: '' },
    { target: 'windows-x86_64', arch: '' },
    { arch: 'i686' },
  ])('offers nothing for %j', async (query) => {
    expect((await update(query)).statusCode).toBe(204);
  });

  it('logs at debug level why it offers nothing', async () => {
    const { app: watched, lines } = await appWith({});
    const ask = (query: string) => watched.inject(`/desktop/update?arch=x86_64&${query}`);
    await ask('target=beos&current_version=1.0.0');
    await ask('target=windows&current_version=dev');
    await ask('target=windows&current_version=1.4.2');
    await put(withEntry({ signature: null }));
    await ask('target=windows&current_version=1.0.0');
    await put({ ...good, updateVersion: null });
    await ask('target=windows&current_version=1.0.0');
    expect(
      lines.filter(({ level, msg }) => level === 'debug' && msg === 'no desktop update').map(({ reason }) => reason),
    ).toEqual([
      'there are no packages for this system and processor',
      'the version of the caller cannot be read',
      'the caller has this version or a newer one',
      'the package is not signed',
      'the manifest offers no version',
    ]);
  });

  it.skipIf(process.platform !== 'linux')('reads no files while nothing changes', async () => {
    await put({ ...good, notes: 'x'.repeat(90_000) });
    await pause(200);
    await update();
    const readSoFar = async () => Number(/^rchar: (\d+)/m.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);
    const before = await readSoFar();
    for (let n = 0; n < 100; n += 1) expect((await update()).statusCode).toBe(200);
    // The process’s own wake-ups read far less than one manifest.
    expect((await readSoFar()) - before).toBeLessThan(80_000);
  });

  it('notices at once that a manifest is replaced, overwritten or restored', async () => {
    const notes = async () => (await update()).json().notes;
    for (const text of ['a', 'b', 'c', 'd']) {
      await put({ ...good, notes: text });
      expect(await notes()).toBe(text);
      // The same length, and for the file system the same time.
      await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...good, notes: text.toUpperCase() }));
      expect(await notes()).toBe(text.toUpperCase());
    }
    await put({ ...good, notes: 'x' });
    await utimes(join(folder, 'manifest.json'), 1, 1);
    expect(await notes()).toBe('x');
    await pause(200);
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...good, notes: 'y' }));
    await utimes(join(folder, 'manifest.json'), 1, 1);
    expect(await notes()).toBe('y');
  });
});

/** An app with other settings and empty caches, and its log lines. */
async function appWith(changed: Partial<Pick<typeof runtime, 'config'>>) {
  const lines: Record<string, unknown>[] = [];
  const log = openLog('debug', 'api', { write: (line) => void lines.push(JSON.parse(line)) });
  const other = { ...changed, log, resources: new Map() };
  const changedApp = await buildApp({
    ...runtime,
    ...other,
    system: (origin) => ({ ...runtime.system(origin), ...other }),
  });
  afterAll(() => changedApp.close());
  return { app: changedApp, lines };
}

let listening: Promise<unknown> | undefined;
async function baseUrl(): Promise<string> {
  await (listening ??= app.listen({ host: '127.0.0.1', port: 0 }));
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** The status line for a path that is sent unchanged. */
async function rawStatus(path: string): Promise<string> {
  const { port } = new URL(await baseUrl());
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer.split('\r\n')[0] ?? '';
}
