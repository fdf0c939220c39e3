import { randomBytes } from 'node:crypto';
import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '@portal/db/open';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { newId } from '@portal/domain/ids';
import { Secret } from '@portal/domain/secret';
import { testDatabase } from '@portal/testing/database';
import { builders } from '@portal/testing/make';
import { areas } from '@portal/usecases/areas';
import type { Key } from '../config.ts';
import { smtpPasswordContext } from '../outbox/stored-smtp-config.ts';
import { rotateSecrets } from './rotate-secrets.ts';
import type { SealedColumn } from './sealed-column.ts';
import { openSecrets } from './sealed.ts';

const sealedColumns = areas.flatMap((area) => area.sealedColumns ?? []);

const boxes = pgTable('boxes', {
  id: uuid().primaryKey(),
  tenantId: uuid().notNull(),
  bindPassword: text(),
  label: text(),
});
const context = (tenantId: string) => `boxes.bind_password:${tenantId}`;
const boxPasswords: SealedColumn = { table: boxes, column: boxes.bindPassword, boundTo: boxes.tenantId, context };

const key = (id: string): Key => ({ id, bytes: new Secret(randomBytes(32)) });
const [first, second, third] = [key('a'), key('b'), key('c')];
const before = openSecrets([second, first]);
const after = openSecrets([first, second]);

const { url, ownerUrl } = await testDatabase();
const owner = new Client({ connectionString: ownerUrl });
const database = openDatabase({ url, poolMax: 4, applicationName: 'rotation' });
const make = builders(database);
beforeAll(async () => {
  await owner.connect();
  await owner.query(
    'create table boxes (id uuid primary key, tenant_id uuid not null, bind_password text, label text)',
  );
  await owner.query('grant select, update on boxes to portal_across');
});
beforeEach(() => owner.query('truncate boxes'));
afterAll(async () => {
  await owner.end();
  await database.close();
});

interface Box {
  id: string;
  tenant_id: string;
  bind_password: string | null;
}
const box = (bindPassword: (tenantId: string) => string | null): Box => {
  const tenantId = newId();
  return { id: newId(), tenant_id: tenantId, bind_password: bindPassword(tenantId) };
};
const store = (stored: Box[]) =>
  owner.query(
    'insert into boxes (id, tenant_id, bind_password) select * from unnest($1::uuid[], $2::uuid[], $3::text[])',
    [
      stored.map(({ id }) => id),
      stored.map(({ tenant_id }) => tenant_id),
      stored.map(({ bind_password }) => bind_password),
    ],
  );
const read = async (): Promise<Box[]> =>
  (await owner.query<Box>('select id, tenant_id, bind_password from boxes order by id')).rows;
const rotate = async (secrets = after) => (await rotateSecrets(database, secrets, [boxPasswords]))[0];
const nothing = { column: 'boxes.bindPassword', current: 0, reEncrypted: 0, unreadable: new Map(), overtaken: 0 };

it('re-encrypts secrets of other keys, each for its own row, and leaves the rest untouched', async () => {
  const sealedBefore = Array.from({ length: 950 }, (_, n) =>
    box((tenantId) => before.seal(`secret ${n}`, context(tenantId))),
  );
  const current = Array.from({ length: 450 }, () => box((tenantId) => after.seal('current', context(tenantId))));
  const empty = Array.from({ length: 10 }, () => box(() => null));
  await store([...sealedBefore, ...current, ...empty].toSorted(() => Math.random() - 0.5));

  expect(await rotate()).toEqual({ ...nothing, current: 450, reEncrypted: 950 });
  const rows = new Map((await read()).map((row) => [row.id, row]));
  expect(rows.size).toBe(1_410);
  const onlyFirst = openSecrets([first]);
  for (const [n, { id, tenant_id }] of sealedBefore.entries()) {
    expect(onlyFirst.open(rows.get(id)?.bind_password ?? '', context(tenant_id))).toBe(`secret ${n}`);
  }
  for (const row of [...current, ...empty]) expect(rows.get(row.id)).toEqual(row);

  const once = await read();
  expect(await rotate()).toEqual({ ...nothing, current: 1_400 });
  expect(await read()).toEqual(once);
});

it('has nothing to do in an empty table', async () => {
  expect(await rotate()).toEqual(nothing);
});

