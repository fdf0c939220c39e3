import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { entriesOf, loadedWith, type Manifest, readManifest, signedIn } from './web-build.ts';
import type { WebBuild } from './web-sources.ts';

/** What a browser may load, in bytes after gzip: the contract, section 14. A KB has 1,000 bytes here, as in the tools of browsers. */
const limits = { signIn: 45_000, dashboard: 75_000, styles: 12_000, otherPage: 30_000 };

const signIn = 'src/accounts/sign-in-page.tsx';

export interface Size {
  what: string;
  bytes: number;
  limit: number;
  /** Of a page: all that loads beyond the start when it opens, including what it shares with other pages. */
  toOpen?: number;
}

/** The sizes of a build, and the sources that should be chunks of their own but are not. The sign-in may load with the start. */
export function measure({ app, outDir }: Pick<WebBuild, 'app' | 'outDir'>): { sizes: Size[]; missing: string[] } {
  const manifest = readManifest(outDir);
  const known = new Map<string, number>();
  const bytesOf = (file: string): number => {
    const bytes = known.get(file) ?? gzipSync(readFileSync(join(outDir, file)), { level: 9 }).length;
    known.set(file, bytes);
    return bytes;
  };
  const sum = (files: Iterable<string>): number => [...new Set(files)].reduce((all, file) => all + bytesOf(file), 0);
  const scripts = (keys: Iterable<string>): string[] =>
    [...keys].map((key) => manifest[key]?.file ?? '').filter((file) => file.endsWith('.js'));

  const start = loadedWith(manifest, entriesOf(manifest));
  const pages = pagesOf(app, manifest).map((key) => ({ key, loaded: loadedWith(manifest, [key]).difference(start) }));
  const others = pages.filter(({ key }) => key !== signIn && key !== signedIn);
  const toOpen = (key: string): number => sum(scripts(start.union(loadedWith(manifest, [key]))));
  return {
    sizes: [
      { what: 'Scripts to the sign-in', bytes: toOpen(signIn), limit: limits.signIn },
      { what: 'Scripts to the dashboard', bytes: toOpen(signedIn), limit: limits.dashboard },
      { what: 'Styles', bytes: sum(stylesOf(manifest)), limit: limits.styles },
      ...others.map(({ key, loaded }) => {
        const shared = new Set(pages.flatMap((other) => (other.key === key ? [] : [...other.loaded])));
        const own = sum(scripts(loaded.difference(shared)));
        return { what: key, bytes: own, limit: limits.otherPage, toOpen: sum(scripts(loaded)) };
      }),
    ],
    missing: [signedIn].filter((key) => !pages.some((page) => page.key === key)),
  };
}

/** The pages of `src/routes.ts` that this build contains, each of which is a chunk that loads when it is opened. */
function pagesOf(app: string, manifest: Manifest): string[] {
  const routes = readFileSync(join(app, 'src/routes.ts'), 'utf8');
  const sources = [...routes.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, path = '']) => posix.join('src', path));
  return [...new Set(sources)].filter((source) => source in manifest).toSorted();
}

const stylesOf = (manifest: Manifest): string[] =>
  Object.values(manifest)
    .flatMap(({ file, css = [] }) => [file, ...css])
    .filter((file) => file.endsWith('.css'));

/** Every limit that a build exceeds, one line each. */
export function budgetFaults({ sizes, missing }: ReturnType<typeof measure>): string[] {
  return [
    ...missing.map((key) => `${key} is no page of src/routes.ts, or loads with the start`),
    ...sizes
      .filter(({ bytes, limit }) => bytes > limit)
      .map(({ what, bytes, limit }) => `${what}: ${kilobytes(bytes)} KB, but at most ${kilobytes(limit)} KB`),
  ];
}

export function sizeTable({ sizes }: ReturnType<typeof measure>): string {
  const width = Math.max(...sizes.map(({ what }) => what.length));
  const lines = sizes.map(({ what, bytes, limit, toOpen }) =>
    [what.padEnd(width), kilobytes(bytes), kilobytes(limit), toOpen === undefined ? '' : kilobytes(toOpen)]
      .map((cell, at) => (at === 0 ? cell : cell.padStart(8)))
      .join('')
      .trimEnd(),
  );
  return [`${'KB after gzip'.padEnd(width)}     own   limit to open`, ...lines].join('\n');
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);
