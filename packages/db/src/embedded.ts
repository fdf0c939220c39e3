import { spawn } from 'node:child_process';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readFile,
  realpath,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Account, canReach, serverAccount } from './embedded-account.ts';
import { findBinaries, openFolder, sharedFolder } from './embedded-binaries.ts';
import { type ClusterPlace, ensureCluster, readOrMakePassword, readPassword } from './embedded-cluster.ts';
import { choosePort } from './embedded-port.ts';
import { findPostmaster, hasPidFile, isPostmaster, type Postmaster, waitUntilGone } from './embedded-postmaster.ts';
import { runProgram, serverSpawnOptions } from './embedded-program.ts';
import { appLoginName } from './roles.ts';

export interface EmbeddedOptions {
  /** Holds the cluster, its passwords, port and log; created if missing. */
  dataDir: string;
  /** False for tests: nothing is synced to disk, so a power cut destroys the cluster. */
  durable?: boolean;
  /** PostgreSQL's `shared_buffers`; the default suits a small database. */
  sharedBuffers?: string;
  log?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** For the migration: the login that owns everything. */
  url: string;
  /** For the apps: a login that the migration creates. */
  appUrl: string;
  /** Folder of the cluster: the given one, unless the server's account cannot enter it. */
  folder: string;
  /** True if the server was already running, because its starter was killed. */
  adopted: boolean;
  /** Resolves once the server has exited for any reason. */
  ended: Promise<void>;
  /** Why the server gave up its connections since it started, such as a full disk; null if it did not. */
  panic(): Promise<string | null>;
  stop(): Promise<void>;
}

// Longer than the old processes need to exit after a crash
const retryMs = 5_000;
// Replaying a large log after a crash may take minutes and must not be cut short
const readyMs = 300_000;
const logLimitBytes = 5 * 1024 * 1024;

/** Starts the npm package's PostgreSQL in the folder, or adopts the server that already runs there. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { durable = true, sharedBuffers = '64MB', log = () => {} } = options;
  const folder = await findFolder(options.dataDir);
  const cluster = join(folder, 'data');
  const running = await findUsableServer(cluster);
  if (running) {
    log(`PostgreSQL already runs as process ${running.pid}; using it.`);
    return describe(folder, running, true);
  }
  const account = await serverAccount(cluster);
  const place = { folder, account, durable, sharedBuffers, binaries: await findBinaries(account) };
  const { created } = await ensureCluster(place);
  if (created) log(`Created a new database in ${cluster}.`);
  return describe(folder, await launchWithRetries(place, cluster, log), false);
}

/** Stops the server that runs on the folder, if any. */
export async function stopEmbeddedPostgres(dataDir: string): Promise<void> {
  const cluster = join(await findFolder(dataDir), 'data');
  const postmaster = await findPostmaster(cluster);
  if (postmaster) await stopPostmaster(postmaster.pid, cluster);
}

async function describe(folder: string, { pid, port }: Postmaster, adopted: boolean): Promise<EmbeddedPostgres> {
  const stopped = Promise.withResolvers<void>();
  const place = `127.0.0.1:${port}/portal`;
  return {
    url: `postgres://portal:${await readPassword(folder, 'password')}@${place}`,
    appUrl: `postgres://${appLoginName}:${await readOrMakePassword(folder, 'app-password')}@${place}`,
    folder,
    adopted,
    ended: Promise.race([stopped.promise, watch(folder, pid)]),
    async panic() {
      const log = await readFile(join(folder, 'server.log'), 'utf8').catch(() => '');
      const sinceStart = log.slice(Math.max(0, log.lastIndexOf('starting PostgreSQL')));
      return /PANIC: +(.*)/.exec(sinceStart)?.[1] ?? null;
    },
    async stop() {
      await stopPostmaster(pid, join(folder, 'data'));
      stopped.resolve();
    },
  };
}

