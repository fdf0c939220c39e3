import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { root } from './program.ts';

export interface EarlierRelease {
  checkout: URL;
  remove(): Promise<void>;
}

const run = promisify(execFile);

/** Unpacks the release of a commit, branch or tag into a folder of its own, ready to run. */
export async function unpackRelease(commit: string): Promise<EarlierRelease> {
  const here = fileURLToPath(root);
  const folder = await mkdtemp(join(tmpdir(), 'portal-earlier-release-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const archive = join(folder, 'release.tar');
    await run('git', ['-C', here, 'archive', '--output', archive, commit]);
    await run('tar', ['-xf', archive, '-C', folder]);
    const lockOf = (checkout: string) => readFile(join(checkout, 'pnpm-lock.yaml'), 'utf8');
    if ((await lockOf(folder)) === (await lockOf(here))) await sharePackages(here, folder);
    else await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], { cwd: folder });
    return { checkout: pathToFileURL(`${folder}/`), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Copies the links that lead from each of our packages to the others and to what they depend on, which both releases then share. */
async function sharePackages(from: string, to: string): Promise<void> {
  const groups = await Promise.all(
    ['apps', 'packages'].map(async (group) => (await readdir(join(from, group))).map((name) => join(group, name))),
  );
  for (const place of ['', ...groups.flat()]) {
    const modules = join(from, place, 'node_modules');
    const copies = join(to, place, 'node_modules');
    const names = await readdir(modules).catch(() => []);
    if (names.length > 0) await mkdir(copies, { recursive: true });
    for (const name of names)
      if (name === '.pnpm') await symlink(join(modules, name), join(copies, name));
      else if (!name.startsWith('.'))
        await cp(join(modules, name), join(copies, name), { recursive: true, verbatimSymlinks: true });
  }
}
