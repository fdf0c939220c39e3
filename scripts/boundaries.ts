// Who may import whom, and who writes which table; `pnpm check` runs it and names each edge that breaks a rule.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What the code of each package may import; tests may import anything but an app. */
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
};

export interface SourceFile {
  path: string;
  text: string;
  imports: string[];
}

/** Everything that breaks a rule, one line each. */
export function boundaryFaults(files: SourceFile[] = readSources()): string[] {
  return [...packageFaults(files), ...areaFaults(files), ...writeFaults(files)];
}

function readSources(): SourceFile[] {
  return globSync(['{apps,packages}/*/{src,test,testing}/**/*.ts', 'packages/testing/src/**/*.ts'], { cwd: root })
    .filter((path) => !path.includes('node_modules'))
    .map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8')));
}

/** A file as the rules see it; its path is the repository's. */
export function sourceFile(path: string, text: string): SourceFile {
  const named = [...text.matchAll(/(?:from|import\(?)\s*'([^']+)'/g)].map(([, name = '']) => name);
  return { path, text, imports: named.map((name) => targetOf(name, path)) };
}

/** `@portal/db/open` and `./open.ts` as paths of the repository; other packages stay as they are. */
function targetOf(name: string, from: string): string {
  if (name.startsWith('.')) return relative(root, resolve(root, dirname(from), name));
  const [, own, inner] = /^@portal\/([a-z]+)\/(.*)$/.exec(name) ?? [];
  if (own === undefined) return name;
  const home = own === 'api' || own === 'worker' ? `apps/${own}` : `packages/${own}`;
  return `${home}/src/${inner}.ts`;
}

const packageOf = (path: string): string => path.split('/').slice(0, 2).join('/');
const isTest = (path: string): boolean =>
  /\.test\.ts$|^(apps|packages)\/[^/]+\/test(ing)?\/|^packages\/testing\//.test(path);

function packageFaults(files: SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) => {
    const home = packageOf(path);
    return imports.flatMap((target) => {
      const to = packageOf(target);
      if (/^(soak|bench|scripts)\//.test(target)) return [`${path} imports ${target}: programs are imported by nobody`];
      if (!/^(apps|packages)\//.test(target) || to === home) return [];
      if (to.startsWith('apps/')) return [`${path} imports ${target}: nobody imports an app`];
      if (isTest(path) || mayImport[home]?.includes(to)) return [];
      return [`${path} imports ${target}: ${home} may import ${mayImport[home]?.join(', ') || 'nothing'}`];
    });
  });
}

const usecases = 'packages/usecases/src/';
/** The area a use case belongs to; null for what stands above the areas. */
const areaOf = (path: string): string | null => {
  const [area, file] = path.startsWith(usecases) ? path.slice(usecases.length).split('/') : [];
  return area !== undefined && file !== undefined ? area : null;
};

/** Areas call each other in one direction: of two that import each other none can be understood alone. */
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
  const circles = [...edges].flatMap(([area, known]) =>
    [...known.keys()].flatMap((next) => {
      const way = shortestWay(edges, next, area);
      return way === null ? [] : [[area, ...way]];
    }),
  );
  const faults = circles.map((circle) => {
    // Told from its first area on, wherever it was come upon.
    const first = circle.indexOf(circle.toSorted()[0] ?? '');
    const way = [...circle.slice(first), ...circle.slice(0, first)];
    const steps = way.map((from, at) => edges.get(from)?.get(way[(at + 1) % way.length] ?? '') ?? '');
    return `${[...way, way[0]].join(' → ')} is a circle: ${steps.join('; ')}`;
  });
  return [...new Set(faults)];
}

/** The areas from one to the one that imports `end`, as few as there can be; null when none leads there. */
function shortestWay(edges: Map<string, Map<string, string>>, start: string, end: string): string[] | null {
  const open: string[][] = [[start]];
  const seen = new Set([start]);
  for (let way = open.shift(); way; way = open.shift()) {
    for (const next of edges.get(way.at(-1) ?? '')?.keys() ?? []) {
      if (next === end) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push([...way, next]);
    }
  }
  return null;
}

/** A table is written by the area its schema is named after, or by the platform. */
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
