import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { isRightMissing, isRoleRaced, isSignInRefused } from './database-error.ts';
import { acrossRoleName, appRoleName } from './roles.ts';

/**
 * Creates or updates the login in `url` for the apps: it owns nothing, is no superuser, inherits nothing and can become only the two
 * roles that the policies name. Does nothing if it is the login of the migration itself; the apps then warn about it.
 *
 * An attacker who can send SQL over this login can name any tenant and take on the cross-tenant role, because scopes work that way: the
 * row policies only catch our own mistakes. The login stops everything beyond that. It cannot switch the policies off, change a table,
 * forge or remove append-only rows, or reach the server's files and programs. A second login for the cross-tenant role would cost a
 * second pool, and an attacker could still name any tenant.
 */
export async function prepareAppLogin(client: Client, url: string): Promise<void> {
  const { user, password } = new Client({ connectionString: url });
  if (!user || user === client.user) return;
  const name = escapeIdentifier(user);
  const secret =
    typeof password === 'string' && password !== '' ? `password ${escapeLiteral(verifierOf(password))}` : '';
  const membership = `grant ${appRoleName}, ${acrossRoleName} to ${name}`;
  try {
    const found = await findRole(client, user);
    if (!found) await unlessMadeMeanwhile(client.query(`create role ${name} login noinherit ${secret}`));
    // PostgreSQL 15 has inheritance only as an attribute of the login, and an existing login keeps its attributes.
    const hasInheritOption = (await serverVersion(client)) >= 160_000;
    if (!found?.isMember)
      await unlessMadeMeanwhile(
        client.query(`${membership}${hasInheritOption ? ' with inherit false, set true' : ''}`),
      );
    await client.query(`grant connect on database ${escapeIdentifier(client.database ?? user)} to ${name}`);
    // Only logins that look like ours get a new password: a typo in the address must not lock out another login.
    if (found?.isOurs && secret !== '' && !(await canSignIn(url)))
      await unlessMadeMeanwhile(client.query(`alter role ${name} ${secret}`));
  } catch (cause) {
    if (!isRightMissing(cause)) throw cause;
    throw new Error(
      `The migration login may not create the login of the apps. Run as a database administrator, then start again:\ncreate role ${name} login noinherit password '…';\n${membership};`,
      { cause },
    );
  }
}

async function findRole(client: Client, name: string): Promise<{ isMember: boolean; isOurs: boolean } | null> {
  const { rows } = await client.query<{ isMember: boolean; isOurs: boolean }>(
    `with mine as (
       select r.*, array(select roleid::regrole::text from pg_auth_members where member = r.oid) as roles
       from pg_roles r where rolname = $1)
     select roles @> $2 as "isMember", rolcanlogin and roles @> $2 and roles <@ $2
       and not (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication) as "isOurs" from mine`,
    [name, [appRoleName, acrossRoleName]],
  );
  return rows[0] ?? null;
}

async function serverVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  return rows[0]?.version ?? 0;
}

async function unlessMadeMeanwhile(change: Promise<unknown>): Promise<void> {
  await change.catch((error: unknown) => {
    if (!isRoleRaced(error)) throw error;
  });
}

async function canSignIn(url: string): Promise<boolean> {
  const client = new Client({
    connectionString: url,
    application_name: 'portal-migrate',
    connectionTimeoutMillis: 10_000,
  });
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (isSignInRefused(error)) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The SCRAM verifier that the server stores for a password (RFC 5803): the password itself appears in no statement and no log. */
function verifierOf(password: string): string {
  const rounds = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, rounds, 32, 'sha256');
  const keyOf = (purpose: string) => createHmac('sha256', salted).update(purpose).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
