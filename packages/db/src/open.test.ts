import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { asc, eq, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testDatabase } from '@portal/testing/database';
import { builders } from '@portal/testing/make';
import { sqlState, violatedConstraint } from './database-error.ts';
import { newestMigration } from './migrations.ts';
import { type Database, openDatabase, type Tx } from './open.ts';
import { type Prepared, prepared } from './prepared.ts';
import { sessions } from './schema/accounts/sessions.ts';
import { users } from './schema/accounts/users.ts';
import { tenants } from './schema/tenants.ts';

const { url, ownerUrl } = await testDatabase();
const reasons: string[] = [];
// Fewer connections than callers.
const database: Database = openDatabase({
  url,
  poolMax: 5,
  applicationName: 'portal-open-test',
  onAcrossTenants: (why) => reasons.push(why),
});
/** So few connections that callers wait for each other. */
const small: Database = openDatabase({ url, poolMax: 2, applicationName: 'portal-open-test-small' });
const make = builders(database);
afterAll(async () => {
  await database.close();
  await small.close();
});

const usernames = prepared<Record<string, never>>()('test_usernames', (db) =>
  db.select({ username: users.username }).from(users).orderBy(asc(users.username)),
);

const divided = prepared<{ by: number }>()('test_divided', (db) =>
  db.select({ quotient: sql<number>`1 / ${sql.placeholder('by')}::int` }).from(users),
);
const dividedByZero = prepared<Record<string, never>>()('test_divided_by_zero', (db) =>
  db.select({ quotient: sql<number>`1 / (count(*) - count(*))` }).from(users),
);
const late: Prepared<Record<string, never>, unknown> = {
  name: 'test_late',
  build: (db) => ({ execute: async () => (await Promise.resolve(), db.select().from(users)) }),
};
const everyType = prepared<{ n: number }>()('test_every_type', (db) =>
  db
    .select({
      n: sql<number>`${sql.placeholder('n')}::int`,
      id: users.id,
      at: sql`timestamptz '2026-03-29 02:00+01'`.mapWith(users.createdAt),
      list: sql<string[]>`array['a', 'b']`,
      json: sql<object>`'{"ä": [1, null]}'::jsonb`,
      bytes: sql<Buffer>`'\\x00ff'::bytea`,
      none: sql<null>`null::text`,
    })
    .from(users),
);
const slow = prepared<Record<string, never>>()('test_slow', (db) => db.select({ slept: sql`pg_sleep(5)` }).from(users));

