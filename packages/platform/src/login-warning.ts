import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { appLoginName } from '@portal/db/roles';
import type { Runtime } from './runtime.ts';

const retryMs = 30_000;

// What it may become counts as its own; the two roles of the policies are what it is there for.
const strengths = sql`
  with login as (
    select rolname, oid, rolsuper as is_super, rolbypassrls or rolcreaterole or rolcreatedb or rolreplication as is_mighty
    from pg_roles where rolname = session_user),
  own as (
    select relowner from pg_class where relkind in ('r', 'p', 'v', 'S') and relnamespace in ('public'::regnamespace, 'bullmq'::regnamespace)
    union select datdba from pg_database where datname = current_database()),
  others as (
    select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.roleid, login
    where m.member = login.oid and r.rolname not in ('portal_app', 'portal_across'))
  select quote_ident(rolname) as login, concat_ws(', ',
    case when is_super then 'is a superuser' end,
    case when is_mighty then 'has attributes such as BYPASSRLS or CREATEROLE' end,
    case when oid in (select relowner from own) then 'owns the tables or the database' end,
    (select 'is a member of ' || string_agg(quote_ident(rolname), ' and ') from others)) as strengths
  from login`;

/**
 * Warns in one line when the login of the apps may do more than the row policies leave to it, and names the SQL that mends it.
 * Asks until the database has answered once. A login of the operator's choice stops nothing.
 */
export async function warnOfStrongLogin({ database, log }: Runtime, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { rows } = await database.acrossTenants('the login of the apps is looked at', (tx) =>
        tx.execute<{ login: string; strengths: string }>(strengths),
      );
      const found = rows[0];
      if (found && found.strengths !== '') log.warn({ login: found.login }, warningOf(found));
      return;
    } catch (error) {
      log.debug({ err: error }, 'the login of the apps could not be looked at');
      await pause(retryMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
}

const warningOf = ({ login, strengths }: { login: string; strengths: string }): string =>
  `the database login ${login} is stronger than the apps need (it ${strengths}), so a statement could switch the row policies off: run as a database administrator create role ${appLoginName} login noinherit password '…'; grant portal_app, portal_across to ${appLoginName}; and then give that login in DATABASE_URL and this one in DATABASE_MIGRATION_URL`;
