import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { migrateDatabase } from '../src/migrate.ts';

/**
 * The kind of each table. `tenant`: tenants read and write their own rows. `platform`: tenants read all rows, or those that the table's own
 * policy shows, and only cross-tenant scopes write. Any other value is the reason why the table has no row policies.
 */
const kinds: Record<string, string> = {
  audit_entries: 'tenant',
  calendar_sources: 'tenant',
  cloud_instances: 'tenant',
  cloud_outage_notices: 'tenant',
  cloud_outages: 'tenant',
  cloud_subscriptions: 'tenant',
  cloud_transitions: 'tenant',
  canteen_settings: 'tenant',
  custom_modules: 'tenant',
  dashboard_images: 'tenant',
  dashboard_tabs: 'tenant',
  dashboard_widgets: 'tenant',
  disabled_modules: 'tenant',
  email_tokens: 'tenant',
  favorites: 'tenant',
  group_members: 'tenant',
  groups: 'tenant',
  invoice_files: 'tenant',
  invoice_mailboxes: 'tenant',
  invoice_mails: 'tenant',
  invoices: 'tenant',
  job_outcomes: 'platform',
  ldap_configs: 'tenant',
  ldap_mappings: 'tenant',
  ldap_staged_entries: 'tenant',
  ldap_sync_runs: 'tenant',
  mail_days: 'tenant',
  mails: 'tenant',
  merchandise_accounts: 'tenant',
  merchandise_changes: 'tenant',
  merchandise_lists: 'tenant',
  merchandise_settings: 'tenant',
  module_categories: 'tenant',
  module_grants: 'tenant',
  module_placements: 'tenant',
  monitored_servers: 'tenant',
  password_tokens: 'tenant',
  personal_tender_search: 'platform',
  poll_plans: 'tenant',
  rate_windows: 'none: counts by hash of address or name before sign-in',
  reminders: 'tenant',
  rss_feeds: 'platform',
  runs: 'tenant',
  server_history: 'tenant',
  server_statuses: 'tenant',
  sessions: 'tenant',
  saved_searches: 'tenant',
  smtp_configs: 'tenant',
  snoozed_reminders: 'tenant',
  tenants: 'tenant',
  tender_change_notices: 'tenant',
  tender_changes: 'platform',
  tender_mailboxes: 'tenant',
  tender_matches: 'tenant',
  tender_notices: 'platform',
  tender_payloads: 'platform',
  tender_preferences: 'tenant',
  tender_search: 'platform',
  tender_sources: 'platform',
  tender_triage: 'tenant',
  tenders: 'platform',
  unmatched_tenders: 'platform',
  users: 'tenant',
  welcome_mail_templates: 'tenant',
};
const tablesOf = (kind: string): string[] => Object.keys(kinds).filter((name) => kinds[name] === kind);

const account = `( SELECT (NULLIF(current_setting('portal.account'::text, true), ''::text))::uuid AS "nullif")`;
const ownMailbox = `('mailbox:'::text || (${account})::text)`;
const ownSources = `ARRAY( SELECT own.source_key FROM rss_feeds own WHERE (own.user_id = ${account}) UNION ALL SELECT ${ownMailbox})`;
/** The read policies of platform tables that tenants see only in part. */
const visible: Record<string, string> = {
  personal_tender_search: `(only_source = ANY (${ownSources}))`,
  rss_feeds: `((user_id IS NULL) OR ((tenant_id = ( SELECT (current_setting('portal.tenant'::text))::uuid AS current_setting)) AND (user_id = ${account})))`,
  tender_changes: '(EXISTS ( SELECT FROM tenders seen WHERE (seen.id = tender_changes.tender_id)))',
  tender_notices: `(is_public OR (source_key = ANY (${ownSources})))`,
  tender_payloads: 'false',
  tender_sources: `(((url IS NULL) AND (key !~~ 'mailbox:%'::text)) OR ((key = ${ownMailbox}) AND (EXISTS ( SELECT FROM tender_mailboxes box WHERE (box.user_id = ${account})))) OR (EXISTS ( SELECT FROM rss_feeds feed WHERE ((feed.source_key = tender_sources.key) AND ((feed.user_id IS NULL) OR (feed.user_id = ${account}))))))`,
  unmatched_tenders: 'false',
  tenders: `((only_source IS NULL) OR (only_source = ANY (${ownSources})))`,
};

/** Policies for the owner, who is also bound by policies: for expired audit entries and for the rows of a sign-in. */
const ofOwner = new Map([
  ['audit_entries', `retention to OWNER for all using (at <= (now() - '400 days'::interval)) check `],
  ...['sessions', 'users', 'tenants'].map((name) => [name, 'signed_in to OWNER for select using true check '] as const),
]);
const ownerName = new URL(inject('testServer').url).username;

