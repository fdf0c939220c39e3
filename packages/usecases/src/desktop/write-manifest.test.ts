import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { programOf } from '@portal/testing/program';
import { ManifestError, type ReleaseFacts, writeManifest } from './write-manifest.ts';

const run = promisify(execFile);
const folders: string[] = [];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portal-manifest-'));
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map((one) => rm(one, { recursive: true, force: true }))));

const put = (files: Record<string, string>) =>
  Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(folder, name), content)));
const written = async () => JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
const facts: ReleaseFacts = { version: '1.4.2', channel: 'live', commit: '3f2c1ab' };
const now = new Date('2026-11-20T08:30:00Z');
const later = new Date('2026-11-21T08:30:00Z');
const setup = 'Portal_1.4.2_x64-setup.exe';

describe('a manifest', () => {
  it('contains the size, the hash and the signature of each package', async () => {
    await put({ [setup]: 'installer', [`${setup}.sig`]: 'dW50cnVzdGVk\n', 'Portal_1.4.2_amd64.AppImage': 'image' });
    const { missing, leftOut, isChanged } = await writeManifest(folder, { ...facts, notes: 'Neu.\nGut.' }, now);
    expect(await written()).toEqual({
      version: '1.4.2',
      channel: 'live',
      commit: '3f2c1ab',
      updateVersion: '1.4.2',
      pubDate: now.toISOString(),
      notes: 'Neu.\nGut.',
      platforms: {
        'windows-x86_64': { file: setup, size: 9, sha256: hash('sha256', 'installer'), signature: 'dW50cnVzdGVk' },
        'linux-x86_64': {
          file: 'Portal_1.4.2_amd64.AppImage',
          size: 5,
          sha256: hash('sha256', 'image'),
          signature: null,
        },
      },
    });
    expect(isChanged).toBe(true);
    expect(leftOut).toEqual([]);
    expect(missing).toEqual([
      ...['windows-aarch64', 'darwin-x86_64', 'darwin-aarch64', 'linux-aarch64'].map((one) => `a package for ${one}`),
      expect.stringContaining('Portal_1.4.2_amd64.AppImage.sig'),
    ]);
    expect((await stat(join(folder, 'manifest.json'))).mode & 0o444).toBe(0o444);
  });

  it('is updated after a change and untouched otherwise', async () => {
    await put({ [setup]: 'installer' });
    await writeManifest(folder, { ...facts, notes: 'Neu.' }, now);
    const { ino } = await stat(join(folder, 'manifest.json'));
    expect(await writeManifest(folder, {}, later)).toMatchObject({ isChanged: false });
    expect((await stat(join(folder, 'manifest.json'))).ino).toBe(ino);
    await put({ [`${setup}.sig`]: 'sig' });
    expect(await writeManifest(folder, {}, later)).toMatchObject({ isChanged: true });
    expect(await written()).toMatchObject({
      pubDate: now.toISOString(),
      notes: 'Neu.',
      platforms: { 'windows-x86_64': { signature: 'sig' } },
    });
    await put({ 'Portal_1.5.0_x64-setup.exe': 'newer' });
    const { leftOut } = await writeManifest(folder, { version: '1.5.0' }, later);
    expect(await written()).toMatchObject({
      version: '1.5.0',
      updateVersion: '1.5.0',
      channel: 'live',
      pubDate: later.toISOString(),
      notes: '',
      platforms: { 'windows-x86_64': { file: 'Portal_1.5.0_x64-setup.exe' } },
    });
    expect(leftOut).toEqual([setup]);
  });

  it('offers no update that is held back, also after it is updated', async () => {
    await put({ [setup]: 'installer', [`${setup}.sig`]: 'sig' });
    const { missing } = await writeManifest(folder, { ...facts, updateVersion: '' }, now);
    expect(missing).toContain('an update version: without one, apps do not update');
    await writeManifest(folder, { commit: 'other' }, later);
    expect(await written()).toMatchObject({ commit: 'other', updateVersion: null });
    await writeManifest(folder, { updateVersion: '1.4.2' }, later);
    expect(await written()).toMatchObject({ updateVersion: '1.4.2' });
  });

  it('ignores links, and replaces an unreadable manifest', async () => {
    await put({ [setup]: 'installer', 'manifest.json': '{"half": ' });
    await symlink('/etc/passwd', join(folder, 'Portal_1.4.2_amd64.AppImage'));
    const { missing } = await writeManifest(folder, facts, now);
    expect(missing[0]).toContain('can be read');
    expect(Object.keys((await written()).platforms)).toEqual(['windows-x86_64']);
  });

  it('is not written if it would be invalid', async () => {
    const refused = async (given: ReleaseFacts, message: string) => {
      const error: unknown = await writeManifest(folder, given, now).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ManifestError);
      expect(String(error)).toContain(message);
      expect(await readdir(folder)).not.toContain('manifest.json');
    };
    await refused(facts, 'There is no package of 1.4.2');
    await put({ 'Portal_1.4.1_x64-setup.exe': 'old' });
    await refused(facts, 'Portal_1.4.1_x64-setup.exe');
    await put({ [setup]: 'installer', [`${setup}.sig`]: 'x'.repeat(70_000) });
    await refused(facts, 'too long');
    await put({ [`${setup}.sig`]: 'sig\0' });
    await refused(facts, 'signature must not contain control characters');
    await put({ [`${setup}.sig`]: 'sig', [setup]: '' });
    await refused(facts, setup);
    await put({ [setup]: 'installer', 'Other_1.4.2_x64-setup.exe': 'a' });
    await put({ 'Other_1.4.2_x64-setup.exe.sig': 'sig' });
    await refused(facts, 'Several files could be the package for windows-x86_64');
    await rm(join(folder, 'Other_1.4.2_x64-setup.exe'));
    await refused({ version: '1.4.2' }, 'must be given: channel, commit');
    await refused({ ...facts, version: 'a\nb' }, 'version must not contain control characters');
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

it('pnpm desktop:manifest says what it wrote and what is missing', async () => {
  await put({ [setup]: 'installer', 'readme.txt': 'x' });
  const { command, args, env } = programOf('scripts/desktop-manifest.ts', {
    RELEASE_CHANNEL: 'live',
    RELEASE_COMMIT: 'c',
  });
  const tool = (...given: string[]) => run(command, [...args, ...given], { env });
  const { stdout } = await tool(folder, '--version', '1.4.2');
  expect(stdout).toContain(`windows-x86_64   ${setup}, 9 bytes, not signed`);
  expect(stdout).toMatch(/Missing:\n(.|\n)*a package for linux-aarch64\n(.|\n)*\.sig: without one/);
  expect(stdout).toMatch(/Left out, for their names:\n {2}readme.txt/);
  expect(await written()).toMatchObject({ version: '1.4.2', channel: 'live', commit: 'c' });
  await expect(tool()).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Usage') });
  await expect(tool(folder, '--colour')).rejects.toMatchObject({ code: 2 });
  await expect(tool(join(folder, 'none'), '--version', '1.4.2')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The folder .* cannot be read/),
  });
});