/** The given folder, or one outside the checkout if the server's account cannot enter the given one. */
async function findFolder(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const folder = await realpath(dataDir);
  const record = join(folder, 'location');
  const recorded = await readFile(record, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (recorded !== null) {
    const elsewhere = recorded.trim();
    if (await stat(elsewhere).catch(() => null)) return elsewhere;
    throw new Error(
      `${record} says that the database is in ${elsewhere}, but that folder is gone. Restore it, or remove the file to start with a new database.`,
    );
  }
  const cluster = join(folder, 'data');
  const account = await serverAccount(cluster);
  if (!account) return folder;
  await chmod(folder, 0o711);
  if (await canReach(account, cluster)) return folder;
  if (await stat(cluster).catch(() => null)) {
    throw new Error(
      `The account with the number ${account.uid}, which owns ${cluster}, may not enter a folder above it.`,
    );
  }
  await openFolder(sharedFolder);
  const elsewhere = await mkdtemp(join(sharedFolder, 'cluster-'));
  await chmod(elsewhere, 0o711);
  await writeFile(record, `${elsewhere}\n`);
  return elsewhere;
}

/** Waits until a server found on the cluster is ready or gone; null means that a new one can be started. */
async function findUsableServer(cluster: string): Promise<Postmaster | null> {
  const deadline = performance.now() + readyMs;
  for (;;) {
    const found = await findPostmaster(cluster);
    if (!found) break;
    if (found.state === 'ready') return found;
    if (performance.now() > deadline) {
      throw new Error(
        `PostgreSQL (process ${found.pid}) has been ${found.state} for ${readyMs / 1000} s. See server.log beside ${cluster}.`,
      );
    }
    await pause(50);
  }
  // Process ids are reused, in containers often: PostgreSQL would take any process with the old id for a server. Only on Linux
  // can we tell for certain that it is none; elsewhere PostgreSQL decides.
  if (process.platform === 'linux' && (await hasPidFile(cluster)))
    await rm(join(cluster, 'postmaster.pid'), { force: true });
  return null;
}

async function launchWithRetries(
  place: ClusterPlace,
  cluster: string,
  log: (line: string) => void,
): Promise<Postmaster> {
  const deadline = performance.now() + retryMs;
  for (;;) {
    const port = await choosePort(place.folder);
    const outcome = await launch(place, cluster, port);
    if (typeof outcome !== 'string') return outcome;
    const isTransient = /lock file (?:(?!lock file).)* already exists|shared memory block|Address already in use/.test(
      outcome,
    );
    if (!isTransient || performance.now() > deadline) throw new Error(`PostgreSQL did not start:\n${outcome.trim()}`);
    log('The previous PostgreSQL is still shutting down; trying again.');
    await pause(200);
  }
}

/** The running server, or its log output if it gave up. */
async function launch(place: ClusterPlace, cluster: string, port: number): Promise<Postmaster | string> {
  const logPath = join(place.folder, 'server.log');
  await boundLog(logPath);
  const logFile = await open(logPath, 'a', 0o600);
  try {
    const { size } = await logFile.stat();
    const hasEnded = await spawnServer(place, cluster, port, logFile.fd);
    const deadline = performance.now() + readyMs;
    for (;;) {
      const postmaster = await findPostmaster(cluster);
      if (postmaster?.state === 'ready') return postmaster;
      if (hasEnded()) return (await readFile(logPath)).subarray(size).toString('utf8');
      if (performance.now() > deadline) {
        if (postmaster) await stopPostmaster(postmaster.pid, cluster);
        throw new Error(`PostgreSQL was not ready after ${readyMs / 1000} s. See ${logPath}.`);
      }
      await pause(10);
    }
  } finally {
    await logFile.close();
  }
}

async function spawnServer(place: ClusterPlace, cluster: string, port: number, logFd: number): Promise<() => boolean> {
  const args = serverArguments(port, place);
  if (process.platform === 'win32') {
    // pg_ctl drops the administrator's rights, with which the server itself refuses to run
    const options = args.map((argument) => `"${argument}"`).join(' ');
    const logPath = join(place.folder, 'server.log');
    await runPgCtl(place, ['start', '-w', '-D', cluster, '-l', logPath, '-o', options]);
    return () => false;
  }
  const child = spawn(join(place.binaries, 'bin', 'postgres'), ['-D', cluster, ...args], {
    ...serverSpawnOptions(place.account),
    stdio: ['ignore', logFd, logFd],
  });
  let failure: Error | null = null;
  child.once('error', (error) => {
    failure = error;
  });
  child.unref();
  return () => {
    if (failure) throw new Error('PostgreSQL could not be started.', { cause: failure });
    return child.exitCode !== null || child.signalCode !== null;
  };
}

function serverArguments(port: number, { durable, sharedBuffers }: ClusterPlace): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    // Unused; in a deep folder its path would exceed the kernel's 107 bytes
    unix_socket_directories: '',
    max_connections: durable ? 100 : 200,
    shared_buffers: sharedBuffers,
    max_wal_size: '256MB',
    jit: 'off',
    // Fewer processes: no replication, and three read-ahead workers are too many for a small database
    io_method: 'sync',
    max_logical_replication_workers: '0',
    log_checkpoints: 'off',
    // The log is for the server's own errors: no statements and no key values, which may be personal data
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' }),
  };
  return ['-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Tries a fast shutdown first: it ends open transactions but closes the cluster cleanly. */
async function stopPostmaster(pid: number, cluster: string): Promise<void> {
  const steps = [
    { signal: 'SIGINT', mode: 'fast', timeoutMs: 15_000 },
    { signal: 'SIGQUIT', mode: 'immediate', timeoutMs: 3_000 },
    { signal: 'SIGKILL', mode: 'immediate', timeoutMs: 3_000 },
  ] as const;
  for (const { signal, mode, timeoutMs } of steps) {
    if (!(await isPostmaster(pid, cluster))) return;
    if (process.platform === 'win32') {
      const place = { binaries: await findBinaries(null), account: null };
      await runPgCtl(place, ['stop', '-D', cluster, '-m', mode, '-t', String(timeoutMs / 1000)]).catch(() => {});
    } else {
      process.kill(pid, signal);
    }
    if (await waitUntilGone(pid, cluster, timeoutMs)) return;
  }
  throw new Error(`PostgreSQL (process ${pid}) on ${cluster} cannot be stopped.`);
}

async function runPgCtl(
  { binaries, account }: { binaries: string; account: Account | null },
  args: string[],
): Promise<void> {
  await runProgram(join(binaries, 'bin', 'pg_ctl'), { args, account, timeoutMs: readyMs });
}

/** Resolves once the server has exited, and bounds its log until then; does not keep the process alive. */
async function watch(folder: string, pid: number): Promise<void> {
  const cluster = join(folder, 'data');
  for (let check = 1; await isPostmaster(pid, cluster); check++) {
    if (check % 240 === 0) await boundLog(join(folder, 'server.log')).catch(() => {});
    await pause(250, undefined, { ref: false });
  }
}

/** Keeps one older log file. The server appends, so truncating the open file is safe. */
async function boundLog(path: string): Promise<void> {
  const file = await stat(path).catch(() => null);
  if (!file || file.size <= logLimitBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}
