import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import {
  isFresh,
  listFiles,
  readReceipt,
  type Receipt,
  receiptName,
  stampOf,
  usualBuild,
  type WebBuild,
} from './web-sources.ts';

/** Vite's list of the files of a build, by the source they were made from. */
export type Manifest = Record<string, Chunk>;
export interface Chunk {
  file: string;
  isEntry?: boolean;
  /** Keys of the chunks that load with this one. */
  imports?: string[];
  css?: string[];
}

/** The page most people open first, and what stands around each page of a signed-in person. */
export const signedIn = 'src/signed-in.ts';

/** Vite, as far as this module uses it. Only apps/web depends on it, so its types are not visible here. */
interface Vite {
  build(config: object): Promise<unknown>;
}

const compressible = new Set(['.js', '.css', '.svg', '.json']);
const worthCompressingBytes = 1024;
const dayMs = 24 * 60 * 60 * 1000;

/** Builds unless the build is newer than its sources. Returns a line about what it wrote, or null. */
export async function buildWebIfStale(build: WebBuild): Promise<string | null> {
  return isFresh(build) ? null : buildWeb(build);
}

/**
 * Builds the pages and returns a line about what it wrote. Readers of `outDir` see the build before or this one, never a part: new files
 * come first, and the page that names them last. Assets that only the build before had stay for a day, for pages that are still open.
 */
