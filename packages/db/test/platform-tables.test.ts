import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { eq, getTableName, sql } from 'drizzle-orm';
import { boolean, foreignKey, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testDatabase } from '@portal/testing/database';
import { migrateDatabase } from '../src/migrate.ts';
import { openDatabase, type TenantScope, type Tx } from '../src/open.ts';
import { platformRules, tenantColumns, tenantRules } from '../src/schema/columns.ts';
import { jobOutcomes } from '../src/schema/platform/operations.ts';
import { tenants } from '../src/schema/tenants.ts';

/** Visible to all tenants. */
const stamps = pgTable('toy_stamps', { id: uuid().primaryKey(), title: text().notNull() }, () => platformRules());

/** Visible to all once it is public; before that, to tenants with a pin on it. */
const notices = pgTable(
  'toy_notices',
  { id: uuid().primaryKey(), title: text().notNull(), isPublic: boolean().notNull().default(true) },
  (t) => platformRules(sql`${t.isPublic} or exists (select from toy_pins pin where pin.notice_id = ${t.id})`),
);

const pins = pgTable('toy_pins', { ...tenantColumns, noticeId: uuid().notNull() }, (t) => [
  index('toy_pins_notice').on(t.noticeId),
  foreignKey({ columns: [t.noticeId], foreignColumns: [notices.id] }).onDelete('cascade'),
  ...tenantRules(t, tenants),
]);

const { url, ownerUrl } = await testDatabase();
const database = openDatabase({ url, poolMax: 4, applicationName: 'portal-test' });
afterAll(() => database.close());
const across = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => database.acrossTenants('a test', work);

/** The tables as a migration would create them. */
beforeAll(async () => {
  const json = (tables: Record<string, unknown>) => generateDrizzleJson(tables, undefined, undefined, 'snake_case');
  const statements = await generateMigration(json({ tenants }), json({ tenants, stamps, notices, pins }));
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  for (const statement of statements) await owner.query(statement);
  await owner.end();
  await migrateDatabase(ownerUrl);
});

let [ours, theirs]: TenantScope[] = [];
beforeEach(async () => {
  const ids = [newId(), newId()];
  await across((tx) => tx.insert(tenants).values(ids.map((id) => ({ id, name: id }))));
  [ours, theirs] = ids.map((id) => database.inTenant(id));
});
const scopes = (): [TenantScope, TenantScope] => {
  if (!ours || !theirs) throw new Error('there are no tenants yet');
  return [ours, theirs];
};

const refused = { cause: { code: '42501' } };

describe.each([
  ['with rows for all', stamps],
  ['with a policy of its own', notices],
] as const)('a platform table %s', (_, table) => {
  it('is written across tenants and read by each', async () => {
    const id = newId();
    await across((tx) => tx.insert(table).values({ id, title: 'a' }));
    await across((tx) => tx.update(table).set({ title: 'b' }).where(eq(table.id, id)));
    for (const scope of scopes()) {
      expect(await scope.read((db) => db.select({ title: table.title }).from(table).where(eq(table.id, id)))).toEqual([
        { title: 'b' },
      ]);
    }
    await across((tx) => tx.delete(table).where(eq(table.id, id)));
    for (const scope of scopes()) expect(await scope.read((db) => db.$count(table, eq(table.id, id)))).toBe(0);
  });

  it('refuses writes of a tenant, even if they would change nothing', async () => {
    const id = newId();
    const row = { id, title: 'a' };
    await across((tx) => tx.insert(table).values(row));
    const [scope] = scopes();
    const tries: ((tx: Tx) => Promise<unknown>)[] = [
      (tx) => tx.insert(table).values({ ...row, id: newId() }),
      (tx) => tx.insert(table).values(row).onConflictDoNothing(),
      (tx) => tx.update(table).set({ title: 'mine' }),
      (tx) => tx.delete(table).where(eq(table.id, id)),
      (tx) => tx.select().from(table).for('update'),
      (tx) => tx.execute(sql`truncate ${table}`),
    ];
    for (const attempt of tries) await expect(scope.tx(attempt)).rejects.toMatchObject(refused);
    expect(await across((tx) => tx.select().from(table).where(eq(table.id, id)))).toMatchObject([{ title: 'a' }]);
  });

  it('applies its policy even to a role with the right to write', async () => {
    const [scope] = scopes();
    const owner = new Client({ connectionString: ownerUrl });
    await owner.connect();
    const name = getTableName(table);
    try {
      await owner.query(`grant insert, update, delete on ${name} to portal_app`);
      const id = newId();
      await across((tx) => tx.insert(table).values({ id, title: 'a' }));
      await expect(scope.tx((tx) => tx.insert(table).values({ id: newId(), title: 'a' }))).rejects.toMatchObject(
        refused,
      );
      expect(await scope.tx((tx) => tx.update(table).set({ title: 'mine' }).returning({ id: table.id }))).toEqual([]);
      expect(await scope.tx((tx) => tx.delete(table).returning({ id: table.id }))).toEqual([]);
    } finally {
      await owner.end();
      await migrateDatabase(ownerUrl);
    }
  });
});

it('shows a tenant only the platform rows that the table’s policy allows', async () => {
  const [mine, others] = scopes();
  const id = newId();
  await across((tx) => tx.insert(notices).values({ id, title: 'a', isPublic: false }));
  const seenBy = (scope: TenantScope) => scope.read((db) => db.$count(notices, eq(notices.id, id)));
  expect(await seenBy(mine)).toBe(0);
  await mine.tx((tx) => tx.insert(pins).values({ id: newId(), tenantId: mine.tenantId, noticeId: id }));
  expect([await seenBy(mine), await seenBy(others)]).toEqual([1, 0]);
  await across((tx) => tx.update(notices).set({ isPublic: true }).where(eq(notices.id, id)));
  expect([await seenBy(mine), await seenBy(others)]).toEqual([1, 1]);
});

it('lets tenant rows refer to a platform row, and deletes them with it', async () => {
  const [mine, others] = scopes();
  const noticeId = newId();
  await across((tx) => tx.insert(notices).values({ id: noticeId, title: 'a' }));
  for (const scope of [mine, others])
    await scope.tx((tx) => tx.insert(pins).values({ id: newId(), tenantId: scope.tenantId, noticeId }));
  await expect(
    mine.tx((tx) => tx.insert(pins).values({ id: newId(), tenantId: mine.tenantId, noticeId: newId() })),
  ).rejects.toMatchObject({ cause: { code: '23503' } });
  await across((tx) => tx.delete(notices).where(eq(notices.id, noticeId)));
  for (const scope of [mine, others]) expect(await scope.read((db) => db.$count(pins))).toBe(0);
});

it('applies to the product’s job outcomes', async () => {
  const [mine] = scopes();
  const row = { name: newId(), lastRunAt: new Date(), lastState: 'succeeded', lastDurationMs: 1 } as const;
  await across((tx) => tx.insert(jobOutcomes).values(row));
  const own = eq(jobOutcomes.name, row.name);
  expect(await mine.read((db) => db.$count(jobOutcomes, own))).toBe(1);
  for (const attempt of [
    (tx: Tx) => tx.insert(jobOutcomes).values({ ...row, name: newId() }),
    (tx: Tx) => tx.update(jobOutcomes).set({ runs: 0 }).where(own),
    (tx: Tx) => tx.delete(jobOutcomes).where(own),
  ])
    await expect(mine.tx(attempt)).rejects.toMatchObject(refused);
});
