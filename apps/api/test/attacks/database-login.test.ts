import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrateDatabase } from '@portal/db/migrate';
import { testDatabase } from '@portal/testing/database';

// An attacker who injects a statement runs it over a connection of the apps. These tests show what it can do there.

const { url, ownerUrl } = await testDatabase();
const owner = new Client({ connectionString: ownerUrl });
const [ours, theirs, entry] = [randomUUID(), randomUUID(), randomUUID()];

beforeAll(async () => {
  // The migration also revokes rights on the database itself, which a copy of the template does not contain.
  await migrateDatabase(ownerUrl, { appUrl: url });
  await owner.connect();
  await owner.query(`
    insert into tenants (id, name) values ('${ours}', 'Ours'), ('${theirs}', 'Theirs');
    insert into audit_entries (id, tenant_id, at, action, summary) values ('${entry}', '${ours}', now(), 'x', 'young')`);
});
afterAll(() => owner.end());

/** Sends the statements over a connection of the apps for our tenant; returns the rows of the last one. */
async function send(...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, options: '-c role=portal_app' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(`set portal.tenant = '${ours}'`);
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Every role of the login, with the statements that set it. */
const roles: Record<string, string[]> = {
  'the role of one tenant': [],
  'the role across tenants': ['set role portal_across'],
  'the login itself': ['set role none'],
};

const attacks = [
  // Becoming another role
  `set role ${new URL(ownerUrl).username}`,
  `set session authorization ${new URL(ownerUrl).username}`,
  'set role pg_read_all_data',
  'set role pg_execute_server_program',
  `select set_config('role', '${new URL(ownerUrl).username}', false)`,
  `select set_config('session_authorization', '${new URL(ownerUrl).username}', false)`,
  `grant ${new URL(ownerUrl).username} to portal_app`,
  'grant pg_read_all_data to portal_app',
  'grant portal_across to portal_app',
  'create role intruder superuser',
  'alter role portal_app bypassrls',
  'alter role portal_across superuser',
  `alter role ${new URL(url).username} superuser`,
  `alter role ${new URL(url).username} bypassrls`,
  `alter role ${new URL(ownerUrl).username} password 'mine'`,
  'reassign owned by portal_app to portal_across',
  // Switching the policies off
  'alter table tenants disable row level security',
  'alter table users no force row level security',
  'drop policy tenant on tenants',
  'alter policy tenant on tenants using (true)',
  'create policy mine on tenants using (true)',
  'set session_replication_role = replica',
  `select set_config('session_replication_role', 'replica', false)`,
  'alter system set session_preload_libraries = x',
  `do $$ begin execute 'alter table tenants disable row level security'; end $$`,
  // Changing the schema
  'create table mine ()',
  'create temporary table mine ()',
  'create view mine as select 1',
  'create temporary view mine as select 1',
  'create materialized view mine as select 1',
  'create schema mine',
  'create sequence mine',
  'create type mine as enum ()',
  'create extension dblink',
  'create foreign data wrapper mine',
  `create function mine() returns int language sql security definer as 'select 1'`,
  `create function bullmq.mine() returns int language sql as 'select 1'`,
  `create function pg_temp.mine() returns int language sql as 'select 1'`,
  `create function mine() returns int language c as 'libc', 'system'`,
  'create trigger mine after insert on users execute function pg_notify()',
  'create event trigger mine on ddl_command_end execute function suppress_redundant_updates_trigger()',
  'create rule mine as on insert to users do instead nothing',
  'create index mine on users (username)',
  'create publication mine for all tables',
  `create subscription mine connection 'host=127.0.0.1' publication mine`,
  'create database mine',
  'alter table users add column mine text',
  'alter table users owner to portal_app',
  'alter table users disable trigger all',
  'drop table users',
  'drop owned by current_user cascade',
  'drop owned by portal_app, portal_across cascade',
  'drop function portal_remove_expired_audit_entries()',
  'alter function portal_remove_expired_audit_entries() reset search_path',
  'alter default privileges grant all on tables to public',
  'comment on table users is null',
  'truncate users',
  'truncate audit_entries',
  'reindex table users',
  'cluster users',
  'refresh materialized view users',
  // Removing or forging audit entries
  `update audit_entries set summary = 'forged'`,
  `update audit_entries set at = now() - interval '401 days'`,
  'delete from audit_entries',
  `insert into audit_entries (id, action, summary) values ('${entry}', 'x', 'forged') on conflict (id) do update set summary = 'forged'`,
  `merge into audit_entries a using (select 1) s on true when matched then delete`,
  'select * from audit_entries for update',
  'copy drizzle.__drizzle_migrations from stdin',
  'delete from drizzle.__drizzle_migrations',
  // Reading foreign data
  'select * from pg_authid',
  'select * from pg_shadow',
  'select * from pg_user_mapping',
  'select * from pg_statistic',
  'select * from pg_largeobject',
  'select * from pg_hba_file_rules',
  'select * from pg_file_settings',
  'select * from drizzle.__drizzle_migrations',
  // The server's files, programs and memory
  `copy (select 1) to program 'true'`,
  `copy (select 1) to '/tmp/mine'`,
  `copy users from program 'true'`,
  `copy users from '/etc/passwd'`,
  `select pg_read_file('/etc/passwd')`,
  `select pg_read_binary_file('PG_VERSION')`,
  `select pg_ls_dir('.')`,
  'select pg_ls_logdir()',
  `select pg_stat_file('PG_VERSION')`,
  'select lo_creat(-1)',
  'select lo_create(0)',
  `select lo_from_bytea(0, 'x')`,
  `select lo_import('/etc/passwd')`,
  `select lo_export(1, '/tmp/mine')`,
  `load 'dblink'`,
  `select * from pg_logical_slot_get_changes('mine', null, null)`,
  `select pg_create_logical_replication_slot('mine', 'pgoutput')`,
  'select pg_reload_conf()',
  'select pg_rotate_logfile()',
  'select pg_switch_wal()',
  `select pg_create_restore_point('mine')`,
  'select pg_stat_reset()',
  `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${new URL(ownerUrl).username}'`,
  'checkpoint',
];

describe.each(Object.entries(roles))('a statement under %s', (_, setRole) => {
  it.each(attacks)('is refused: %s', async (attack) => {
    await expect(send(...setRole, attack)).rejects.toMatchObject({ code: '42501' });
  });

  it('cannot grant its rights to others', async () => {
    const rightsOf = async () =>
      (
        await owner.query(
          `select relname, relacl::text from pg_class where relnamespace = 'public'::regnamespace order by oid`,
        )
      ).rows;
    const before = await rightsOf();
    await send(...setRole, 'grant select on users to public').catch(() => undefined);
    await send(...setRole, 'grant all on audit_entries to portal_app').catch(() => undefined);
    expect(await rightsOf()).toEqual(before);
  });

  it('may execute no security definer function except its own', async () => {
    const rows = await send(
      ...setRole,
      `select oid::regprocedure::text as name from pg_proc where prosecdef and has_function_privilege(oid, 'execute')
       and has_schema_privilege(pronamespace, 'usage')`,
    );
    const functionOf: Record<string, string> = {
      'set role portal_app': 'portal_signed_in(uuid,uuid,uuid)',
      'set role portal_across': 'portal_remove_expired_audit_entries()',
    };
    const name = functionOf[setRole[0] ?? 'set role portal_app'];
    expect(rows).toEqual(name === undefined ? [] : [{ name }]);
  });
});

describe('the function that finds an account before its tenant is known', () => {
  const [user, session, stranger, foreign] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  beforeAll(() =>
    owner.query(`
      insert into users (id, tenant_id, username, display_name) values ('${user}', '${ours}', 'us', 'Us'), ('${stranger}', '${theirs}', 'them', 'Them');
      insert into sessions (id, tenant_id, user_id, expires_at) values
        ('${session}', '${ours}', '${user}', now() + interval '1 hour'), ('${foreign}', '${theirs}', '${stranger}', now() + interval '1 hour')`),
  );
  const find = (...ids: (string | null)[]) =>
    send(
      'reset portal.tenant',
      `select (account).username, (tenant).name, (session).id from portal_signed_in(${ids.map((id) => (id ? `'${id}'` : 'null')).join()})`,
    );

  it('requires tenant, session and account of one sign-in', async () => {
    expect(await find(ours, session, user)).toEqual([{ username: 'us', name: 'Ours', id: session }]);
    for (const ids of [
      [theirs, session, user],
      [ours, foreign, user],
      [ours, session, stranger],
      [ours, foreign, stranger],
      [null, session, user],
      [ours, null, user],
      [ours, session, null],
    ])
      expect(await find(...ids)).toEqual([]);
  });

  it('cannot be changed or shadowed', async () => {
    for (const attack of [
      `create or replace function portal_signed_in(uuid, uuid, uuid) returns int language sql as 'select 1'`,
      'drop function portal_signed_in(uuid, uuid, uuid)',
      'alter function portal_signed_in(uuid, uuid, uuid) reset search_path',
      'grant execute on function portal_signed_in(uuid, uuid, uuid) to public',
      'create temporary table sessions (id uuid)',
    ])
      await expect(send(attack)).rejects.toMatchObject({ code: '42501' });
  });
});

describe('the login of the apps', () => {
  it('has only its two roles', async () => {
    const rows = await send(`
      select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication as mighty, rolinherit as inherits,
        array(select roleid::regrole::text from pg_auth_members where member = r.oid order by 1) as roles,
        array(select relname::text from pg_class where relowner = r.oid) as owns
      from pg_roles r where rolname = session_user`);
    expect(rows).toEqual([{ mighty: false, inherits: false, roles: ['portal_across', 'portal_app'], owns: [] }]);
  });

  it('has no rights without a role', async () => {
    for (const table of ['tenants', 'users', 'audit_entries', 'bullmq.bullmq_jobs'])
      await expect(send('set role none', `select * from ${table}`)).rejects.toMatchObject({ code: '42501' });
  });

  it('sees one tenant, even if it switches row security off', async () => {
    expect(await send('select name from tenants')).toEqual([{ name: 'Ours' }]);
    await expect(send('set row_security = off', 'select name from tenants')).rejects.toMatchObject({ code: '42501' });
    await expect(send('reset portal.tenant', 'select name from tenants')).rejects.toThrow();
  });

  it('returns to the role of one tenant after a reset', async () => {
    expect(await send('set role portal_across', 'reset role', 'select current_user as name')).toEqual([
      { name: 'portal_app' },
    ]);
    expect(await send('discard all', 'select current_user as name')).toEqual([{ name: 'portal_app' }]);
  });
});

describe('the function that removes audit entries', () => {
  const remaining = async () => (await owner.query<{ id: string }>('select id from audit_entries order by at')).rows;
  const oldEntry = randomUUID();
  beforeEach(() =>
    owner.query(
      `insert into audit_entries (id, tenant_id, at, action, summary) values ($1, $2, now() - interval '401 days', 'x', 'old')
        on conflict do nothing`,
      [oldEntry, ours],
    ),
  );

  it('is not executable by the role of one tenant', async () => {
    await expect(send('select portal_remove_expired_audit_entries()')).rejects.toMatchObject({ code: '42501' });
    expect(await remaining()).toEqual([{ id: oldEntry }, { id: entry }]);
  });

  it('removes only old entries, regardless of the caller’s settings', async () => {
    const rows = await send(
      'set role portal_across',
      'set search_path = public, bullmq, pg_temp',
      `set intervalstyle = sql_standard; set timezone = 'UTC+12'; set datestyle = 'German'`,
      'select portal_remove_expired_audit_entries() as removed',
    );
    expect(rows).toEqual([{ removed: 1 }]);
    expect(await remaining()).toEqual([{ id: entry }]);
  });
});