it('skips unreadable secrets, counts them by reason and leaves them unchanged', async () => {
  const lost = box((tenantId) => openSecrets([third]).seal('lost', context(tenantId)));
  const moved = box(() => before.seal('moved', context(newId())));
  const exchanged = box((tenantId) =>
    openSecrets([{ ...third, id: first.id }]).seal('sealed with another key of that name', context(tenantId)),
  );
  const plain = Array.from({ length: 300 }, () => box(() => 'never sealed'));
  const good = box((tenantId) => before.seal('good', context(tenantId)));
  await store([lost, moved, exchanged, ...plain, good]);

  const rotation = await rotate();
  expect(rotation).toMatchObject({ reEncrypted: 1, overtaken: 0 });
  expect(rotation?.unreadable).toEqual(
    new Map([
      ['A stored secret cannot be read: it was sealed with the key "c", which is not among SECRETS_KEYS.', 1],
      [
        'A stored secret cannot be read: the key "b" does not open it. It was changed or moved, or sealed with another key of that name.',
        1,
      ],
      [
        'A stored secret cannot be read: the key "a" does not open it. It was changed or moved, or sealed with another key of that name.',
        1,
      ],
      ['A stored secret cannot be read: it is no complete envelope.', 300],
    ]),
  );
  const rows = await read();
  for (const row of [lost, moved, exchanged, ...plain]) expect(rows).toContainEqual(row);
});

it('keeps a value that an app stores during the rotation of its row', async () => {
  const stored = box((tenantId) => before.seal('old', context(tenantId)));
  const other = box((tenantId) => before.seal('other', context(tenantId)));
  await store([stored, other]);
  const newer = before.seal('newer', context(stored.tenant_id));

  const app = new Client({ connectionString: ownerUrl });
  await app.connect();
  await app.query('begin');
  await app.query('update boxes set bind_password = $1 where id = $2', [newer, stored.id]);
  const rotation = rotate();
  // Once the rotation waits for the row, it has read the old value.
  await expect
    .poll(
      async () =>
        (
          await owner.query(
            `select 1 from pg_stat_activity where application_name = 'rotation' and wait_event_type = 'Lock'`,
          )
        ).rowCount,
    )
    .toBe(1);
  await app.query('commit');
  await app.end();

  expect(await rotation).toEqual({ ...nothing, reEncrypted: 1, overtaken: 1 });
  expect(await read()).toContainEqual({ ...stored, bind_password: newer });
  expect(await rotate()).toEqual({ ...nothing, current: 1, reEncrypted: 1 });
});

it('seals each once when several run at the same time', async () => {
  const stored = Array.from({ length: 700 }, () => box((tenantId) => before.seal(tenantId, context(tenantId))));
  await store(stored);
  const rotations = await Promise.all([rotate(), rotate(), rotate()]);
  expect(rotations.reduce((sum, rotation) => sum + (rotation?.reEncrypted ?? 0), 0)).toBe(700);
  for (const row of await read())
    expect(openSecrets([first]).open(row.bind_password ?? '', context(row.tenant_id))).toBe(row.tenant_id);
});

it('finds every sealed column of the product in the database, each with its own context', async () => {
  for (const { table, column, boundTo } of sealedColumns) {
    await database.acrossTenants('a test reads no rows', (tx) =>
      tx.select({ id: table.id, column, boundTo }).from(table).limit(0),
    );
  }
  expect(new Set(sealedColumns.map(({ context: place }) => place('x'))).size).toBe(sealedColumns.length);
});

it('re-encrypts the mail password of every tenant', async () => {
  const tenants = await Promise.all([make.tenant(), make.tenant(), make.tenant()]);
  await database.acrossTenants('a test stores passwords', (tx) =>
    tx.insert(smtpConfigs).values(
      tenants.map(({ id }, n) => ({
        id: newId(),
        tenantId: id,
        password: n === 0 ? null : before.seal(id, smtpPasswordContext(id)),
      })),
    ),
  );
  const rotations = await rotateSecrets(database, after, sealedColumns);
  expect(rotations).toContainEqual({ ...nothing, column: 'smtp_configs.password', reEncrypted: 2 });
  for (const { id } of tenants.slice(1)) {
    const [row] = await database
      .inTenant(id)
      .read((db) => db.select({ password: smtpConfigs.password }).from(smtpConfigs));
    expect(openSecrets([first]).open(row?.password ?? '', smtpPasswordContext(id))).toBe(id);
  }
});
