// Removes each tenant comparison from the code that works across tenants, one at a time: each removal makes a test fail
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, glob, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestServer } from '@portal/testing/server';

const { values } = parseArgs({
  options: {
    /** Only mutations whose line `file:line text` contains this. */
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '90' },
    list: { type: 'boolean', default: false },
  },
});

const policies = 'runs only in the scope of its tenant, where row policies enforce the same';
const accounts = 'also names an account, which no two tenants share';
/** Comparisons without which the code still reaches only rows of the same tenant. */
const redundant: [pathAndText: string, reason: string][] = [
  ['platform/src/jobs/perform-job.ts', policies],
  ['platform/src/runs/start.ts', policies],
  [
    'accounts/authenticate.ts',
    'compares the tenant three times: of the session, of its account, and the tenant itself',
  ],
  ['accounts/email-change.ts eq(users.tenantId, emailTokens.tenantId)', accounts],
  ['accounts/password-reset.ts eq(users.tenantId, passwordTokens.tenantId)', accounts],
  ['reminders/queue-due-mails.ts', accounts],
  ['alerts/match-tenders.ts', accounts],
  ['alerts/start-due-alerts.ts', accounts],
  ['tenders/mailbox/mailbox.ts', accounts],
  ['tenders/mailbox/reading.ts', accounts],
  ['directory/sync/stage.ts', 'names a run, which no two tenants share'],
  ['platform/src/lock-tenant.ts', 'reads nothing: additional locked rows only make other transactions wait'],
  ['platform/src/require-tenant.ts', policies],
  ['directory/sync/find-changes.ts', policies],
  ['modules/imported-groups.ts', 'names groups and accounts by ids, which no two tenants share'],
];

const root = dirname(import.meta.dirname);
const sources = new Map<string, string>();
for await (const path of glob(['packages/{usecases,platform}/**/*.ts', 'apps/{api,worker}/src/**/*.ts'], { cwd: root }))
  if (!path.includes('node_modules')) sources.set(path, await readFile(join(root, path), 'utf8'));
const isTest = (path: string) => path.endsWith('.test.ts');

