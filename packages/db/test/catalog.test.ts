import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { migrateDatabase } from '../src/migrate.ts';

/** Tables without row policies, each with the reason why no tenant owns its rows. */
const globalTables: Record<string, string> = {
  job_outcomes: 'one row per kind of job, for operators; says nothing about any tenant',
  rate_windows: 'counts by hash of address or name before anybody is signed in',
};

/** Opens to the owner, whom policies bind as well, the entries that have been kept long enough. */
const retention = new RegExp(
  `^retention to ${new URL(inject('testServer').url).username} using \\(at <= \\(now\\(\\) - '400 days'::interval\\)\\) check $`,
);

const { url, ownerUrl } = await testDatabase();
const owner = new Client({ connectionString: ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => owner.end());

const rows = async <Row extends object>(text: string): Promise<Row[]> => (await owner.query<Row>(text)).rows;

it('gives every table forced row policies for one tenant and for named cross-tenant scopes, or a reason', async () => {
  const tables = await rows<{ name: string; enabled: boolean; forced: boolean; policies: string[] | null }>(`
    select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
      (select array_agg(format('%s to %s using %s check %s', p.policyname, array_to_string(p.roles, ','), p.qual, p.with_check) order by p.policyname)
       from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname) as policies
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`);
  expect(tables.length).toBeGreaterThan(5);
  for (const table of tables) {
    if (table.name in globalTables) {
      expect(table.policies, `${table.name} is listed as global but has policies`).toBeNull();
      continue;
    }
    const column = table.name === 'tenants' ? 'id' : 'tenant_id';
    const own = `(${column} = ( SELECT (current_setting('portal.tenant'::text))::uuid AS current_setting))`;
    expect({ [table.name]: { ...table, name: undefined } }).toEqual({
      [table.name]: {
        name: undefined,
        enabled: true,
        forced: true,
        policies: [
          'across to portal_across using true check true',
          ...(table.name === 'audit_entries' ? [expect.stringMatching(retention)] : []),
          `tenant to portal_app using ${own} check ${own}`,
        ],
      },
    });
  }
  expect(Object.keys(globalTables).filter((name) => !tables.some((table) => table.name === name))).toEqual([]);
});

it('lets no foreign key between tenant tables leave the tenant', async () => {
  const keys = await rows<{ name: string; from: string; to: string; columns: string[]; targets: string[] }>(`
    select k.conname as name, k.conrelid::regclass::text as from, k.confrelid::regclass::text as to,
      array(select a.attname::text from unnest(k.conkey) with ordinality u(n, i) join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.n order by u.i) as columns,
      array(select a.attname::text from unnest(k.confkey) with ordinality u(n, i) join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.n order by u.i) as targets
    from pg_constraint k where k.contype = 'f' and k.connamespace = 'public'::regnamespace`);
  expect(keys.length).toBeGreaterThan(5);
  for (const key of keys) {
    const expected =
      key.to === 'tenants'
        ? [['tenant_id'], ['id']]
        : [expect.arrayContaining(['tenant_id']), expect.arrayContaining(['tenant_id', 'id'])];
    expect({ [key.name]: [key.columns, key.targets] }).toEqual({ [key.name]: expected });
    expect(key.columns.indexOf('tenant_id'), key.name).toBe(
      key.to === 'tenants' ? 0 : key.targets.indexOf('tenant_id'),
    );
  }
  const tables = await rows<{ name: string }>(`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnotnull
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`);
  for (const { name } of tables) {
    expect(
      keys.some((key) => key.from === name && key.to === 'tenants'),
      `${name} does not point at tenants`,
    ).toBe(true);
  }
});

it('indexes the columns of every foreign key, so that deleting what they point at reads no whole table', async () => {
  const bare = await rows<{ name: string }>(`
    select k.conname as name from pg_constraint k
    where k.contype = 'f' and k.connamespace = 'public'::regnamespace and not exists (
      select 1 from pg_index i where i.indrelid = k.conrelid and i.indpred is null
        and (string_to_array(i.indkey::text, ' ')::int2[])[1:cardinality(k.conkey)] @> k.conkey)`);
  expect(bare).toEqual([]);
});

it('lets the app roles neither log in, nor bypass policies, nor own anything', async () => {
  const roles = await rows(
    `select rolname, rolcanlogin, rolbypassrls, rolsuper from pg_roles where rolname in ('portal_app', 'portal_across') order by 1`,
  );
  expect(roles).toEqual([
    { rolname: 'portal_across', rolcanlogin: false, rolbypassrls: false, rolsuper: false },
    { rolname: 'portal_app', rolcanlogin: false, rolbypassrls: false, rolsuper: false },
  ]);
  const owned = await rows(
    `select relname from pg_class where pg_get_userbyid(relowner) in ('portal_app', 'portal_across')`,
  );
  expect(owned).toEqual([]);
});

it('lets the app roles add and read audit entries, and change no row in them', async () => {
  const rights = await rows(`
    select grantee, string_agg(privilege_type, ' ' order by privilege_type) as rights from information_schema.role_table_grants
    where table_schema = 'public' and table_name = 'audit_entries' and grantee in ('portal_app', 'portal_across', 'PUBLIC') group by 1`);
  expect(rights).toEqual(
    expect.arrayContaining(['portal_app', 'portal_across'].map((grantee) => ({ grantee, rights: 'INSERT SELECT' }))),
  );
  expect(rights).toHaveLength(2);
});

it('fails a query outside every scope instead of finding everything', async () => {
  const client = new Client({ connectionString: url, options: '-c role=portal_app' });
  await client.connect();
  await owner.query(`insert into tenants (id, name) values (gen_random_uuid(), 'Somebody')`);
  await expect(client.query('select * from tenants')).rejects.toThrow(/portal\.tenant/);
  await client.end();
});

it('can be migrated again, by several at once', async () => {
  await Promise.all([migrateDatabase(ownerUrl), migrateDatabase(ownerUrl), migrateDatabase(ownerUrl)]);
});

it('says which SQL an administrator must run when its own login may not make or take the roles', async () => {
  const login = `plain_${process.pid}`;
  const database = new URL(url).pathname.slice(1);
  await owner.query(`create role ${login} login password 'pw' nosuperuser nocreaterole`);
  try {
    await owner.query(`grant connect, create on database ${database} to ${login}`);
    const plain = new URL(ownerUrl);
    plain.username = login;
    plain.password = 'pw';
    await expect(migrateDatabase(plain.href)).rejects.toThrow(
      new RegExp(`Run as a database administrator[\\s\\S]*grant portal_app, portal_across to ${login}`),
    );
  } finally {
    await owner.query(`drop owned by ${login}; drop role ${login}`);
  }
});
