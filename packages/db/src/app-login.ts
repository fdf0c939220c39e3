import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { isRightMissing, isRoleRaced, isSignInRefused } from './database-error.ts';
import { acrossRoleName, appRoleName } from './roles.ts';

/**
 * Makes the login in `url` one for the apps: it owns nothing, is no superuser, inherits nothing and can become the two roles of
 * the policies only. Does nothing when it is the login of the migration itself; then the apps warn about it.
 *
 * Whoever gets to send statements of their own over such a login may name any tenant, and may take on the cross-tenant role: both
 * are how scopes work. The row policies hold back mistakes of ours. What this login ends is everything beyond: it can neither
 * switch the policies off nor change a table, forge or remove what is append-only, or reach the server's files and programs.
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
    // On PostgreSQL 15 it is an attribute of the login alone whether it inherits, and one found here keeps its attributes.
    const isOptional = (await serverVersion(client)) >= 160_000;
    if (!found?.isMember)
      await unlessMadeMeanwhile(client.query(`${membership}${isOptional ? ' with inherit false, set true' : ''}`));
    await client.query(`grant connect on database ${escapeIdentifier(client.database ?? user)} to ${name}`);
    // A password is given to logins made here alone: a slip in the address must not lock somebody else out.
    if (found?.isOurs && secret !== '' && !(await canSignIn(url)))
      await unlessMadeMeanwhile(client.query(`alter role ${name} ${secret}`));
  } catch (cause) {
    if (!isRightMissing(cause)) throw cause;
    throw new Error(
      `The login of the migration may not make the one of the apps. Run as a database administrator, then start again:\ncreate role ${name} login noinherit password '…';\n${membership};`,
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

/** What the server keeps of a password (RFC 5803), so that the password itself stands in no statement and no log of one. */
function verifierOf(password: string): string {
  const rounds = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, rounds, 32, 'sha256');
  const keyOf = (purpose: string) => createHmac('sha256', salted).update(purpose).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