function importsOf(path: string): string[] {
  const names = (sources.get(path) ?? '').matchAll(
    /(?:from|import\() ?'(\.[^']+|@portal\/(?:usecases|platform)\/[^']+)'/g,
  );
  return [...names]
    .map(([, name = '']) =>
      name.startsWith('.')
        ? normalize(join(dirname(path), name))
        : name.replace(/^@portal\/(\w+)\/(.*)$/, 'packages/$1/src/$2.ts'),
    )
    .filter((found) => sources.has(found));
}

function reaches(from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return importsOf(from).some((path) => reaches(path, to, seen));
}

const directlyCrossing = [...sources].filter(
  ([path, text]) => !isTest(path) && /\b(acrossTenants|runAcrossTenants|runInNoTenant)\b/.test(text),
);
const crossing = new Set(directlyCrossing.flatMap(([path]) => [path, ...importsOf(path)]));

const operand = String.raw`(?:[^(),]|\([^()]*\))+`;
const named = String.raw`(?:\b\w+\.tenant_id|\$\{[\w.]*(?:tenantId|tenants\.id)\}(?:::uuid)?|\$\{\w+\}\.tenant_id)`;
const comparisons = new RegExp(
  `\\beq\\((?<left>${operand}), ?(?<right>${operand})\\)|(?<first>${named}) = (?<second>${named}|\\w+\\.id\\b)`,
  'g',
);
const saysTenant = /tenantId|tenants\.id|tenant_id/;

interface Mutation {
  path: string;
  line: number;
  was: string;
  text: string;
}

/** Replaces each tenant comparison by one of a side with itself. */
function mutationsOf(path: string): Mutation[] {
  const text = sources.get(path) ?? '';
  return [...text.matchAll(comparisons)]
    .filter(([whole]) => saysTenant.test(whole))
    .map((match) => {
      const { left, first } = match.groups ?? {};
      const instead = left === undefined ? `${first} = ${first}` : `eq(${left}, ${left})`;
      return {
        path,
        line: text.slice(0, match.index).split('\n').length,
        was: match[0].replaceAll(/\s+/g, ' '),
        text: text.slice(0, match.index) + instead + text.slice(match.index + match[0].length),
      };
    });
}

/** Tests that use the file, in groups: those of its area, those of its routes, and the others of its package. */
function testsFor(path: string): string[][] {
  const [, name = '', , area = ''] = path.split('/');
  const tests = [...sources.keys()].filter(isTest).toSorted();
  const near = tests.filter((test) => test.startsWith(`packages/${name}/`) && reaches(test, path));
  const inArea = near.filter((test) => test.includes(`/${area}/`));
  const routes = tests.filter((test) => new RegExp(`^apps/\\w+/src/${area}/`).test(test));
  const others = near.filter((test) => !inArea.includes(test));
  return [inArea, routes, others].filter(({ length }) => length > 0);
}

const all = [...crossing].toSorted().flatMap(mutationsOf);
const nameOf = ({ path, line, was }: Mutation) => `${path}:${line} ${was}`;
const reasonFor = ({ path, was }: Mutation) =>
  redundant.find(([pathAndText]) => `${path} ${was}`.includes(pathAndText))?.[1];
const selected = all.filter((mutation) => nameOf(mutation).includes(values.only) && reasonFor(mutation) === undefined);

if (values.list) {
  for (const mutation of all)
    console.log(`${nameOf(mutation)}\n    ${reasonFor(mutation) ?? testsFor(mutation.path).flat().join('\n    ')}`);
} else await run();

async function run(): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), 'portal-mutations-'));
  const server = await startTestServer();
  try {
    for (const part of [
      'apps',
      'packages',
      'drizzle',
      'scripts',
      'package.json',
      'vitest.config.ts',
      'tsconfig.json',
      'tsconfig.base.json',
    ])
      await cp(join(root, part), join(copy, part), { recursive: true, verbatimSymlinks: true });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));

    /** The first test that fails; null if all pass. */
    async function firstFailure(tests: string[]): Promise<string | null> {
      const report = join(copy, 'report.json');
      await rm(report, { force: true });
      const vitest = join(copy, 'node_modules', '.bin', 'vitest');
      const child = spawn(vitest, ['run', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...tests], {
        cwd: copy,
        env: { ...process.env, DATABASE_URL: server.url },
        stdio: 'ignore',
      });
      await once(child, 'exit');
      const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
        testResults: {
          name: string;
          status: string;
          message: string;
          assertionResults: { status: string; fullName: string }[];
        }[];
      };
      for (const { name, assertionResults } of testResults)
        for (const { status, fullName } of assertionResults)
          if (status === 'failed') return `${name.slice(copy.length + 1)}: ${fullName}`;
      // A file that a failure ends early or that does not load also counts as failed.
      if (testResults.some(({ status }) => status === 'failed'))
        throw new Error(`Tests do not run: ${tests.join(' ')}`);
      return null;
    }

    const deadline = Date.now() + Number(values.minutes) * 60_000;
    const survivors: string[] = [];
    const passingOf = new Map<string, string[]>();
    /** These tests without those that fail without a mutation. */
    async function passing(tests: string[]): Promise<string[]> {
      const set = tests.join(' ');
      let left = passingOf.get(set) ?? tests;
      while (!passingOf.has(set)) {
        const failure = left.length === 0 ? null : await firstFailure(left);
        if (failure === null) passingOf.set(set, left);
        else console.log(`fails without a mutation: ${failure}`);
        left = left.filter((test) => failure?.startsWith(test) !== true);
      }
      return left;
    }
    /** The test that finds a mutation; null if none does. */
    async function finderOf({ path, text }: Mutation): Promise<string | null> {
      for (const tests of testsFor(path)) {
        const usable = await passing(tests);
        if (usable.length === 0) continue;
        await writeFile(join(copy, path), text);
        const failure = await firstFailure(usable);
        await writeFile(join(copy, path), sources.get(path) ?? '');
        if (failure !== null) return failure;
      }
      return null;
    }
    for (const mutation of selected) {
      const isOver = Date.now() > deadline;
      const finder = isOver ? null : await finderOf(mutation);
      const name = `${nameOf(mutation)}${isOver ? ' (not tried: the time is over)' : ''}`;
      if (finder === null) survivors.push(name);
      console.log(finder === null ? `SURVIVES ${name}` : `found ${name} by ${finder}`);
    }
    console.log(
      `${selected.length} mutations, ${selected.length - survivors.length} found, ${all.length - selected.length} left out`,
    );
    console.log(survivors.length === 0 ? 'holds' : 'DOES NOT HOLD');
    process.exitCode = survivors.length === 0 ? 0 : 1;
  } finally {
    await server.stop();
    await rm(copy, { recursive: true, force: true, maxRetries: 3 });
  }
}
