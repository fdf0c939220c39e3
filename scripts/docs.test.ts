import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Role } from '@portal/domain/access';
import { Settings } from '@portal/platform/config';
import { mayImport, mayImportTypes } from './boundaries.ts';
import { commandsOf } from './document-commands.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { profiles?: string[] }>;
};

/** Folders of a fresh clone; a span that begins with another word is not a path. */
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
/** Docs name files at the root without a folder. */
const rootFile = /^(Dockerfile|\.dockerignore|\.env\.example|[\w.-]+\.(ya?ml|json|mjs|md))$/;

interface Doc {
  name: string;
  /** Text between single backticks. */
  spans: string[];
  /** Lines of fenced blocks without their comments. */
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

/** `<area>` matches any name. */
const exists = (path: string, from: string): boolean =>
  [root, join(root, from)].some((base) => globSync(path.replaceAll(/<[^>]+>/g, '*'), { cwd: base }).length > 0);

function pathsIn({ spans, text }: Doc): string[] {
  const named = spans.filter(
    (span) => !/\s/.test(span) && (folders.includes(span.split('/')[0] ?? '') || rootFile.test(span)),
  );
  const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => target);
  return [...named, ...linked];
}

/** The arguments of every call of a program. */
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
      ...[...doc.text.replaceAll(/\/\$\w+/g, '/:id').matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/:.-]*)/g)].map(
        ([, method = '', path = '']) => `${method} ${path}`,
      ),
      ...doc.lines.flatMap((line) => (line.startsWith('post /') ? [`POST ${line.split(' ')[1] ?? ''}`] : [])),
    ];
    expect(named.filter((route) => !routes.some((line) => line.startsWith(`${route} `)))).toEqual([]);
  });

  it('names only settings that exist', () => {
    // Upper-case words that are not settings of the service: settings of other programs, and roles.
    const others = ['POSTGRES_PASSWORD', 'POSTGRES_APP_PASSWORD', 'NODE_EXTRA_CA_CERTS', ...Role.options];
    const named = [...doc.spans, ...doc.lines].flatMap((code) =>
      [...code.matchAll(/\b[A-Z]+(?:_[A-Z]+)+(?==|$)/g)].map(([name]) => name),
    );
    expect(named.filter((name) => !(name in Settings.shape) && !others.includes(name))).toEqual([]);
  });

  it('names only figures, roles and functions that exist', () => {
    const sources = ['packages/platform/src/metrics.ts', 'packages/db/src/roles.ts', 'packages/db/src/rights.ts']
      .map(read)
      .join('\n');
    const named = doc.spans.filter((span) => /^portal_\w+$/.test(span));
    expect(named.filter((name) => !sources.includes(`'${name}'`) && !sources.includes(`.${name}(`))).toEqual([]);
  });
});