describe('a tenant scope', () => {
  let ours: Awaited<ReturnType<typeof make.user>>;
  let theirs: Awaited<ReturnType<typeof make.user>>;
  beforeAll(async () => {
    ours = await make.user();
    theirs = await make.user();
  });

  it('sees its own rows and no others', async () => {
    const rows = await database.inTenant(ours.tenantId).read((db) => db.select({ id: users.id }).from(users));
    expect(rows).toEqual([{ id: ours.id }]);
    const seen = await database.inTenant(ours.tenantId).read((db) => db.select({ id: tenants.id }).from(tenants));
    expect(seen).toEqual([{ id: ours.tenantId }]);
  });

  it('cannot write or change a row of another tenant, or move a row there', async () => {
    const us = database.inTenant(ours.tenantId);
    await expect(
      us.tx((tx) => tx.insert(users).values({ id: newId(), tenantId: theirs.tenantId, username: 'intruder' })),
    ).rejects.toSatisfy((error) => sqlState(error) === '42501');
    const changed = await us.tx((tx) =>
      tx.update(users).set({ displayName: 'x' }).where(eq(users.id, theirs.id)).returning(),
    );
    expect(changed).toEqual([]);
    await expect(
      us.tx((tx) => tx.update(users).set({ tenantId: theirs.tenantId }).where(eq(users.id, ours.id))),
    ).rejects.toSatisfy((error) => sqlState(error) === '42501');
  });

  it('cannot refer to another tenant’s row in any scope', async () => {
    await expect(
      database.acrossTenants('a test tries to point abroad', (tx) =>
        tx.insert(sessions).values({ id: newId(), tenantId: ours.tenantId, userId: theirs.id, expiresAt: new Date() }),
      ),
    ).rejects.toSatisfy((error) => sqlState(error) === '23503');
  });

  it.each([
    ['five', () => database],
    ['two', () => small],
  ])('answers each of many interleaved tenants with its own rows, on %s connection(s)', async (_, open) => {
    const people = await Promise.all(Array.from({ length: 12 }, () => make.user()));
    const rounds = Array.from({ length: 900 }, (__, round) => people[(round * 7) % people.length] ?? ours);
    const answers = await Promise.all(
      rounds.map(async (person, round) => {
        // Spread over several turns of the event loop, so that some start while others are answered.
        if (round % 3 === 0) await new Promise((resolve) => setTimeout(resolve, round % 11));
        return open().inTenant(person.tenantId).run(usernames, {});
      }),
    );
    expect(answers).toEqual(rounds.map(({ username }) => [{ username }]));
  });

  it.each([
    ['five', 5],
    ['two', 2],
  ])('reads every type alike on first and later use, on %s connection(s)', async (_, poolMax) => {
    const fresh = openDatabase({ url, poolMax, applicationName: 'portal-open-test-fresh' });
    const us = fresh.inTenant(ours.tenantId);
    // All of them are sent before the server has described the first one.
    const first = await Promise.all(Array.from({ length: 20 }, () => us.run(everyType, { n: 1 })));
    const later = [await us.run(everyType, { n: 1 }), ...(await us.tx((tx) => tx.runAndCommit(everyType, { n: 1 })))];
    const expected = {
      n: 1,
      id: ours.id,
      at: new Date('2026-03-29T01:00:00Z'),
      list: ['a', 'b'],
      json: { ä: [1, null] },
      bytes: Buffer.from('00ff', 'hex'),
      none: null,
    };
    expect(first.flat()).toEqual(Array.from({ length: 20 }, () => expected));
    expect(later.flat()).toEqual([expected, expected]);
    await fresh.close();
  });

  it.each([
    ['five', 5],
    ['one', 1],
  ])('runs a statement again that failed on its first use, on %s connection(s)', async (_, poolMax) => {
    const fresh = openDatabase({ url, poolMax, applicationName: 'portal-open-test-fresh' });
    const us = fresh.inTenant(ours.tenantId);
    for (let round = 0; round < 3; round += 1) {
      await expect(us.run(divided, { by: 0 })).rejects.toSatisfy((error) => sqlState(error) === '22012');
      await expect(us.tx((tx) => tx.runAndCommit(divided, { by: 0 }))).rejects.toSatisfy(
        (error) => sqlState(error) === '22012',
      );
      expect(await us.tx((tx) => tx.runAndCommit(divided, { by: 1 }))).toEqual([{ quotient: 1 }]);
      expect(await us.run(divided, { by: 1 })).toEqual([{ quotient: 1 }]);
    }
    await fresh.close();
  });

  it('fails alone if its statement fails; later ones on the same connection are answered', async () => {
    const us = database.inTenant(ours.tenantId);
    const answers = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) =>
        n % 3 === 0
          ? us.run(divided, { by: 0 })
          : n % 3 === 1
            ? us.run(usernames, {})
            : database.inTenant(theirs.tenantId).run(usernames, {}),
      ),
    );
    for (const [n, answer] of answers.entries()) {
      if (n % 3 === 0)
        expect(answer).toMatchObject({
          status: 'rejected',
          reason: expect.toSatisfy((error) => sqlState(error) === '22012'),
        });
      else
        expect(answer).toMatchObject({
          status: 'fulfilled',
          value: [{ username: n % 3 === 1 ? ours.username : theirs.username }],
        });
    }
  });

  it('gets "unavailable" when its connection is cut, and the next read gets a new connection', async () => {
    const us = database.inTenant(ours.tenantId);
    await us.run(usernames, {});
    const waiting = Promise.allSettled(Array.from({ length: 5 }, () => us.run(slow, {})));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const owner = new Client({ connectionString: ownerUrl });
    await owner.connect();
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'portal-open-test'`,
    );
    await owner.end();
    for (const answer of await waiting)
      expect(answer).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } });
    await expect.poll(() => us.run(usernames, {}).catch(() => null)).toEqual([{ username: ours.username }]);
  });

  it('never reads under the next caller’s tenant, even with a late statement', async () => {
    await expect(database.inTenant(ours.tenantId).run(late, {})).rejects.toMatchObject({
      cause: expect.objectContaining({ message: expect.stringMatching(/too late/) }),
    });
  });

  it('keeps its tenant after a transaction was rolled back', async () => {
    const [us, them] = [small.inTenant(ours.tenantId), small.inTenant(theirs.tenantId)];
    for (let round = 0; round < 10; round += 1) {
      // One throws before the server has answered, the other afterwards.
      await expect(us.tx(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(await them.run(usernames, {})).toEqual([{ username: theirs.username }]);
      await expect(us.tx(async (tx) => tx.execute(sql`select 1 / 0`))).rejects.toThrow();
      expect(await us.run(usernames, {})).toEqual([{ username: ours.username }]);
      await expect(them.tx(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(await us.tx((tx) => tx.run(usernames, {}))).toEqual([{ username: ours.username }]);
    }
  });

  it('writes nothing when its work fails', async () => {
    const us = database.inTenant(ours.tenantId);
    const id = newId();
    await expect(
      us.tx(async (tx) => {
        await tx.insert(users).values({ id, tenantId: ours.tenantId, username: `lost-${id}` });
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await us.read((db) => db.select().from(users).where(eq(users.id, id)))).toEqual([]);
  });

  describe('with a last statement', () => {
    const renamed = prepared<{ displayName: string }>()('test_renamed', (db) =>
      db
        .update(users)
        .set({ displayName: sql`${sql.placeholder('displayName')}` })
        .returning({ id: users.id }),
    );
    const named = async () => {
      const [row] = await database
        .inTenant(ours.tenantId)
        .read((db) => db.select({ displayName: users.displayName }).from(users));
      return row?.displayName;
    };

    it('commits behind it, in the tenant it was opened for', async () => {
      const us = database.inTenant(ours.tenantId);
      expect(await us.tx((tx) => tx.runAndCommit(renamed, { displayName: 'first' }))).toEqual([{ id: ours.id }]);
      expect(await named()).toBe('first');
      const [them] = await database
        .inTenant(theirs.tenantId)
        .read((db) => db.select({ displayName: users.displayName }).from(users));
      expect(them?.displayName).not.toBe('first');
    });

    it('stays committed even if the work throws afterwards', async () => {
      const working = database.inTenant(ours.tenantId).tx(async (tx) => {
        await tx.runAndCommit(renamed, { displayName: 'second' });
        throw new Error('too late to change my mind');
      });
      await expect(working).rejects.toThrow('too late to change my mind');
      expect(await named()).toBe('second');
    });

    const renamedAndDivided = prepared<{ by: number }>()('test_renamed_and_divided', (db) =>
      db
        .update(users)
        .set({ displayName: 'never' })
        .returning({ quotient: sql`1 / ${sql.placeholder('by')}::int` }),
    );

    it.each<[string, (tx: Tx) => Promise<unknown>]>([
      [
        'behind others',
        (tx) => Promise.all([tx.run(renamed, { displayName: 'never' }), tx.runAndCommit(divided, { by: 0 })]),
      ],
      ['as the only one', (tx) => tx.runAndCommit(renamedAndDivided, { by: 0 })],
    ])('writes nothing when it fails %s, and the connection goes on with the right tenant', async (_, work) => {
      const before = await named();
      const [us, them] = [small.inTenant(ours.tenantId), small.inTenant(theirs.tenantId)];
      await expect(us.tx(work)).rejects.toSatisfy((error) => sqlState(error) === '22012');
      expect(await named()).toBe(before);
      expect(await them.run(usernames, {})).toEqual([{ username: theirs.username }]);
      expect(await us.run(usernames, {})).toEqual([{ username: ours.username }]);
    });

    it('refuses later statements', async () => {
      const us = database.inTenant(ours.tenantId);
      await expect(
        us.tx((tx) => Promise.all([tx.runAndCommit(usernames, {}), tx.run(renamed, { displayName: 'never' })])),
      ).rejects.toMatchObject({ cause: expect.objectContaining({ message: expect.stringMatching(/too late/) }) });
      await expect(
        us.tx(async (tx) => {
          await tx.runAndCommit(usernames, {});
          await tx.runAndCommit(renamed, { displayName: 'never' });
        }),
      ).rejects.toThrow(/too late/);
      expect(await named()).not.toBe('never');
      expect(await us.tx((tx) => tx.run(usernames, {}))).toEqual([{ username: ours.username }]);
    });

    it('is not sent if it comes late', async () => {
      const late: Prepared<Record<string, never>, unknown> = {
        name: 'test_late_last',
        build: (db) => ({
          execute: async () => (await Promise.resolve(), db.update(users).set({ displayName: 'never' }).returning()),
        }),
      };
      await expect(database.inTenant(ours.tenantId).tx((tx) => tx.runAndCommit(late, {}))).rejects.toMatchObject({
        cause: expect.objectContaining({ message: expect.stringMatching(/too late/) }),
      });
      expect(await named()).not.toBe('never');
    });
  });

  it('refuses anything that is no tenant id', () => {
    expect(() => database.inTenant('')).toThrow(TypeError);
    expect(() => database.inTenant("x' or true --")).toThrow(TypeError);
  });
});

describe('the tenant wall', () => {
  const served = prepared<Record<string, never>>()('test_served', (db) =>
    db.select({ served: sql`concat(current_user, ' ', current_setting('portal.tenant', true))` }).from(tenants),
  );
  let ours: Awaited<ReturnType<typeof make.user>>;
  let theirs: Awaited<ReturnType<typeof make.user>>;
  beforeAll(async () => {
    ours = await make.user();
    theirs = await make.user();
  });
  const openFresh = (poolMax: number, at = url) =>
    openDatabase({ url: at, poolMax, applicationName: 'portal-open-test-wall' });

  it.each([
    ['five', 5],
    ['one', 1],
  ])('leaves nothing of a tenant on %s connection(s)', async (_, poolMax) => {
    const fresh = openFresh(poolMax);
    const us = fresh.inTenant(ours.tenantId);
    const uses: (() => Promise<unknown>)[] = [
      () => us.run(usernames, {}),
      () => us.run(divided, { by: 0 }),
      () => us.run(late, {}),
      () => us.read((db) => db.select().from(users)),
      () => us.tx((tx) => tx.select().from(users)),
      () => us.tx((tx) => tx.runAndCommit(usernames, {})),
      () => us.tx((tx) => tx.runAndCommit(divided, { by: 0 })),
      () => us.tx((tx) => tx.execute(sql`select 1 / 0`)),
      () => us.tx(() => Promise.reject(new Error('before anything was sent'))),
    ];
    for (const use of uses) {
      // The next caller on each connection would run under any leftover state.
      await Promise.all(Array.from({ length: 4 }, () => use().catch(() => undefined)));
      const them = fresh.inTenant(theirs.tenantId);
      const rows = await Promise.all([
        ...Array.from({ length: 4 }, () => them.run(served, {})),
        ...Array.from({ length: 4 }, () => fresh.acrossTenants('a test', (tx) => tx.run(served, {}))),
      ]);
      expect(new Set(rows.flat().map((row) => row.served))).toEqual(
        new Set([`portal_app ${theirs.tenantId}`, 'portal_across ']),
      );
    }
    await fresh.close();
  });

  it('lets a statement without a tenant see nothing', async () => {
    const client = new Client({ connectionString: url, options: '-c role=portal_app' });
    await client.connect();
    await expect(client.query('select * from users')).rejects.toMatchObject({ code: '42704' });
    await client.query(`begin; set local portal.tenant = '${ours.tenantId}'`);
    expect((await client.query('select * from users')).rows).toHaveLength(1);
    await client.query('commit');
    await expect(client.query('select * from users')).rejects.toMatchObject({ code: '22P02' });
    await client.end();
  });

  it('holds on one connection that many tenants share in turns', async () => {
    const one = openFresh(1);
    const scopes = [ours, theirs].map(({ tenantId, username }) => ({ scope: one.inTenant(tenantId), username }));
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const { scope, username } = scopes[n % 2] ?? expect.fail();
        if (n % 5 === 0) await scope.tx((tx) => tx.execute(sql`select 1 / 0`)).catch(() => undefined);
        const rows =
          n % 3 === 0
            ? await scope.run(usernames, {})
            : n % 3 === 1
              ? await scope.tx((tx) => tx.run(usernames, {}))
              : await scope.read((db) => db.select({ username: users.username }).from(users));
        expect(rows).toEqual([{ username }]);
      }),
    );
    expect(one.poolState().total).toBe(1);
    await one.close();
  });

  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['prepared', (tx) => tx.run(usernames, {})],
    ['built on the spot', async (tx) => tx.select().from(users)],
  ])(
    'refuses a statement, %s, of a transaction that has ended, after the connection has changed hands',
    async (_, use) => {
      const one = openFresh(1);
      const ended = await one.inTenant(ours.tenantId).tx(async (tx) => (await use(tx), { tx }));
      await one.inTenant(theirs.tenantId).tx(async (tx) => {
        await use(tx);
        const refused = await use(ended.tx).catch((error: unknown) => error);
        expect(refused).toMatchObject({ cause: { message: expect.stringMatching(/too late/) } });
        expect(await tx.run(usernames, {})).toEqual([{ username: theirs.username }]);
      });
      await one.close();
    },
  );

  it('holds when the connection is lost between a preamble and its statement', async () => {
    const proxy = await openProxy();
    const cut = openFresh(1, proxy.url);
    const us = cut.inTenant(ours.tenantId);
    expect(await us.run(usernames, {})).toEqual([{ username: ours.username }]);
    for (const use of [
      () => us.run(usernames, {}),
      () => us.tx(async (tx) => tx.update(users).set({ displayName: 'never' })),
      () => cut.runAcrossTenants('a test', usernames, {}),
    ]) {
      proxy.cutBehindFirstMessage();
      await expect(use()).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await us.run(usernames, {})).toEqual([{ username: ours.username }]);
    }
    expect(
      await database.inTenant(ours.tenantId).read((db) => db.select({ name: users.displayName }).from(users)),
    ).not.toContainEqual({ name: 'never' });
    await cut.close();
    proxy.close();
  });
});

describe('a cross-tenant scope', () => {
  it('sees every tenant, logs the reason, and leaves no state on the connection', async () => {
    const a = await make.user();
    const b = await make.user();
    const seen = await database.acrossTenants('a test looks around', (tx) => tx.select({ id: users.id }).from(users));
    expect(seen.map(({ id }) => id)).toEqual(expect.arrayContaining([a.id, b.id]));
    expect(reasons).toContain('a test looks around');
    for (let round = 0; round < 6; round += 1) {
      expect(await database.inTenant(a.tenantId).run(usernames, {})).toEqual([{ username: a.username }]);
    }
  });

  it.each<[string, (statement: Prepared<Record<string, never>, unknown>) => Promise<unknown[]>]>([
    ['a single last statement', (statement) => small.acrossTenants('a test', (tx) => tx.runAndCommit(statement, {}))],
    ['a read among five connections', (statement) => database.runAcrossTenants('a test', statement, {})],
    ['a read among two connections', (statement) => small.runAcrossTenants('a test', statement, {})],
  ])('sees every tenant in %s, and leaves nothing of itself either', async (_, across) => {
    const a = await make.user();
    const b = await make.user();
    const tenantsOf = async () =>
      Promise.all(
        [a, b]
          .flatMap(({ tenantId }) => [database.inTenant(tenantId), small.inTenant(tenantId)])
          .map((scope) => scope.run(usernames, {})),
      );
    const own = [a, a, b, b].map(({ username }) => [{ username }]);
    for (let round = 0; round < 6; round += 1) {
      // Together with reads of tenants, on the same connections.
      const [seen, ...theirs] = await Promise.all([across(usernames), tenantsOf(), across(usernames), tenantsOf()]);
      expect(seen).toEqual(expect.arrayContaining([{ username: a.username }, { username: b.username }]));
      expect(theirs[0]).toEqual(own);
      expect(theirs[2]).toEqual(own);
      expect(await tenantsOf()).toEqual(own);
    }
    await expect(across(dividedByZero)).rejects.toSatisfy((error) => sqlState(error) === '22012');
    await expect(across(late)).rejects.toMatchObject({
      cause: expect.objectContaining({ message: expect.stringMatching(/too late/) }),
    });
    expect(await tenantsOf()).toEqual(own);
  });

  it('leaves no state behind if its statement is refused before it is sent', async () => {
    const a = await make.user();
    await make.user();
    const one = openDatabase({ url, poolMax: 1, applicationName: 'portal-open-test-clash' });
    const us = one.inTenant(a.tenantId);
    expect(await us.run(usernames, {})).toEqual([{ username: a.username }]);
    // Under a name that means another statement on this connection.
    const clash: Prepared<Record<string, never>, unknown> = {
      name: 'test_clash',
      build: (db) => db.select({ id: users.id }).from(users).prepare(usernames.name),
    };
    const [refused, behind] = await Promise.allSettled([
      one.runAcrossTenants('a test', clash, {}),
      us.run(usernames, {}),
    ]);
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { cause: { message: expect.stringMatching(/must be unique/) } },
    });
    expect(behind).toMatchObject({ value: [{ username: a.username }] });
    expect(await us.run(usernames, {})).toEqual([{ username: a.username }]);
    await one.close();
  });

  it('logs the reason of a read', async () => {
    await database.runAcrossTenants('a test reads across', usernames, {});
    expect(reasons).toContain('a test reads across');
  });

  it('works with only the rights of portal_across', async () => {
    const [who] = await database
      .acrossTenants('a test asks who it is', (tx) =>
        tx.execute<{ role: string; super: string }>(
          sql`select current_user as role, current_setting('is_superuser') as super`,
        ),
      )
      .then(({ rows }) => rows);
    expect(who).toEqual({ role: 'portal_across', super: 'off' });
  });
});

/** A proxy between a pool and the server. */
async function openProxy() {
  const servers = new Set<Socket>();
  let isToCut = false;
  const proxy = createServer((client) => {
    const { hostname, port } = new URL(url);
    const server = connect(Number(port), hostname);
    servers.add(server);
    client.on('close', () => server.destroy()).on('error', () => server.destroy());
    server.on('error', () => client.destroy()).pipe(client);
    client.on('data', (chunk: Buffer) => {
      if (!isToCut) return void server.write(chunk);
      isToCut = false;
      // A message begins with a letter and its length; the length includes itself.
      server.end(chunk.subarray(0, 1 + chunk.readInt32BE(1)), () => client.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = Object.assign(new URL(url), { port: String((proxy.address() as AddressInfo).port) });
  return {
    url: address.href,
    cutBehindFirstMessage: () => void (isToCut = true),
    fallSilent: () => servers.forEach((server) => server.unpipe()),
    close: () => void proxy.close(),
  };
}

it('gives up on a server that no longer answers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const proxy = await openProxy();
  const silent = openDatabase({ url: proxy.url, poolMax: 1, applicationName: 'portal-open-test-silent' });
  await silent.ping();
  proxy.fallSilent();
  const answer = silent.ping().catch((error: unknown) => error);
  // Idle before, so the timeout starts with the statement.
  await vi.advanceTimersByTimeAsync(39_000);
  expect(await Promise.race([answer, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await answer).toMatchObject({ kind: 'unavailable' });
  await silent.ping();
  vi.useRealTimers();
  await silent.close();
  proxy.close();
});

it('leaves a connection that may only read, so that the next one can reach the primary', async () => {
  const { tenantId } = await make.user();
  const only = openDatabase({ url, poolMax: 1, applicationName: 'portal-open-test-read-only' });
  const us = only.inTenant(tenantId);
  await us.tx((tx) => tx.execute(sql`set session characteristics as transaction read only`));
  const write = () => us.tx((tx) => tx.update(users).set({ displayName: 'written' }).returning());
  await expect(write()).rejects.toSatisfy((error) => sqlState(error) === '25006');
  expect(await write()).toHaveLength(1);
  await only.close();
});

it('does not work on a database that lacks a migration it needs, and works once that is applied', async () => {
  const needs = (newest: number) =>
    openDatabase({ url, poolMax: 1, applicationName: 'portal-open-test-older', newestMigration: newest });
  const current = needs(newestMigration());
  await current.ping();
  await current.close();
  const later = needs(newestMigration() + 1);
  await expect(later.ping()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    cause: { message: expect.stringContaining('pnpm migrate') },
  });
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(
    'insert into drizzle.__drizzle_migrations (hash, created_at) select $1, max(created_at) + 1 from drizzle.__drizzle_migrations',
    ['a test'],
  );
  await expect(later.ping()).resolves.toBeUndefined();
  await later.close();
  // Before this release, the apps had no right to see how far the database is.
  await owner.query('revoke select (created_at) on drizzle.__drizzle_migrations from portal_app');
  const early = needs(1);
  await expect(early.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await owner.query('grant select (created_at) on drizzle.__drizzle_migrations to portal_app');
  await expect(early.ping()).resolves.toBeUndefined();
  await early.close();
  await owner.end();
});

it('names the index that a duplicate violates', async () => {
  const user = await make.user();
  const error = await make.user({ username: user.username }).catch((caught: unknown) => caught);
  expect(sqlState(error)).toBe('23505');
  expect(violatedConstraint(error)).toBe('users_username_unique');
});

it('reports that the database is unavailable instead of the driver’s error', async () => {
  const nowhere = openDatabase({
    url: 'postgres://nobody:secret@127.0.0.1:1/nothing',
    poolMax: 1,
    applicationName: 'test',
  });
  const error: unknown = await nowhere.ping().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
  expect(String(error)).not.toContain('127.0.0.1');
  await nowhere.close();
});
