// GET /modules/active and a granted route in a tenant of 20,000 accounts and 1,000 groups against the same in an empty one.
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { Client } from 'pg';
import { type Database, openDatabase } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { customModules, groupMembers, groups, moduleCategories, moduleGrants } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { modules } from '@portal/domain/modules/modules';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { alternate, benchDatabase, benchSettings, median, report, startServer, stopAll } from './measure.ts';

const seconds = Number(process.argv[2] ?? 3);
const size = { groups: 1_000, users: 20_000, groupsOfEach: 5, shared: 42, personal: 10_000 };

type Account = { id: string; tenantId: string };

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

/** Inserts in portions that a statement can carry. */
async function insertAll<Row extends object>(rows: Row[], insert: (portion: Row[]) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < rows.length; n += 2_000) await insert(rows.slice(n, n + 2_000));
}

/** Everything around this account: the other accounts, groups that hold every module, and custom modules, shared and others' own. */
async function fill(database: Database, { id, tenantId }: Account): Promise<void> {
  const people = Array.from({ length: size.users - 1 }, (_, n) => ({ id: newId(), tenantId, username: `bench-${n}` }));
  const everybody = [{ id }, ...people];
  const rooms = Array.from({ length: size.groups }, (_, n) => ({ id: newId(), tenantId, internalName: `Gruppe ${n}` }));
  const memberships = everybody.flatMap((person, n) =>
    Array.from({ length: size.groupsOfEach }, (_, each) => ({
      tenantId,
      userId: person.id,
      groupId: pick(rooms, n * 7 + each * 131).id,
    })),
  );
  const grants = rooms.flatMap(({ id: groupId }, n) =>
    [0, 1].map((each) => ({
      id: newId(),
      tenantId,
      groupId,
      moduleKey: pick(modules, n + each * 3).key,
      level: pick(['USE', 'MANAGE'] as const, n),
    })),
  );
  const { tx } = database.inTenant(tenantId);
  await insertAll(people, (portion) => tx((db) => db.insert(users).values(portion)));
  await insertAll(rooms, (portion) => tx((db) => db.insert(groups).values(portion)));
  await insertAll(memberships, (portion) => tx((db) => db.insert(groupMembers).values(portion).onConflictDoNothing()));
  await insertAll(grants, (portion) => tx((db) => db.insert(moduleGrants).values(portion)));

  const categories = await tx((db) => db.select({ id: moduleCategories.id }).from(moduleCategories));
  const pages = Array.from({ length: size.shared + size.personal }, (_, n) => ({
    id: newId(),
    tenantId,
    ownerUserId: n < size.shared ? null : pick(people, n).id,
    name: `Seite ${n}`,
    url: `https://wiki.example.org/seite/${n}`,
    categoryId: pick(categories, n).id,
    sortOrder: n % 10,
  }));
  await insertAll(pages, (portion) => tx((db) => db.insert(customModules).values(portion)));
}

/** Lets the planner see what there is, as the server does by itself after a while. */
async function analyze(url: string): Promise<void> {
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();
}

/** Grants every module to the account itself, so that both tenants have somebody who may open all of them. */
async function grantAll(database: Database, { id, tenantId }: Account): Promise<void> {
  await database
    .inTenant(tenantId)
    .tx((db) =>
      db
        .insert(moduleGrants)
        .values(
          modules.map(({ key }) => ({ id: newId(), tenantId, userId: id, moduleKey: key, level: 'MANAGE' as const })),
        ),
    );
}

interface Visitor {
  headers: { cookie: string };
}

const agent = new Agent({ keepAlive: true });

/** Milliseconds a single request takes, to the last byte of its answer. */
const timed = (url: string, { headers }: Visitor): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    get(url, { agent, headers }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url} answered ${answer.statusCode}`));
      answer.resume().once('end', () => resolve(performance.now() - startedAt));
    }).once('error', reject);
  });

/** Medians of requests by these two in turn, so that whatever else the machine does meets both. */
async function oneByOne(url: string, one: Visitor, other: Visitor): Promise<[number, number]> {
  const [ofOne, ofOther]: [number[], number[]] = [[], []];
  for (const end = performance.now() + seconds * 5_000; performance.now() < end;) {
    ofOne.push(await timed(url, one));
    ofOther.push(await timed(url, other));
  }
  return [median(ofOne), median(ofOther)];
}

/** Milliseconds a request takes when 32 are under way. */
async function atOnce(url: string, { headers }: Visitor): Promise<number> {
  const result = await autocannon({ url, connections: 32, duration: seconds, headers });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`);
  return 32_000 / result.requests.average;
}

try {
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10' };
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const tokens = openSessionTokens(readConfig(settings).sessionKeys);
  const api = await startServer('bench/granted-server.ts', settings, join(folder, 'api.log'));

  async function visitor(account: Account): Promise<Visitor & { entries: number }> {
    const session = await make.session(account);
    const token = tokens.issue({ sub: account.id, tid: account.tenantId, sid: session.id, ver: 1 });
    const headers = { cookie: `portal_session=${token}` };
    const answer = await fetch(`${api.url}/modules/active`, { headers });
    return { headers, entries: ((await answer.json()) as unknown[]).length };
  }
  const [inEmpty, inFull] = [await make.user(), await make.user()];
  // The first look makes the categories.
  for (const account of [inEmpty, inFull]) await grantAll(database, account).then(() => visitor(account));
  await fill(database, inFull);
  await analyze(url);
  const [empty, full] = [await visitor(inEmpty), await visitor(inFull)];
  console.log(`entries of GET /modules/active: ${empty.entries} in the empty tenant, ${full.entries} in the full one`);
  await database.close();

  for (const path of ['/modules/active', '/granted']) {
    const [ours, limit] = await oneByOne(api.url + path, full, empty);
    report(`GET ${path}, one by one`, { ours, limit, unit: 'ms', goal: 'at most 1.30' });
    const results = await alternate(5, {
      ours: () => atOnce(api.url + path, full),
      limit: () => atOnce(api.url + path, empty),
    });
    report(`GET ${path}, 32 at once`, {
      ours: median(results.ours),
      limit: median(results.limit),
      unit: 'ms',
      goal: 'for comparison',
    });
  }
} finally {
  agent.destroy();
  await stopAll();
}
