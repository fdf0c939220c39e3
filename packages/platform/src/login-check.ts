import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { acrossRoleName, appLoginName, appRoleName } from '@portal/db/roles';
import type { Runtime } from './runtime.ts';

const retryMs = 30_000;

// The rights of roles it can become count as its own, except for the two roles that the policies name.
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

/** The apps cannot work under their login, and retrying does not help; the message says what to do. */
export class LoginError extends Error {}

/**
 * Checks the rights of the apps' login, retrying until the database has answered once. If the login could get around the row policies, logs
 * one warning with the SQL that fixes it; the apps start anyway. Throws `LoginError` if the database refuses the login or the login
 * cannot become the role of the apps.
 */
export async function checkLogin({ config, database, log }: Runtime, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const { rows } = await database.acrossTenants('the login of the apps is checked', (tx) =>
        tx.execute<{ login: string; strengths: string }>(strengths),
      );
      const found = rows[0];
      if (found && found.strengths !== '') log.warn({ login: found.login }, warningOf(found));
      return;
    } catch (error) {
      const fault = loginFault(error, new URL(config.database.url.reveal()).username);
      if (fault) throw new LoginError(fault, { cause: error });
      log[attempt === 1 ? 'warn' : 'debug']({ err: error }, 'the database cannot be used yet');
      await pause(retryMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
}

const warningOf = ({ login, strengths }: { login: string; strengths: string }): string =>
  `the database login ${login} is stronger than the apps need (it ${strengths}), so a statement could switch the row policies off: run as a database administrator create role ${appLoginName} login noinherit password '…'; grant portal_app, portal_across to ${appLoginName}; and then give that login in DATABASE_URL and this one in DATABASE_MIGRATION_URL`;

/** Tells the operator how to fix a login that the server refuses; null if a retry may help. */
function loginFault(error: unknown, login: string): string | null {
  for (let link = error, depth = 0; link instanceof Error && depth < 10; link = link.cause, depth += 1) {
    const code = 'code' in link ? String(link.code) : '';
    // insufficient_privilege: the login may not become one of the roles.
    if (code === '42501')
      return `The database login ${login} cannot become the roles of the apps. Run as a database administrator, then start again:\n  grant ${appRoleName}, ${acrossRoleName} to ${quoted(login)};`;
    // invalid_parameter_value: the roles do not exist.
    if (code === '22023') return 'The database lacks the roles of the apps: run `pnpm migrate`, then start again.';
    // invalid_authorization_specification and its subclasses
    if (code.startsWith('28'))
      return `The database refuses the login ${login}: correct its name or password in DATABASE_URL, then start again. (${link.message})`;
  }
  return null;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
