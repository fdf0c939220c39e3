import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Role } from '@portal/domain/access';
import { Settings } from '@portal/platform/config';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { profiles?: string[] }>;
};

/** Folders a fresh clone has; what begins with another word in a doc is no path. */
const folders = [
  'apps',
  'packages',
  'drizzle',
  'scripts',
  'bench',
  'soak',
  'docs',
  '.ci',
  '.github',
  'src',
  'test',
  'testing',
];
/** Files at the root go by their bare name. */
const rootFile = /^(Dockerfile|\.dockerignore|\.env\.example|[\w.-]+\.(ya?ml|json|mjs|md))$/;

interface Doc {
  name: string;
  /** What stands between single backticks. */
  spans: string[];
  /** Lines of fenced blocks without their remarks. */
  lines: string[];
  text: string;
}

const docs: Doc[] = globSync(['{README,CONTRIBUTING,CHANGELOG}.md', '{apps,packages}/*/README.md', 'docs/*.md'], {
  cwd: root,
})
  .toSorted()
  .map((name) => {
    const text = read(name);
    const parts = text.split(/^```.*$/m);
    const prose = parts.filter((_, at) => at % 2 === 0).join('\n');
    const blocks = parts.filter((_, at) => at % 2 === 1).join('\n');
    return {
      name,
      text,
      spans: [...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span),
      lines: blocks
        .split('\n')
        .map((line) => line.replace(/\s+#\s.*$/, '').trim())
        .filter((line) => line !== ''),
    };
  });

/** `<area>` stands for any name. */
const exists = (path: string, from: string): boolean =>
  [root, join(root, from)].some((base) => globSync(path.replaceAll(/<[^>]+>/g, '*'), { cwd: base }).length > 0);

function pathsIn({ spans, text }: Doc): string[] {
  const named = spans.filter(
    (span) => !/\s/.test(span) && (folders.includes(span.split('/')[0] ?? '') || rootFile.test(span)),
  );
  const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => target);
  return [...named, ...linked];
}

/** Every call of one of these programs, as its words. */
const callsIn = ({ spans, lines }: Doc, program: string): string[][] =>
  [...spans, ...lines].flatMap((code) =>
    code.split(/[|;&()]+/).flatMap((call) => {
      const words = call.trim().split(/\s+/);
      const at = words.findIndex((word) => word === program);
      const isCall =
        at >= 0 &&
        words
          .slice(0, at)
          .every((word) => /^\w+=/.test(word) || ['node', 'scripts/bootstrap.mjs', 'exec'].includes(word));
      return isCall ? [words.slice(at + 1)] : [];
    }),
  );

const isCommand = ([name = '', second = '']: string[]): boolean =>
  name === 'exec' ? existsSync(join(root, 'node_modules/.bin', second)) : name === 'install' || name in scripts;

describe.each(docs)('$name', (doc) => {
  it('names only files that exist', () => {
    expect(pathsIn(doc).filter((path) => !exists(path, dirname(doc.name)))).toEqual([]);
  });

  it('names only commands that exist', () => {
    const pnpm = callsIn(doc, 'pnpm').map((words) => words.filter((word) => !word.startsWith('--')));
    expect(pnpm.filter((words) => words.length > 0 && !isCommand(words))).toEqual([]);
    const npm = callsIn(doc, 'npm').map((words) => (words[0] === 'run' ? words.slice(1) : words));
    expect(npm.filter(([name = '']) => !(name in scripts))).toEqual([]);
    const programs = callsIn(doc, 'node').map(([path = '']) => path);
    expect(programs.filter((path) => path.includes('/') && !existsSync(join(root, path)))).toEqual([]);
  });

  it('names only services and profiles of docker-compose.yml', () => {
    const calls = callsIn(doc, 'docker').filter(([name]) => name === 'compose');
    const called = calls.flatMap((words) => {
      const at = words.findIndex((word) => word === 'exec' || word === 'run');
      return at < 0 ? [] : [words.slice(at + 1).find((word) => !word.startsWith('-')) ?? ''];
    });
    const scaled = calls.flatMap((words) =>
      words.filter((word) => /^\w+=\d+$/.test(word)).map((word) => word.split('=')[0] ?? ''),
    );
    expect([...called, ...scaled].filter((name) => !(name in services))).toEqual([]);
    const profiles = calls.flatMap((words) => words.filter((_, at) => words[at - 1] === '--profile'));
    const known = Object.values(services).flatMap((service) => service.profiles ?? []);
    expect(profiles.filter((profile) => !known.includes(profile))).toEqual([]);
  });

  it('names only routes that exist', () => {
    const routes = read('apps/api/test/access.txt').split('\n');
    const named = [
      ...[...doc.text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/:.-]*)/g)].map(
        ([, method = '', path = '']) => `${method} ${path}`,
      ),
      ...doc.lines.flatMap((line) => (line.startsWith('post /') ? [`POST ${line.split(' ')[1] ?? ''}`] : [])),
    ];
    expect(named.filter((route) => !routes.some((line) => line.startsWith(`${route} `)))).toEqual([]);
  });

  it('names only settings that exist', () => {
    // Upper-case words that are settings of something else, and roles.
    const others = ['POSTGRES_PASSWORD', 'POSTGRES_APP_PASSWORD', ...Role.options];
    const named = [...doc.spans, ...doc.lines].flatMap((code) =>
      [...code.matchAll(/\b[A-Z]+(?:_[A-Z]+)+(?==|$)/g)].map(([name]) => name),
    );
    expect(named.filter((name) => !(name in Settings.shape) && !others.includes(name))).toEqual([]);
  });

  it('names only figures and roles that exist', () => {
    const sources = [read('packages/platform/src/metrics.ts'), read('packages/db/src/roles.ts')].join('\n');
    const named = doc.spans.filter((span) => /^portal_\w+$/.test(span));
    expect(named.filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
  });
});

it('every package and app has a README', () => {
  const members = globSync('{apps,packages}/*/package.json', { cwd: root }).map((path) =>
    join(dirname(path), 'README.md'),
  );
  expect(members.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
