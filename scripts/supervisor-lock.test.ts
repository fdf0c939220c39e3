import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { lockDataFolder } from './supervisor-lock.ts';

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-lock-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Starts a process that takes the lock and holds it until it is killed. */
async function spawnHolder(folder: string) {
  const program = `
    import { lockDataFolder } from ${JSON.stringify(new URL('supervisor-lock.ts', import.meta.url).href)};
    await lockDataFolder(process.argv[1]);
    console.log('locked');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, folder], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  expect(String(printed)).toBe('locked\n');
  return child;
}

it('locks a folder for one process and names that process to the next', async () => {
  const folder = await emptyFolder();
  const holder = await spawnHolder(folder);
  await expect(lockDataFolder(folder)).rejects.toThrow(`Portal already runs on ${folder} (process ${holder.pid})`);
});

it('ignores the lock of a killed process', async () => {
  const folder = await emptyFolder();
  const holder = await spawnHolder(folder);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const release = await lockDataFolder(folder);
  expect(await readdir(join(folder, 'lock'))).toHaveLength(1);
  await release();
  expect(await readdir(join(folder, 'lock'))).toEqual([]);
});

it('ignores a lock whose process id now belongs to another process', async () => {
  const folder = await emptyFolder();
  await mkdir(join(folder, 'lock'));
  await writeFile(join(folder, 'lock', `${process.ppid}.1.another-boot`), '');
  const release = await lockDataFolder(folder);
  await release();
});

it('gives the lock to one of several processes that start at once', async () => {
  const folder = await emptyFolder();
  const starts = await Promise.allSettled([1, 2, 3, 4].map(() => spawnHolder(folder)));
  expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
