import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Postmaster {
  pid: number;
  port: number;
  state: 'starting' | 'ready' | 'stopping';
}

/** The server that runs on the cluster, or null. A pid file that names a dead or an unrelated process does not count. */
export async function findPostmaster(cluster: string): Promise<Postmaster | null> {
  const lines = await pidFileLines(cluster);
  const pid = Number(lines?.[0]);
  if (!lines || !Number.isInteger(pid) || pid <= 0) return null;
  if (!(await isPostmaster(pid, cluster))) return null;
  // Lines of postmaster.pid: pid, data folder, start time, port, socket folder, address, shared memory, state
  const state = lines[7]?.trim();
  return {
    pid,
    port: Number(lines[3]),
    state: state === 'ready' || state === 'stopping' ? state : 'starting',
  };
}

/** Whether the cluster has a postmaster.pid. */
export async function hasPidFile(cluster: string): Promise<boolean> {
  return (await pidFileLines(cluster)) !== null;
}

async function pidFileLines(cluster: string): Promise<string[] | null> {
  try {
    return (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whether this process is a living PostgreSQL server on this cluster. */
export async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  if (process.platform === 'linux') return isLinuxPostmaster(pid, cluster);
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform === 'win32') return true;
  const command = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => null);
  return command !== null && command.stdout.includes('postgres') && command.stdout.includes(cluster);
}

async function isLinuxPostmaster(pid: number, cluster: string): Promise<boolean> {
  // A zombie has an empty command line and counts as dead, even if init never reaps it
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (commandLine === '') return false;
  const [executable, folder] = await Promise.all([readOwnLink(`/proc/${pid}/exe`), readOwnLink(`/proc/${pid}/cwd`)]);
  const args = commandLine.split('\0');
  const isPostgres = basename(executable ?? args[0] ?? '').replace(/ \(deleted\)$/, '') === 'postgres';
  return isPostgres && (folder === null ? args.includes(cluster) : folder === cluster);
}

/** Also null if the kernel hides the link: in a container, root may not inspect another account's process. */
async function readOwnLink(path: string): Promise<string | null> {
  return readlink(path).catch(() => null);
}

/** Waits until the server has exited; false on timeout. */
export async function waitUntilGone(pid: number, cluster: string, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let delayMs = 5; performance.now() < deadline; delayMs = Math.min(delayMs * 2, 100)) {
    if (!(await isPostmaster(pid, cluster))) return true;
    await pause(delayMs);
  }
  return false;
}
