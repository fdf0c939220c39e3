// Who may import whom, and who writes which table; `pnpm check` runs it and names each edge that breaks a rule.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What the code of each package may import; tests may import anything but an app. */
const mayImport: Record<string, string[]> = {
  'packages/domain': [],
  'packages/db': ['packages/domain'],
  'packages/mail': ['packages/domain'],
  'packages/connectors': ['packages/domain'],
  'packages/platform': ['packages/domain', 'packages/db', 'packages/mail', 'packages/connectors'],
  'packages/usecases': ['packages/domain', 'packages/db', 'packages/mail', 'packages/connectors', 'packages/platform'],
  'apps/api': ['packages/domain', 'packages/platform', 'packages/usecases'],
  'apps/worker': ['packages/domain', 'packages/platform', 'packages/usecases'],
};

/** Writes into another area's tables that stand for a reason. */
const writeExceptions: { file: string; owner: string; why: string }[] = [];

interface SourceFile {
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
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const named = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, name = '']) => name);
      return { path, text, imports: named.map((name) => targetOf(name, path)) };
    });
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
  return [...edges.keys()].flatMap((area) => {
    const way = wayBack(edges, area);
    // Told once, by the first of the circle.
    if (way === null || way.toSorted()[0] !== area) return [];
    const steps = way.map((from, at) => edges.get(from)?.get(way[at + 1] ?? area) ?? '');
    return [`${[...way, area].join(' → ')} is a circle: ${steps.join('; ')}`];
  });
}

/** The shortest way from an area over others back to it. */
function wayBack(edges: Map<string, Map<string, string>>, start: string): string[] | null {
  const open: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = open.shift(); way; way = open.shift()) {
    for (const next of edges.get(way.at(-1) ?? '')?.keys() ?? []) {
      if (next === start) return way;
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
          .filter(() => !writeExceptions.some((known) => known.file === path && known.owner === owner))
          .map((table) => `${path} writes ${table}, which belongs to ${owner}`),
    );
  });
}

const isWritten = (text: string, table: string): boolean =>
  new RegExp(String.raw`\.(insert|update|delete)\(\s*${table}\b|(insert into|update|delete from) \$\{${table}\}`).test(
    text,
  );
