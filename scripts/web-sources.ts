import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const client = join(root, 'packages/client/src');

export interface WebBuild {
  /** Folder of the sources. */
  app: string;
  outDir: string;
  /** `development` contains the pages for developers. */
  mode: 'production' | 'development';
}

/** The build that the API serves unless WEB_DIR names another. */
export const usualBuild: WebBuild = {
  app: join(root, 'apps/web'),
  outDir: join(root, 'apps/web/dist'),
  mode: 'production',
};

/** What a build leaves in its folder for the next one. */
export interface Receipt {
  stamp: string;
  files: string[];
}
export const receiptName = 'build.json';

export function readReceipt(outDir: string): Receipt | null {
  try {
    return JSON.parse(readFileSync(join(outDir, receiptName), 'utf8')) as Receipt;
  } catch {
    return null;
  }
}

/** Whether the build is newer than its sources. Reads no source, only their sizes and times. */
export function isFresh(build: WebBuild): boolean {
  return readReceipt(build.outDir)?.stamp === stampOf(build);
}

/** What a build is made from, beside the packages. */
export const sourcesOf = (app: string): { files: string[]; folders: string[] } => ({
  files: ['index.html', 'vite.config.ts', 'package.json', 'tsconfig.json'].map((name) => join(app, name)),
  folders: [join(app, 'src'), join(app, 'public'), client],
});

/** Changes with every source of a build, with the packages and with the program that builds. */
export function stampOf({ app, mode }: WebBuild): string {
  const { files, folders } = sourcesOf(app);
  const paths = [
    ...files,
    ...folders.flatMap((folder) => listFiles(folder).map((path) => join(folder, path))),
    join(root, 'pnpm-lock.yaml'),
    join(root, 'scripts/web-build.ts'),
  ];
  const hash = createHash('sha256').update(mode);
  for (const path of paths) {
    // It contains only types, and every check writes it
    if (path === join(client, 'interface.ts')) continue;
    const found = statSync(path, { throwIfNoEntry: false });
    hash.update(`\n${path} ${found?.size} ${found?.mtimeMs}`);
  }
  return hash.digest('hex');
}

/** Paths of all files below a folder, in order; none if it does not exist. */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() ?? false)
    .toSorted();
}