const { url, ownerUrl } = await testDatabase();
const owner = new Client({ connectionString: ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => owner.end());

const rows = async <Row extends object>(text: string): Promise<Row[]> => (await owner.query<Row>(text)).rows;

it('gives every table the forced row policies of its kind, or a reason why it has none', async () => {
  const tables = await rows<{ name: string; enabled: boolean; forced: boolean; policies: string[] | null }>(`
    select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
      (select array_agg(format('%s to %s for %s using %s check %s', p.policyname, array_to_string(p.roles, ','), lower(p.cmd), p.qual, p.with_check) order by p.policyname)
       from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname) as policies
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`);
  expect(tables.map(({ name }) => name)).toEqual(Object.keys(kinds).toSorted());
  const policiesOf = (name: string): unknown[] => {
    if (kinds[name] === 'platform') return [`tenant to portal_app for select using ${visible[name] ?? 'true'} check `];
    const column = name === 'tenants' ? 'id' : 'tenant_id';
    const own = `(${column} = ( SELECT (current_setting('portal.tenant'::text))::uuid AS current_setting))`;
    return [
      ...(ofOwner.has(name) ? [ofOwner.get(name)?.replace('OWNER', ownerName)] : []),
      `tenant to portal_app for all using ${own} check ${own}`,
    ];
  };
  for (const table of tables) {
    if (kinds[table.name]?.startsWith('none: ')) {
      expect(table, `${table.name} is listed as having no policies`).toMatchObject({ enabled: false, policies: null });
      continue;
    }
    const policies = table.policies?.map((policy) => policy.replaceAll(/\s+/g, ' '));
    expect({ [table.name]: { ...table, name: undefined, policies } }).toEqual({
      [table.name]: {
        name: undefined,
        enabled: true,
        forced: true,
        policies: ['across to portal_across for all using true check true', ...policiesOf(table.name)],
      },
    });
  }
});

it('compares ids of directories byte by byte in every table, so that a join of any two can use an index', async () => {
  const columns = await rows<{ name: string; collation: string }>(`
    select a.attrelid::regclass::text as name, l.collname as collation from pg_attribute a
      join pg_class c on c.oid = a.attrelid and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      join pg_collation l on l.oid = a.attcollation
    where a.attname = 'directory_id' order by 1`);
  expect(columns).toEqual(['groups', 'ldap_staged_entries', 'users'].map((name) => ({ name, collation: 'C' })));
});

it('lets the apps’ role only read platform tables, and write all others', async () => {
  const rights = await rows<{ name: string; rights: string }>(`
    select table_name as name, string_agg(privilege_type, ' ' order by privilege_type) as rights
    from information_schema.role_table_grants where table_schema = 'public' and grantee = 'portal_app' group by 1`);
  const readOnly = rights.filter((table) => table.rights === 'SELECT').map(({ name }) => name);
  expect(readOnly).toEqual(tablesOf('platform'));
});

it('lets no foreign key leave the tenant, except to platform tables', async () => {
  const keys = await rows<{ name: string; from: string; to: string; columns: string[]; targets: string[] }>(`
    select k.conname as name, k.conrelid::regclass::text as from, k.confrelid::regclass::text as to,
      array(select a.attname::text from unnest(k.conkey) with ordinality u(n, i) join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.n order by u.i) as columns,
      array(select a.attname::text from unnest(k.confkey) with ordinality u(n, i) join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.n order by u.i) as targets
    from pg_constraint k where k.contype = 'f' and k.connamespace = 'public'::regnamespace`);
  expect(keys.length).toBeGreaterThan(5);
  for (const key of keys) {
    if (kinds[key.to] === 'platform') continue;
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
    // Also through the parent row, whose key contains the tenant.
    expect(
      keys.some((key) => key.from === name && key.columns.includes('tenant_id')),
      `${name} does not point at tenants`,
    ).toBe(true);
  }
});

it('indexes the columns of every foreign key, so that deleting a referenced row scans no table', async () => {
  const bare = await rows<{ name: string }>(`
    select k.conname as name from pg_constraint k
    where k.contype = 'f' and k.connamespace = 'public'::regnamespace and not exists (
      select 1 from pg_index i, lateral (select string_to_array(i.indkey::text, ' ')::int2[]) of_index (keys)
      where i.indrelid = k.conrelid and i.indpred is null and (
        of_index.keys[1:cardinality(k.conkey)] @> k.conkey
        -- An id says which tenant's it is.
        or of_index.keys[1] in (
          select a.attnum from pg_attribute a where a.attrelid = k.conrelid and a.attnum = any(k.conkey) and a.attname <> 'tenant_id')))`);
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

it('lets the app roles add and read audit entries, but not change them', async () => {
  const rights = await rows(`
    select grantee, string_agg(privilege_type, ' ' order by privilege_type) as rights from information_schema.role_table_grants
    where table_schema = 'public' and table_name = 'audit_entries' and grantee in ('portal_app', 'portal_across', 'PUBLIC') group by 1`);
  expect(rights).toEqual(
    expect.arrayContaining(['portal_app', 'portal_across'].map((grantee) => ({ grantee, rights: 'INSERT SELECT' }))),
  );
  expect(rights).toHaveLength(2);
});

it('fails a query outside all scopes instead of finding everything', async () => {
  const client = new Client({ connectionString: url, options: '-c role=portal_app' });
  await client.connect();
  await owner.query(`insert into tenants (id, name) values (gen_random_uuid(), 'Somebody')`);
  await expect(client.query('select * from tenants')).rejects.toThrow(/portal\.tenant/);
  await client.end();
});

it('can be migrated again, by several processes at once', async () => {
  await Promise.all([migrateDatabase(ownerUrl), migrateDatabase(ownerUrl), migrateDatabase(ownerUrl)]);
});

it('names the SQL that an administrator must run if the login may not create or take the roles', async () => {
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
