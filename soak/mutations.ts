// Takes each comparison of tenants out of the code that works across tenants, one at a time: a test beside it fails
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, glob, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestServer } from '@portal/testing/server';

const { values } = parseArgs({
  options: {
    /** Only mutations whose line `file:line text` holds this. */
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '90' },
    list: { type: 'boolean', default: false },
  },
});

const policies = 'runs in the scope of its tenant alone, where row policies say the same';
const accounts = 'names an account as well, which no two tenants share';
/** Comparisons whose loss changes nothing, as nobody else's rows can be met. */
const heldOtherwise: [where: string, why: string][] = [
  ['platform/src/jobs/perform-job.ts', policies],
  ['platform/src/operations/start.ts', policies],
  ['accounts/authenticate.ts', 'names the tenant three times over: of the session, of its account, and as itself'],
  ['accounts/email-change.ts:112', accounts],
  ['accounts/password-reset.ts:104', accounts],
  ['reminders/queue-due-mails.ts', accounts],
  ['alerts/match-tenders.ts', accounts],
  ['alerts/start-due-alerts.ts', accounts],
  ['tenders/mailbox/mailbox.ts', accounts],
  ['tenders/mailbox/reading.ts', accounts],
  ['directory/sync/stage.ts', 'names a run, which no two tenants share'],
  ['platform/src/lock-tenant.ts', 'reads nothing: more locked rows make others wait'],
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

const acrossing = [...sources].filter(
  ([path, text]) => !isTest(path) && /\b(acrossTenants|runAcrossTenants|runInNoTenant)\b/.test(text),
);
const crossing = new Set(acrossing.flatMap(([path]) => [path, ...importsOf(path)]));

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

/** Each comparison of tenants, made one of a side with itself. */
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

/** Tests of the area that use the file; then those of its routes, and then all others of the package that use it. */
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
const whyHeld = (mutation: Mutation) => heldOtherwise.find(([where]) => nameOf(mutation).includes(where))?.[1];
const asked = all.filter((mutation) => nameOf(mutation).includes(values.only) && whyHeld(mutation) === undefined);

if (values.list) {
  for (const mutation of all)
    console.log(`${nameOf(mutation)}\n    ${whyHeld(mutation) ?? testsFor(mutation.path).flat().join('\n    ')}`);
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

    /** The first test that fails; null when all hold. */
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
      // Files that a failure ends early count as failed, too, and so would one that does not load.
      if (testResults.some(({ status }) => status === 'failed'))
        throw new Error(`Tests do not run: ${tests.join(' ')}`);
      return null;
    }

    const deadline = Date.now() + Number(values.minutes) * 60_000;
    const survivors: string[] = [];
    const holding = new Map<string, string[]>();
    /** These tests without those that fail anyhow, and so find nothing. */
    async function thatHold(tests: string[]): Promise<string[]> {
      const set = tests.join(' ');
      let left = holding.get(set) ?? tests;
      while (!holding.has(set)) {
        const failure = left.length === 0 ? null : await firstFailure(left);
        if (failure === null) holding.set(set, left);
        else console.log(`fails without a mutation: ${failure}`);
        left = left.filter((test) => failure?.startsWith(test) !== true);
      }
      return left;
    }
    /** What finds a mutation; null when nothing does. */
    async function finderOf({ path, text }: Mutation): Promise<string | null> {
      for (const tests of testsFor(path)) {
        const usable = await thatHold(tests);
        if (usable.length === 0) continue;
        await writeFile(join(copy, path), text);
        const failure = await firstFailure(usable);
        await writeFile(join(copy, path), sources.get(path) ?? '');
        if (failure !== null) return failure;
      }
      return null;
    }
    for (const mutation of asked) {
      const isOver = Date.now() > deadline;
      const finder = isOver ? null : await finderOf(mutation);
      const name = `${nameOf(mutation)}${isOver ? ' (not tried: the time is over)' : ''}`;
      if (finder === null) survivors.push(name);
      console.log(finder === null ? `SURVIVES ${name}` : `found ${name} by ${finder}`);
    }
    console.log(
      `${asked.length} mutations, ${asked.length - survivors.length} found, ${all.length - asked.length} left out`,
    );
    console.log(survivors.length === 0 ? 'holds' : 'DOES NOT HOLD');
    process.exitCode = survivors.length === 0 ? 0 : 1;
  } finally {
    await server.stop();
    await rm(copy, { recursive: true, force: true, maxRetries: 3 });
  }
}
