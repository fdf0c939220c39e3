import { performance } from 'node:perf_hooks';
// A tenant-scoped read with row policies against the same statement without them.
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import { openDatabase } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { builders } from '@portal/testing/make';
import { alternate, benchDatabase, median, report, stopAll } from './measure.ts';

const seconds = Number(process.argv[2] ?? 4);
const callers = 32;

const columns = { id: users.id, username: users.username, displayName: users.displayName, role: users.role };
const scoped = prepared<{ id: string }>()('bench_user', (db) =>
  db
    .select(columns)
    .from(users)
    .where(eq(users.id, sql.placeholder('id'))),
);

try {
  const { url } = await benchDatabase();
  const database = openDatabase({ url, poolMax: 10, applicationName: 'bench' });
  const make = builders(database);
  const people = await Promise.all(Array.from({ length: 50 }, () => make.user()));

  // The same driver, mapping and prepared statement as the owner of the tables, without policies and without a scope.
  const pool = new Pool({ connectionString: url, max: 10 });
  // The server may end its last connections before they have said goodbye
  pool.on('error', () => undefined);
  await pool.query('alter table users disable row level security');
  const bare = drizzle(pool, { casing: 'snake_case' })
    .select(columns)
    .from(users)
    .where(eq(users.id, sql.placeholder('id')))
    .prepare('bench_bare');

  const run = (read: (person: { id: string; tenantId: string }) => Promise<unknown[]>, spread: number) => async () => {
    await pool.query(`alter table users ${read === withPolicies ? 'enable' : 'disable'} row level security`);
    const end = performance.now() + seconds * 1_000;
    let done = 0;
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let n = caller; performance.now() < end; n += 1) {
          const person = people[n % spread];
          if (!person || (await read(person)).length !== 1) throw new Error('a row is missing');
          done += 1;
        }
      }),
    );
    return done / seconds;
  };
  const withPolicies = (person: { id: string; tenantId: string }) =>
    database.inTenant(person.tenantId).run(scoped, { id: person.id });
  const withoutPolicies = (person: { id: string }) => bare.execute({ id: person.id });
  await run(withPolicies, 1)();
  await run(withoutPolicies, 1)();
  const results = await alternate(5, {
    one: run(withPolicies, 1),
    many: run(withPolicies, 50),
    limit: run(withoutPolicies, 50),
  });
  report('tenant-scoped read, one tenant', {
    ours: median(results.one),
    limit: median(results.limit),
    unit: 'reads/s',
    goal: 'at least 0.90',
  });
  report('tenant-scoped read, 50 tenants in turn', {
    ours: median(results.many),
    limit: median(results.limit),
    unit: 'reads/s',
    goal: 'at least 0.90',
  });
  await pool.end();
  await database.close();
} finally {
  await stopAll();
}
