// Which package may import which, and which area writes which table. `pnpm check` runs it and names each violation.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Packages that the code of each package may import; tests may import anything but an app. */
export const mayImport: Record<string, string[]> = {
  'packages/domain': [],
  'packages/client': [],
  'packages/db': ['packages/domain'],
  'packages/mail': ['packages/domain'],
  'packages/connectors': ['packages/domain'],
  'packages/platform': ['packages/domain', 'packages/db', 'packages/mail', 'packages/connectors'],
  'packages/usecases': ['packages/domain', 'packages/db', 'packages/mail', 'packages/connectors', 'packages/platform'],
  'apps/api': ['packages/domain', 'packages/platform', 'packages/usecases'],
  'apps/worker': ['packages/domain', 'packages/platform', 'packages/usecases'],
  'apps/web': ['packages/client'],
};

/** Packages that the code of each package may import types from, and nothing else: a browser would load their code. */
export const mayImportTypes: Record<string, string[]> = { 'apps/web': ['packages/domain'] };

export interface SourceFile {
  path: string;
  text: string;
  imports: string[];
  /** Those of the imports that remain at run time. */
  values: string[];
}

/** Every violation, one line each. */
export function boundaryFaults(files: SourceFile[] = readSources()): string[] {
  return [...packageFaults(files), ...areaFaults(files), ...writeFaults(files)];
}

function readSources(): SourceFile[] {
  return globSync(['{apps,packages}/*/{src,test,testing}/**/*.{ts,tsx}', 'packages/testing/src/**/*.ts'], { cwd: root })
    .filter((path) => !path.includes('node_modules'))
    .map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8')));
}

/** `path` is relative to the root of the repository. */
export function sourceFile(path: string, text: string): SourceFile {
  const targetsIn = (code: string): string[] =>
    [...code.matchAll(/(?:from|import\(?)\s*'([^']+)'/g)].map(([, name = '']) => targetOf(name, path));
  const values = text.replaceAll(/^(?:import|export) type [^;']*'[^']+';/gm, '');
  return { path, text, imports: targetsIn(text), values: targetsIn(values) };
}

/** Resolves `@portal/db/open` and `./open.ts` to paths in the repository; names of other packages stay unchanged. */
function targetOf(name: string, from: string): string {
  if (name.startsWith('.')) return relative(root, resolve(root, dirname(from), name));
  const [, own, inner] = /^@portal\/([a-z]+)\/(.*)$/.exec(name) ?? [];
  if (own === undefined) return name;
  const home = ['api', 'worker', 'web'].includes(own) ? `apps/${own}` : `packages/${own}`;
  return `${home}/src/${inner}.ts`;
}

const packageOf = (path: string): string => path.split('/').slice(0, 2).join('/');
const isTest = (path: string): boolean =>
  /\.test\.tsx?$|^(apps|packages)\/[^/]+\/test(ing)?\/|^packages\/testing\//.test(path);

function packageFaults(files: SourceFile[]): string[] {
  return files.flatMap(({ path, imports, values }) => {
    const home = packageOf(path);
    const types = mayImportTypes[home] ?? [];
    return imports.flatMap((target) => {
      const to = packageOf(target);
      if (/^(soak|bench|scripts)\//.test(target)) return [`${path} imports ${target}: a program must not be imported`];
      if (!/^(apps|packages)\//.test(target) || to === home) return [];
      if (to.startsWith('apps/')) return [`${path} imports ${target}: an app must not be imported`];
      if (isTest(path) || mayImport[home]?.includes(to)) return [];
      if (types.includes(to) && !values.includes(target)) return [];
      const allowed = [...(mayImport[home] ?? []), ...types.map((name) => `types of ${name}`)];
      return [`${path} imports ${target}: ${home} may import ${allowed.join(', ') || 'nothing'}`];
    });
  });
}

const usecases = 'packages/usecases/src/';
/** The area of a use case; null for files above the areas. */
const areaOf = (path: string): string | null => {
  const [area, file] = path.startsWith(usecases) ? path.slice(usecases.length).split('/') : [];
  return area !== undefined && file !== undefined ? area : null;
};

/** Areas must not import each other in a cycle: neither of them could be understood alone. */
function areaFaults(files: SourceFile[]): string[] {
  const edges = new Map<string, Map<string, string>>();
  for (const { path, imports } of files) {
    const from = areaOf(path);
    if (from === null || isTest(path)) continue;
    for (const target of imports) {
      const to = areaOf(target);
      if (to === null || to === from) continue;
      const known = edges.get(from) ?? new Map<string, string>();
      if (!known.has(to)) known.set(to, `${path} imports ${target}`);
      edges.set(from, known);
    }
  }
  const cycles = [...edges].flatMap(([area, known]) =>
    [...known.keys()].flatMap((next) => {
      const path = shortestPath(edges, next, area);
      return path === null ? [] : [[area, ...path]];
    }),
  );
  const faults = cycles.map((cycle) => {
    // Starts at the first area by name, so that each cycle is reported once.
    const first = cycle.indexOf(cycle.toSorted()[0] ?? '');
    const path = [...cycle.slice(first), ...cycle.slice(0, first)];
    const steps = path.map((from, at) => edges.get(from)?.get(path[(at + 1) % path.length] ?? '') ?? '');
    return `${[...path, path[0]].join(' → ')} is a cycle: ${steps.join('; ')}`;
  });
  return [...new Set(faults)];
}

/** The shortest path from `start` to an area that imports `end`; null if there is none. */
function shortestPath(edges: Map<string, Map<string, string>>, start: string, end: string): string[] | null {
  const open: string[][] = [[start]];
  const seen = new Set([start]);
  for (let path = open.shift(); path; path = open.shift()) {
    for (const next of edges.get(path.at(-1) ?? '')?.keys() ?? []) {
      if (next === end) return path;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push([...path, next]);
    }
  }
  return null;
}

/** Only the area that a table's schema file is named after may write the table, or the platform. */
function writeFaults(files: SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    if (isTest(path) || !/^packages\/(usecases|platform)\//.test(path)) return [];
    const mine = areaOf(path) ?? 'platform';
    return [...text.matchAll(/import \{([^}]*)\} from '@portal\/db\/schema\/([^'/]+)[^']*'/g)].flatMap(
      ([, names = '', owner = '']) =>
        names
          .split(',')
          .map((name) =>
            (
              name
                .trim()
                .split(/\s+as\s+/)
                .at(-1) ?? ''
            ).trim(),
          )
          .filter((table) => table !== '' && owner !== mine && isWritten(text, table))
          .map((table) => `${path} writes ${table}, which belongs to ${owner}`),
    );
  });
}

const isWritten = (text: string, table: string): boolean =>
  new RegExp(String.raw`\.(insert|update|delete)\(\s*${table}\b|(insert into|update|delete from) \$\{${table}\}`).test(
    text,
  );