export async function buildWeb(build: WebBuild): Promise<string> {
  const startedAt = performance.now();
  // A source that changes during the build makes it stale
  const stamp = stampOf(build);
  await removeAbandoned(build.outDir);
  const outDir = `${build.outDir}${workSuffix}${process.pid}-${randomUUID()}`;
  try {
    await runVite({ ...build, outDir });
    // Who develops loads the pages from the same machine
    if (build.mode === 'production') await compressFiles(outDir, build.outDir);
    await writeFile(join(outDir, 'preload.json'), `${JSON.stringify({ dashboard: preloads(readManifest(outDir)) })}\n`);
    const receipt: Receipt = { stamp, files: listFiles(outDir) };
    await writeFile(join(outDir, receiptName), JSON.stringify(receipt));
    await install(outDir, build.outDir, receipt.files);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    return `Built the pages in ${seconds} s: ${sizeOf(build.outDir, receipt.files)} in ${build.outDir}.`;
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

/** Lets Vite write into `outDir`, and nothing else. */
export async function runVite({ app, outDir, mode }: WebBuild): Promise<void> {
  const entry = createRequire(join(usualBuild.app, 'package.json')).resolve('vite');
  const { build } = (await import(pathToFileURL(entry).href)) as Vite;
  const configFile = join(app, 'vite.config.ts');
  const isDevelopment = mode === 'development';
  // Vite takes the kind of build from here first, and a shell or a test may have set something else
  const { NODE_ENV: before } = process.env;
  process.env['NODE_ENV'] = mode;
  try {
    await build({
      root: app,
      mode,
      configFile: existsSync(configFile) && configFile,
      // Node reads it itself, so Vite writes no compiled copy
      configLoader: 'native',
      logLevel: 'silent',
      build: { outDir, emptyOutDir: true, manifest: true, ...(isDevelopment && { minify: false, sourcemap: true }) },
    });
  } catch (error) {
    throw new FaultySource(error);
  } finally {
    // A build beside this one has set the same
    if (before === undefined) delete process.env['NODE_ENV'];
    else if (before !== mode) process.env['NODE_ENV'] = before;
  }
}

/** What the bundler refuses, without its colors and its stack. */
export class FaultySource extends Error {
  /** The same in one line, with the place. */
  readonly line: string;

  constructor(cause: unknown) {
    const lines = stripVTControlCharacters(cause instanceof Error ? cause.message : String(cause))
      .split('\n')
      .filter((line) => !/^\s+at |^Build failed with /.test(line));
    super(lines.join('\n').trim());
    const [first = ''] = lines.filter((line) => line.trim() !== '' && !/^\[plugin \S+\]$/.test(line));
    const [, place] = /\[ (\S+:\d+:\d+) \]/.exec(this.message) ?? [];
    this.line = place === undefined ? first : `${first} (${place})`;
  }
}

export function readManifest(outDir: string): Manifest {
  return JSON.parse(readFileSync(join(outDir, '.vite', 'manifest.json'), 'utf8')) as Manifest;
}

/** The chunks that load with these, themselves included. A key without a chunk of its own adds none. */
export function loadedWith(manifest: Manifest, keys: readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = keys.filter((key) => key in manifest);
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (found.has(key)) continue;
    found.add(key);
    open.push(...(manifest[key]?.imports ?? []));
  }
  return found;
}

export const entriesOf = (manifest: Manifest): string[] =>
  Object.keys(manifest).filter((key) => manifest[key]?.isEntry === true);

/** Addresses of the scripts that a dashboard needs beside those of the entry. */
function preloads(manifest: Manifest): string[] {
  const first = loadedWith(manifest, entriesOf(manifest));
  const needed = [...loadedWith(manifest, [signedIn])].filter((key) => !first.has(key));
  return needed.map((key) => `/${manifest[key]?.file}`).toSorted();
}

const isAsset = (path: string): boolean => path.startsWith('assets');

/** Writes the compressed forms beside each file. Takes those of `before` for a file that has not changed, as most assets have not. */
async function compressFiles(folder: string, before: string): Promise<void> {
  const worthwhile = listFiles(folder).filter(
    (path) =>
      compressible.has(extname(path)) &&
      !path.startsWith('.vite') &&
      statSync(join(folder, path)).size > worthCompressingBytes,
  );
  await Promise.all(
    worthwhile.map(async (path) => {
      const content = await readFile(join(folder, path));
      const known = await readFile(join(before, path)).catch(() => null);
      if (known?.equals(content) && ['.br', '.gz'].every((form) => existsSync(join(before, path + form)))) {
        for (const form of ['.br', '.gz']) await copyFile(join(before, path + form), join(folder, path + form));
        return;
      }
      const brotli = {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      };
      await writeFile(join(folder, `${path}.br`), await promisify(brotliCompress)(content, { params: brotli }));
      await writeFile(join(folder, `${path}.gz`), await promisify(gzip)(content, { level: 9 }));
    }),
  );
}

/** Moves the files of a build into place. Each file appears whole, and two builds at once end as one of them. */
async function install(from: string, to: string, files: string[]): Promise<void> {
  const before = readReceipt(to)?.files ?? [];
  const rank = (path: string): number => (path === 'index.html' ? 2 : isAsset(path) ? 0 : 1);
  for (const path of [...files.toSorted((a, b) => rank(a) - rank(b)), receiptName]) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await rename(join(from, path), join(to, path));
  }
  for (const path of listFiles(to)) {
    if (files.includes(path) || path === receiptName) continue;
    const file = join(to, path);
    // The time of an asset that is no longer used says since when
    if (isAsset(path) && before.includes(path)) await utimes(file, new Date(), new Date()).catch(() => {});
    else if (!isAsset(path) || (await ageMs(file)) > dayMs) await rm(file, { force: true });
  }
}

const ageMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );

const workSuffix = '.new-';

/** Removes what killed builds left behind. */
async function removeAbandoned(outDir: string): Promise<void> {
  await mkdir(dirname(outDir), { recursive: true });
  for (const name of readdirSync(dirname(outDir))) {
    const path = join(dirname(outDir), name);
    if (!path.startsWith(outDir + workSuffix)) continue;
    const builder = Number.parseInt(path.slice((outDir + workSuffix).length), 10);
    if (!isAlive(builder)) await rm(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function sizeOf(folder: string, files: string[]): string {
  const total = (paths: string[]): string => {
    const bytes = paths.reduce(
      (sum, path) => sum + (statSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    return `${Math.round(bytes / 1024)} KB`;
  };
  const plain = files.filter((path) => !/\.(br|gz)$/.test(path));
  const sent = plain.map((path) => (files.includes(`${path}.br`) ? `${path}.br` : path));
  return `${plain.length} files, ${total(plain)}, compressed ${total(sent)},`;
}
