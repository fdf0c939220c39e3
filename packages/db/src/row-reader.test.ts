import { asc, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { afterAll, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { builders } from '@portal/testing/make';
import { openDatabase, type Reader } from './open.ts';
import { prepared, preparedFor } from './prepared.ts';
import { compileReader } from './row-reader.ts';
import { users } from './schema/accounts/users.ts';
import { tenants } from './schema/tenants.ts';

const { url } = await testDatabase();
const database = openDatabase({ url, poolMax: 5, applicationName: 'portal-row-reader-test' });
const make = builders(database);
afterAll(() => database.close());

const everyKind = (db: Pick<Reader, 'select'>) =>
  db
    .select({
      username: users.username,
      role: users.role,
      isActive: users.isActive,
      version: users.sessionVersion,
      lastLoginAt: users.lastLoginAt,
      createdAt: users.createdAt,
      background: users.dashboardBackground,
      tenantName: tenants.name,
      isLocal: sql<boolean>`${users.ldapDn} is null`.as('is_local'),
      seen: sql<Date>`greatest(${users.createdAt}, ${users.lastLoginAt})`.mapWith(users.createdAt),
      latest: sql<Date>`max(${users.createdAt}) over ()`.mapWith(users.createdAt).as('latest'),
    })
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .orderBy(asc(users.username));

const nested = (db: Pick<Reader, 'select'>) =>
  db
    .select({ user: { name: users.username }, tenant: tenants })
    .from(users)
    .leftJoin(tenants, eq(tenants.id, users.tenantId));

const everyKindPrepared = prepared<Record<string, never>>()('test_every_kind', everyKind);
const nestedPrepared = prepared<Record<string, never>>()('test_nested', nested);
const byName = preparedFor<{ limit: number; name?: string | undefined }>()('test_by_name', (db, given) =>
  db
    .select({ username: users.username })
    .from(users)
    .where(given('name') ? eq(users.username, sql.placeholder('name')) : undefined)
    .orderBy(asc(users.username))
    .limit(sql.placeholder('limit')),
);

const tenantId = (await make.tenant()).id;
await make.user({ tenantId, username: 'ada', lastLoginAt: new Date('2026-11-20T08:30:00.123Z') });
await make.user({
  tenantId,
  username: 'bob',
  isActive: false,
  ldapDn: 'cn=bob',
  dashboardBackground: { kind: 'none' },
});
const scope = database.inTenant(tenantId);

it('reads rows as Drizzle does', async () => {
  const read = await scope.read((db) => everyKind(db));
  expect(read).toHaveLength(2);
  expect(read[0]?.lastLoginAt).toEqual(new Date('2026-11-20T08:30:00.123Z'));
  const rows = await scope.run(everyKindPrepared, {});
  expect(rows).toStrictEqual(read);
  expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(read[0] ?? {}));
});

it('leaves rows with parts to Drizzle', async () => {
  expect(await scope.run(nestedPrepared, {})).toStrictEqual(await scope.read((db) => nested(db)));
});

it('knows the statements of this release of Drizzle', () => {
  const statement = everyKindPrepared.build(drizzle('postgres://nobody@127.0.0.1:1/none'));
  compileReader(statement);
  expect(statement).toHaveProperty('customResultMapper', expect.any(Function));
});

it('prepares one statement for each combination of what is given', async () => {
  expect(await scope.run(byName({ limit: 5 }), { limit: 5 })).toEqual([{ username: 'ada' }, { username: 'bob' }]);
  const bob = { limit: 5, name: 'bob' };
  expect(await scope.run(byName(bob), bob)).toEqual([{ username: 'bob' }]);
  expect(byName({ limit: 1, name: 'ada' })).toBe(byName(bob));
  expect(byName({ limit: 1, name: undefined })).toBe(byName({ limit: 5 }));
  expect(byName(bob).name).not.toBe(byName({ limit: 5 }).name);
});
