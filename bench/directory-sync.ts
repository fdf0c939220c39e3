// A first and a repeated synchronization of 100,000 people and 2,000 groups against only reading and copying them
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { eq, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { openDirectory } from '@portal/connectors/ldap/directory';
import { migrateDatabase } from '@portal/db/migrate';
import { prepared } from '@portal/db/prepared';
import { runs } from '@portal/db/schema/platform/operations';
import { defaultMappings, LdapConfigInput } from '@portal/domain/directory/config';
import { groupAttributes, groupFilter, memberAttributes } from '@portal/domain/directory/groups';
import { attributesOf, fieldSources } from '@portal/domain/directory/person';
import type { LdapSyncRun } from '@portal/domain/directory/sync';
import { Secret } from '@portal/domain/secret';
import { readConfig } from '@portal/platform/config';
import type { UserContext } from '@portal/platform/context';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { heap } from '@portal/testing/program';
import { startSlapd, type TestEntry, type TestSlapd } from '@portal/testing/servers/slapd';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { getSyncRun, listSyncRuns } from '@portal/usecases/directory/list-sync-runs';
import { startSync } from '@portal/usecases/directory/start-sync';
import { userSearch } from '@portal/usecases/directory/user-search';
import { benchDatabase, benchSettings, median, report, stopAll } from './measure.ts';

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '100000' },
    groups: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
  },
});
const peopleCount = Number(values.people);
const groupCount = Number(values.groups);
/** Several times the duration of the longest run. */
const maxRunMs = 10 * 60_000;
const baseDn = 'dc=example,dc=org';
const workerProgram = fileURLToPath(new URL('../apps/worker/src/main.ts', import.meta.url));

const personDn = (n: number) => `uid=person${n},ou=people,${baseDn}`;
const groupDn = (n: number) => `cn=group${n},ou=groups,${baseDn}`;

