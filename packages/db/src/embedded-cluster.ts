import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './embedded-account.ts';
import { runProgram } from './embedded-program.ts';
import { processIdentity } from './process-identity.ts';

const majorVersion = '18';

export interface ClusterPlace {
  folder: string;
  binaries: string;
  account: Account | null;
  durable: boolean;
  sharedBuffers: string;
}

/**
 * Creates the database folder `data` with the role and database `portal` unless it exists.
 * It is built under a temporary name and renamed when complete, so a start that dies halfway does not disturb the next one.
 */
export async function ensureCluster(place: ClusterPlace): Promise<{ created: boolean }> {
  const cluster = join(place.folder, 'data');
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (version !== null) {
    if (version.trim() === majorVersion) return { created: false };
    throw new Error(
      `${cluster} was made by PostgreSQL ${version.trim()}, but this is PostgreSQL ${majorVersion}. Dump the database with its own version, or move the folder away.`,
    );
  }
  await removeAbandoned(place.folder);
  const building = join(place.folder, `data.new-${process.pid}`);
  const passwordFile = `${building}.password`;
  try {
    await mkdir(building, { mode: 0o700 });
    await writeFile(passwordFile, await readOrMakePassword(place.folder, 'password'), { mode: 0o600 });
    if (place.account) {
      await chown(building, place.account.uid, place.account.gid);
      await chown(passwordFile, place.account.uid, place.account.gid);
    }
    await initialize(place, building, passwordFile);
    await rename(building, cluster);
    if (place.durable) await syncFolder(place.folder);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(building, { recursive: true, force: true, maxRetries: 3 });
  }
  return { created: true };
}

async function initialize(place: ClusterPlace, building: string, passwordFile: string): Promise<void> {
  const { binaries, account, durable } = place;
  await runProgram(join(binaries, 'bin', 'initdb'), {
    account,
    timeoutMs: 120_000,
    args: [
      ['-D', building, '-U', 'portal', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'],
      ['--locale-provider=icu', '--icu-locale=de-DE', `--locale=${process.platform === 'linux' ? 'C.UTF-8' : 'C'}`],
      ['--no-instructions', '-c', 'default_text_search_config=pg_catalog.german', '-c', 'timezone=UTC'],
      durable ? [] : ['--no-sync'],
    ].flat(),
  });
  // In single-user mode the server opens no port, so no client ever sees the cluster without its database
  const answer = await runProgram(join(binaries, 'bin', 'postgres'), {
    account,
    timeoutMs: 120_000,
    args: ['--single', '-D', building, ...(durable ? [] : ['-c', 'fsync=off']), 'postgres'],
    input: 'CREATE DATABASE portal\n',
  });
  // It exits 0 even when the statement fails
  if (/\b(ERROR|FATAL|PANIC):/.test(answer)) throw new Error(`The database "portal" could not be created:\n${answer}`);
}

/** Removes folders of starts that were killed halfway; the folder of a living process stays. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number(/^data\.new-(\d+)/.exec(name)?.[1]);
    if (!pid || (pid !== process.pid && processIdentity(pid) !== null)) continue;
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** `password`: for the role `portal`, which owns everything. `app-password`: for the login of the apps. */
type PasswordFile = 'password' | 'app-password';

export async function readPassword(folder: string, name: PasswordFile): Promise<string> {
  const path = join(folder, name);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new Error(
      `The password of the embedded database cannot be read from ${path}. Put the file back from a backup.`,
      {
        cause,
      },
    );
  }
}

export async function readOrMakePassword(folder: string, name: PasswordFile): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  const password = await readPassword(folder, name);
  if (password !== '') return password;
  // A process killed between creating and filling the file leaves it empty
  await rm(path);
  return readOrMakePassword(folder, name);
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
