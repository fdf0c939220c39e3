import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { root } from './program.ts';

const run = promisify(execFile);

/** Unpacks the release of a commit, branch or tag, ready to run, into a folder that lasts as long as this process. */
export async function unpackRelease(commit: string): Promise<URL> {
  const here = fileURLToPath(root);
  const folder = await mkdtemp(join(tmpdir(), 'portal-earlier-release-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const archive = join(folder, 'release.tar');
  await run('git', ['-C', here, 'archive', '--output', archive, commit]);
  await run('tar', ['-xf', archive, '-C', folder]);
  const lockOf = (checkout: string) => readFile(join(checkout, 'pnpm-lock.yaml'), 'utf8');
  if ((await lockOf(folder)) === (await lockOf(here))) await sharePackages(here, folder);
  else await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], { cwd: folder });
  return pathToFileURL(`${folder}/`);
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