/** Every person is in one group, and every hundredth group contains the ninety-nine before it. */
function* entries(): Generator<TestEntry> {
  for (let n = 0; n < peopleCount; n += 1) {
    yield {
      dn: personDn(n),
      attributes: {
        objectClass: 'inetOrgPerson',
        uid: `person${n}`,
        cn: `Person ${n}`,
        sn: `Number ${n}`,
        givenName: 'Person',
        displayName: `Person Number ${n}`,
        mail: `person${n}@example.org`,
      },
    };
  }
  const leaves = Array.from({ length: groupCount }, (_, n) => n).filter((n) => n % 100 !== 99);
  for (let n = 0; n < groupCount; n += 1) {
    const leaf = leaves.indexOf(n);
    const member =
      leaf < 0
        ? Array.from({ length: 99 }, (_, before) => groupDn(n - 1 - before))
        : Array.from({ length: Math.ceil((peopleCount - leaf) / leaves.length) }, (_, i) =>
            personDn(leaf + i * leaves.length),
          );
    yield { dn: groupDn(n), attributes: { objectClass: 'groupOfNames', cn: `group${n}`, member } };
  }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

/** Runs the searches of a synchronization and only reads every value as text. */
async function readAlone(slapd: TestSlapd): Promise<void> {
  const server = {
    url: slapd.url,
    startTls: false,
    skipTlsVerify: false,
    caCertificatePem: null,
    bindDn: slapd.adminDn,
    bindPassword: new Secret(slapd.adminPassword),
    policy: { reach: 'private' as const, allowHosts: [] },
  };
  await using directory = await openDirectory(server);
  const searches = [
    { base: baseDn, scope: 'sub' as const, filter: groupFilter, attributes: [...groupAttributes, ...memberAttributes] },
    {
      ...userSearch(directory, { baseDn, userFilter: null }),
      attributes: attributesOf(fieldSources([...defaultMappings])),
    },
  ];
  let found = 0;
  for (const search of searches) {
    for await (const page of directory.pages(search)) {
      found += page.length;
      for (const entry of page) for (const attribute of entry.attributes()) entry.values(attribute);
    }
  }
  if (found !== peopleCount + groupCount) throw new Error(`the directory returned ${found} entries`);
}

/** Creates and migrates the database of a round. Returns its address with the login of its owner. */
async function makeDatabase(serverUrl: string, name: string): Promise<string> {
  const url = new URL(serverUrl);
  await asOwner(serverUrl, (client) => client.query(`create database ${name}`));
  url.pathname = `/${name}`;
  await migrateDatabase(url.href);
  return url.href;
}

async function asOwner<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const copied = ['tenants', 'users', 'groups', 'group_members'];
/** The current transaction id, which only grows; each row has the id of the transaction that last wrote it. */
const transactionNow = (url: string): Promise<number> =>
  asOwner(url, async (client) => {
    const { rows } = await client.query<{ now: string }>('select pg_current_xact_id()::text as now');
    return Number(rows[0]?.now);
  });

/** Accounts, groups and memberships written since then, plus those that are missing. */
const writtenSince = (url: string, transaction: number, rowsThen: number): Promise<number> =>
  asOwner(url, async (client) => {
    const { rows } = await client.query<{ written: number; rows: number }>(
      `
      select count(*) filter (where written >= $1)::int as written, count(*)::int as rows from (
        select xmin::text::bigint from users where ldap_dn is not null union all select xmin::text::bigint from groups
        union all select xmin::text::bigint from group_members) r (written)`,
      [transaction],
    );
    return (rows[0]?.written ?? 0) + Math.abs(rowsThen - (rows[0]?.rows ?? 0));
  });

interface Round {
  read: number;
  copy: number;
  first: number;
  repeat: number;
  /** A run after one person has changed. */
  oneChanged: number;
  peakMb: number;
  written: number;
}

async function measureRound(serverUrl: string, folder: string, slapd: TestSlapd, round: number): Promise<Round> {
  const url = await makeDatabase(serverUrl, `round_${round}`);
  const env = { ...benchSettings(url, join(folder, 'data')), LOG_LEVEL: 'warn' };
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const worker = spawn(process.execPath, [...heap.worker, workerProgram], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    await new Promise((resolve, reject) => {
      worker.once('message', resolve).once('exit', () => reject(new Error('the worker did not start')));
    });
    const make = builders(runtime.database);
    const admin = await make.user({ role: 'ADMIN' });
    const session = await make.session(admin);
    const system = runtime.system({ requestId: 'bench', ip: null, userAgent: null });
    const ctx = await authenticate(
      system,
      sessionTokens(system).issue({ sub: admin.id, tid: admin.tenantId, sid: session.id, ver: 1 }),
    );
    await putLdapConfig(
      ctx,
      LdapConfigInput.parse({ serverUrl: slapd.url, baseDn, bindDn: slapd.adminDn, bindPassword: slapd.adminPassword }),
    );
    const read = await seconds(() => readAlone(slapd));
    const first = await seconds(() =>
      runOf(ctx, (run) => run.counts.created === peopleCount && run.counts.groups === groupCount),
    );
    const { counts } = (await listSyncRuns(ctx, { limit: 1 })).items[0] as LdapSyncRun;
    const rows = counts.created + counts.groups + counts.memberships;
    // As autovacuum does between two synchronizations: updates statistics and visibility of the new rows
    await asOwner(url, (client) => client.query('vacuum analyze'));
    const before = await transactionNow(url);
    const repeats: number[] = [];
    const reads = [read];
    for (let repeat = 0; repeat < 5; repeat += 1) {
      repeats.push(
        await seconds(() => runOf(ctx, (run) => run.counts.read === peopleCount && run.counts.memberships === 0)),
      );
      reads.push(await seconds(() => readAlone(slapd)));
    }
    const written = await writtenSince(url, before, rows);
    await slapd.modify(personDn(round), { displayName: `Changed in round ${round}` });
    const oneChanged = await seconds(() => runOf(ctx, (run) => run.counts.updated === 1));
    const status = await readFile(`/proc/${worker.pid}/status`, 'utf8');
    const peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
    const copy = await copyAlone(serverUrl, url, folder, round);
    console.log(
      `round ${round}: read ${reads.map((s) => s.toFixed(1)).join(', ')} s, COPY ${copy.toFixed(1)} s, first ${first.toFixed(1)} s, repeats ${repeats.map((s) => s.toFixed(1)).join(', ')} s, after one change ${oneChanged.toFixed(1)} s`,
    );
    return { read: median(reads), copy, first, repeat: median(repeats), oneChanged, peakMb, written };
  } finally {
    worker.kill('SIGTERM');
    if (worker.exitCode === null) await once(worker, 'exit');
    await runtime.close();
  }
}

async function runOf(ctx: UserContext, isRight: (run: LdapSyncRun) => boolean): Promise<void> {
  const { runId } = await startSync(ctx, {});
  const deadline = performance.now() + maxRunMs;
  // Reads one column by its key, because polling uses the same cores as the measured run
  while (!(await ctx.run(isRunFinished, { runId }))[0]?.isFinished) {
    if (performance.now() > deadline) throw new Error('a run did not end in time');
    await pause(20);
  }
  const run = await getSyncRun(ctx, runId);
  if (run.state !== 'succeeded' || !isRight(run)) throw new Error(`a run ended unexpectedly: ${JSON.stringify(run)}`);
}

const isRunFinished = prepared<{ runId: string }>()('bench_run_finished', (db) =>
  db
    .select({ isFinished: sql<boolean>`${runs.finishedAt} is not null` })
    .from(runs)
    .where(eq(runs.id, sql.placeholder('runId'))),
);

/** Seconds to COPY the rows of the first run into empty tables with the same indexes and constraints. */
async function copyAlone(serverUrl: string, from: string, folder: string, round: number): Promise<number> {
  const files = join(folder, `copy-${round}`);
  await mkdir(files);
  await chmod(files, 0o777);
  const file = (table: string) => `'${join(files, table)}'`;
  await asOwner(from, async (client) => {
    for (const table of copied) await client.query(`copy ${table} to ${file(table)}`);
  });
  const to = await makeDatabase(serverUrl, `copy_${round}`);
  return asOwner(to, (client) =>
    seconds(async () => {
      for (const table of copied) await client.query(`copy ${table} from ${file(table)}`);
    }),
  );
}

try {
  const { url, folder } = await benchDatabase();
  // The database server runs under another account
  await chmod(folder, 0o755);
  const slapd = await startSlapd({ entries: entries(), baseDn });
  try {
    await readAlone(slapd);
    const rounds: Round[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1)
      rounds.push(await measureRound(url, folder, slapd, round));
    const medianOf = (figure: keyof Round) => median(rounds.map((round) => round[figure]));
    console.log(
      `${peopleCount} people, ${groupCount} groups; paged read with values ${medianOf('read').toFixed(2)} s, COPY ${medianOf('copy').toFixed(2)} s`,
    );
    report('first synchronization', {
      ours: medianOf('first'),
      limit: medianOf('read') + medianOf('copy'),
      unit: 's',
      goal: 'at most 2.0',
    });
    report('repeated synchronization', {
      ours: medianOf('repeat'),
      limit: medianOf('read'),
      unit: 's',
      goal: 'at most 2.5',
    });
    report('the same after one person has changed', {
      ours: medianOf('oneChanged'),
      limit: medianOf('read'),
      unit: 's',
      goal: 'no goal',
    });
    console.log(
      `worker memory at its peak: ${Math.max(...rounds.map(({ peakMb }) => peakMb)).toFixed(0)} MB (at most 400)`,
    );
    console.log(
      `account, group and membership rows written by repeats: ${Math.max(...rounds.map(({ written }) => written))} (0)`,
    );
  } finally {
    await slapd.stop();
  }
} finally {
  await stopAll();
}