it('gives every package and app a README', () => {
  const members = globSync('{apps,packages}/*/package.json', { cwd: root }).map((path) =>
    join(dirname(path), 'README.md'),
  );
  expect(members.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe('every command of a document', () => {
  /** Which test runs the fenced blocks of which documents: all lines, or those that match. */
  const runs: { by: string; documents: string[]; lines?: RegExp }[] = [
    { by: 'scripts/newcomer.test.ts', documents: ['docs/first-steps.md', 'docs/tour.md'] },
    { by: 'scripts/newcomer.test.ts', documents: ['docs/operating.md'], lines: /^cp -a|pnpm after-restore$/ },
    {
      by: 'scripts/backup.test.ts',
      documents: ['docs/operating.md'],
      lines: /^(umask 077$|docker compose (exec|run|up --detach))/,
    },
    // Covers the file it writes and every service and setting it starts; tests cannot run containers.
    {
      by: 'scripts/deployment.test.ts',
      documents: ['docs/operating.md'],
      lines: /^(\(umask 077; cat > \.env\)|[A-Z_]+=|END$|docker compose up --build)/,
    },
    {
      by: 'packages/usecases/src/desktop/write-manifest.test.ts',
      documents: ['docs/operating.md'],
      lines: /^pnpm desktop:/,
    },
    {
      by: 'scripts/start.test.ts',
      documents: ['README.md'],
      lines: /^(npm start|base=|jar=|(get|post)\(\)|post |get |tenant=)/,
    },
    // `.ci/run` runs these with every change.
    { by: '.ci/run', documents: ['README.md', 'CONTRIBUTING.md'], lines: /^(npm test|pnpm (exec vitest|check))/ },
    { by: 'scripts/programs.test.ts', documents: ['README.md'], lines: /^pnpm (mails|bench|soak)$/ },
  ];

  const commands = docs.flatMap(({ name }) => {
    const lines = commandsOf(name).flatMap((block) => block.split('\n'));
    const given = lines.map((line) => line.replace(/\s+#\s.*$/, '').trim()).filter((line) => line !== '');
    return given.length > 0 ? [{ name, given }] : [];
  });

  it.each(commands)('in $name is run by a test', ({ name, given }) => {
    const mine = runs.filter(({ documents }) => documents.includes(name));
    expect(given.filter((line) => !mine.some((one) => one.lines?.test(line) ?? true))).toEqual([]);
    expect(mine.filter(({ by }) => !existsSync(join(root, by)))).toEqual([]);
  });
});

describe('docs/architecture.md', () => {
  const [, picture = ''] = /^```mermaid\n(.*?)^```/ms.exec(read('docs/architecture.md')) ?? [];
  const places = Object.fromEntries(
    [...picture.matchAll(/(\w+)\[((?:apps|packages)\/\w+)\]/g)].map(([, name = '', place = '']) => [name, place]),
  );
  const arrows = [...picture.matchAll(/^\s*(\w+)[^\n]*? --> (.*)$/gm)].flatMap(([, from = '', targets = '']) =>
    targets.split('&').map((target) => [from, /\w+/.exec(target)?.[0] ?? '']),
  );

  it('shows which package may import which, as in scripts/boundaries.ts', () => {
    const shown = arrows.flatMap(([from = '', to = '']) =>
      places[from] && places[to] ? [`${places[from]} → ${places[to]}`] : [],
    );
    const rules = Object.entries(mayImport).flatMap(([from, targets]) =>
      targets.filter((target) => target !== 'packages/domain').map((target) => `${from} → ${target}`),
    );
    expect(shown.toSorted()).toEqual(rules.toSorted());
    for (const from of Object.keys(mayImport).filter((name) => !/domain|client|web/.test(name)))
      expect(mayImport[from]).toContain('packages/domain');
    expect(mayImportTypes).toEqual({ 'apps/web': ['packages/domain'] });
    expect([mayImport['packages/domain'], mayImport['packages/client']]).toEqual([[], []]);
  });

  it('shows which package alone talks to each outside system', () => {
    /** The dependency of a package that talks to each system. */
    const clientOf: Record<string, string> = {
      postgresql: 'pg',
      redis: 'ioredis',
      smtp: 'nodemailer',
      foreign: 'imapflow',
    };
    for (const [outside, dependency] of Object.entries(clientOf)) {
      const users = globSync('{apps,packages}/*/package.json', { cwd: root })
        .filter((path) => dependency in ((JSON.parse(read(path)) as { dependencies?: object }).dependencies ?? {}))
        .map((path) => dirname(path));
      const shown = arrows.flatMap(([from = '', to]) => (to === outside ? [places[from]] : []));
      expect([outside, ...shown.toSorted()]).toEqual([outside, ...users.toSorted()]);
    }
  });
});

it('docs/sizing.md shows the actual defaults', () => {
  const documented = [...read('docs/sizing.md').matchAll(/^\| `([A-Z_]+)` \| (\w+) \|/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(documented.length).toBeGreaterThan(3);
  const defaults = documented.map(([name = '']) => {
    const setting = Settings.shape[name as keyof typeof Settings.shape];
    const { data = 'none' } = setting.safeParse(undefined);
    return [name, typeof data === 'number' ? String(data) : data];
  });
  expect(documented).toEqual(defaults);
});
