import type { Client } from 'pg';
import { acrossRoleName, appRoleName, queueSchema } from './roles.ts';

const expiredAudit = `"at" <= now() - interval '400 days'`;

/** Grants the app roles their rights. Every table allows reading and writing; all exceptions are below. */
export async function grantRights(client: Client): Promise<void> {
  await client.query(`
    grant usage on schema public to ${appRoleName}, ${acrossRoleName};
    grant select, insert, update, delete on all tables in schema public to ${appRoleName}, ${acrossRoleName};
    grant usage on all sequences in schema public to ${appRoleName}, ${acrossRoleName};
    grant usage on schema ${queueSchema} to ${appRoleName};
    grant select, insert, update, delete on all tables in schema ${queueSchema} to ${appRoleName};
    grant usage on all sequences in schema ${queueSchema} to ${appRoleName};
    grant usage on schema drizzle to ${appRoleName};
    grant select (created_at) on drizzle.__drizzle_migrations to ${appRoleName};

    -- Platform tables that tenants may only read: only cross-tenant scopes write them; other writes fail instead of changing no row.
    do $$ declare read_only regclass; begin
      for read_only in
        select c.oid from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity and not exists (
          select from pg_policy p where p.polrelid = c.oid and p.polcmd <> 'r' and '${appRoleName}'::regrole = any (p.polroles))
      loop execute format('revoke insert, update, delete on %s from ${appRoleName}', read_only);
      end loop; end $$;

    -- Audit entries are added and read. Only expired ones are removed, and only through this function, which has no parameters.
    revoke update, delete on audit_entries from ${appRoleName}, ${acrossRoleName};
    create or replace function public.portal_remove_expired_audit_entries() returns int
      language sql security definer set search_path = pg_catalog, pg_temp as $$
        with gone as (
          delete from public.audit_entries where id in (
            select id from public.audit_entries where ${expiredAudit} limit 5000)
          returning 1)
        select count(*)::int from gone $$;
    revoke all on function public.portal_remove_expired_audit_entries() from public;
    grant execute on function public.portal_remove_expired_audit_entries() to ${acrossRoleName};

    -- Every request begins with this read, before any scope is open. A caller that names the session, account and tenant of one sign-in
    -- sees these three rows and no others, in one statement that needs no transaction. It returns whole rows, so a new column needs no new
    -- function.
    create or replace function public.portal_signed_in(tenant_id uuid, session_id uuid, user_id uuid)
      returns table (session public.sessions, account public.users, tenant public.tenants)
      language plpgsql stable rows 1 security definer set search_path = pg_catalog, pg_temp as $$ begin
        return query
          select s, u, t from public.sessions s
            join public.users u on u.tenant_id = s.tenant_id and u.id = s.user_id
            join public.tenants t on t.id = s.tenant_id
          where s.tenant_id = $1 and s.id = $2 and s.user_id = $3;
      end $$;
    revoke all on function public.portal_signed_in(uuid, uuid, uuid) from public;
    grant execute on function public.portal_signed_in(uuid, uuid, uuid) to ${appRoleName};`);
  for (const policy of ownerPolicies) await openToOwner(client, policy);
  await refuseDefinitions(client);
  await revokePublicRights(client);
}

/** Row policies also bind the owner unless it is a superuser; these let the functions above see the rows they need. */
const ownerPolicies = [
  { name: 'retention', table: 'audit_entries', command: 'all', using: expiredAudit },
  { name: 'signed_in', table: 'sessions', command: 'select', using: 'true' },
  { name: 'signed_in', table: 'users', command: 'select', using: 'true' },
  { name: 'signed_in', table: 'tenants', command: 'select', using: 'true' },
];

async function openToOwner(
  client: Client,
  { name, table, command, using }: (typeof ownerPolicies)[number],
): Promise<void> {
  const { rows } = await client.query<{ owner: string; isThere: boolean }>(
    `select quote_ident(tableowner) as owner, exists (select from pg_policies
       where schemaname = 'public' and tablename = $1 and policyname = $2 and roles = array[tableowner]) as "isThere"
     from pg_tables where schemaname = 'public' and tablename = $1`,
    [table, name],
  );
  const [found] = rows;
  // Only if it is missing: creating a policy waits for every transaction that uses the table.
  if (!found || found.isThere) return;
  await client.query(`
    drop policy if exists ${name} on public.${table};
    create policy ${name} on public.${table} for ${command} to ${found.owner} using (${using})`);
}

/**
 * Missing rights already keep the apps from defining objects, but `drop owned` lets a role drop its grants and policies. Only a
 * superuser can create this trigger; other migrations do without it.
 */
async function refuseDefinitions(client: Client): Promise<void> {
  await client.query(`
    create or replace function public.portal_refuse_definitions() returns event_trigger
      language plpgsql set search_path = pg_catalog, pg_temp as $$ begin
        if (current_user = '${acrossRoleName}' or pg_has_role(current_user, '${appRoleName}', 'member'))
          and not pg_has_role(current_user, (select tableowner from pg_tables where schemaname = 'public' and tablename = 'audit_entries'), 'usage')
        then raise insufficient_privilege using message = 'the apps define nothing';
        end if; end $$;
    do $$ begin
      if not exists (select from pg_event_trigger where evtname = 'portal_refuse_definitions') then
        create event trigger portal_refuse_definitions on ddl_command_start execute function public.portal_refuse_definitions();
      end if;
      exception when insufficient_privilege then null; end $$`);
}

/**
 * PostgreSQL lets every role create temporary tables and large objects; the apps need neither. Built-in functions belong to a
 * superuser: for any other migration the server only warns that it revoked nothing.
 */
async function revokePublicRights(client: Client): Promise<void> {
  await client.query(`
    do $$ begin execute format('revoke create, temporary on database %I from public', current_database()); end $$;
    revoke create on schema public from public;
    revoke execute on function lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea) from public;`);
}
