import { and, eq, isNull, sql } from 'drizzle-orm';
import { LdapFailure } from '@portal/connectors/ldap/failure';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { sessions } from '@portal/db/schema/accounts';
import { tenants } from '@portal/db/schema/tenants';
import { users } from '@portal/db/schema/users';
import { normalizeUsername, type Profile } from '@portal/domain/accounts';
import { busy, unauthenticated } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { recordAudit } from '../audit/record-audit.ts';
import { activeLdapHost } from '../directory/stored-ldap-config.ts';
import type { Visit } from '../run/context.ts';
import { clearHits, type RateLimit, secondsUntilRoomForBoth, takeHit } from '../run/rate-limit.ts';
import { type OwnAccount, ownColumns, toProfile } from './account-columns.ts';
import { sessionSeconds } from './session-token.ts';

/** Failed sign-ins of one username from one address. */
const perUsername: RateLimit = { name: 'sign-in per username and address', max: 10, windowSec: 15 * 60 };
/** Failed sign-ins from one address, whatever the username. */
const perAddress: RateLimit = { name: 'sign-in per address', max: 60, windowSec: 15 * 60 };

export interface SignedIn {
  profile: Profile;
  token: string;
}

/** One try to sign in, as failures are counted by it. */
interface Attempt {
  username: string;
  address: string;
  subject: string;
}

/**
 * Checks username and password and opens a session; an account without a password of its own is checked by its directory.
 * Throws 401 `INVALID_CREDENTIALS`, the same in body and time for an unknown username, a wrong password, an inactive account and
 * an inactive tenant, and the same in body for a directory that cannot be asked; throws 429 after too many failures, a right
 * password included.
 */
export async function signIn(visit: Visit, credentials: { username: string; password: string }): Promise<SignedIn> {
  const username = normalizeUsername(credentials.username);
  const address = visit.ip ?? '';
  const attempt = { username, address, subject: `${username}\0${address}` };

  const [[found], waitSec] = await visit.acrossTenants('sign-in names no tenant', async (tx) =>
    Promise.all([tx.run(accountByUsername, { username }), roomForFailure(tx, attempt)]),
  );
  if (waitSec !== null) throw tooManyFailures(visit, waitSec);

  // A bind without a password succeeds as nobody at many directories (RFC 4513, 5.1.2), so a blank one never gets there.
  if (found && isDirectoryAccount(found) && mayCome(found) && credentials.password.trim() !== '')
    return signInAtDirectory(visit, attempt, found, credentials.password);

  const matches = await visit.passwords.verify(found?.passwordHash ?? null, credentials.password);
  if (!found?.passwordHash || !matches || !mayCome(found)) throw await refusal(visit, attempt, found);

  const { id: userId, passwordHash } = found;
  const rehashed = visit.passwords.isOutdated(passwordHash)
    ? await visit.passwords.hash(credentials.password)
    : undefined;
  return openSignIn(visit, attempt, found, (tx) =>
    tx.run(markSignedIn, { userId, passwordHash, newHash: rehashed ?? passwordHash }),
  );
}

/** Signs in by a bind under the account's DN at the active directory of its tenant. */
async function signInAtDirectory(
  visit: Visit,
  attempt: Attempt,
  found: Found & { ldapDn: string },
  password: string,
): Promise<SignedIn> {
  const signingIn = visit.directoryBinds.inTurn(attempt.subject, async (deadline) => {
    const [waitSec, [host]] = await visit
      .inTenant(found.tenantId)
      .tx((tx) => Promise.all([roomForFailure(tx, attempt), tx.run(activeLdapHost, {})]));
    // Others whose turn came first reached the limit.
    if (waitSec !== null) throw tooManyFailures(visit, waitSec);
    try {
      const credentials = { dn: found.ldapDn, password };
      if (host && (await visit.directoryBinds.check(found.tenantId, host, credentials, deadline)))
        return await openSignIn(visit, attempt, found, (tx) =>
          tx.run(markSignedInAtDirectory, { userId: found.id, ldapDn: found.ldapDn }),
        );
    } catch (error) {
      if (error instanceof LdapFailure) throw await refusal(visit, attempt, found, error);
      throw error;
    }
    throw await refusal(visit, attempt, found);
  });
  // Costs beside the bind what an unknown username costs, so that the clock tells less about whom a directory knows.
  await Promise.allSettled([signingIn, visit.passwords.verify(null, password)]);
  return signingIn;
}

const isDirectoryAccount = (found: Found): found is Found & { ldapDn: string } =>
  found.passwordHash === null && found.ldapDn !== null;

const mayCome = (found: Found): boolean => found.isActive && found.tenantIsActive;

/** Counts a failed sign-in and answers what its caller is told: 401, or 429 when there was no room for another failure. */
async function refusal(visit: Visit, attempt: Attempt, found?: Found, unreachable?: LdapFailure): Promise<Error> {
  const { username, address, subject } = attempt;
  const counted = await visit.acrossTenants('a failed sign-in counts against its address', async (tx) => {
    const room = await takeHit(tx, perUsername, subject);
    if (!room || !(await takeHit(tx, perAddress, address))) return false;
    await recordAudit(tx, visit, {
      action: 'auth.login_failed',
      tenantId: found?.tenantId ?? null,
      ...(found && { target: { type: 'user', id: found.id } }),
      summary: `Sign-in as ${username.slice(0, 128)} failed${unreachable ? `: ${unreachable.message}` : '.'}`,
    });
    return true;
  });
  // Guesses that were under way together do not get more answers than guesses one after the other.
  if (!counted) return tooManyFailures(visit, perUsername.windowSec);
  visit.countSignIn(unreachable ? 'directory_unreachable' : 'failed');
  return invalidCredentials();
}

/** Opens the session of an account whose password was right; `mark` answers nothing when it is no longer the account that was checked. */
async function openSignIn(
  visit: Visit,
  attempt: Attempt,
  found: Found,
  mark: (tx: Tx) => Promise<{ lastLoginAt: Date | null; sessionVersion: number }[]>,
): Promise<SignedIn> {
  const { passwordHash: _hash, ldapDn: _dn, isActive: _active, tenantIsActive: _tenantActive, ...account } = found;
  const sessionId = newId();
  const opened = await visit.inTenant(account.tenantId).tx(async (tx) => {
    const [waitSec, [signedIn]] = await Promise.all([roomForFailure(tx, attempt), mark(tx)]);
    // Guesses under way at the same time reached the limit: a right password is refused too, and nothing was done.
    if (waitSec !== null) throw tooManyFailures(visit, waitSec);
    if (!signedIn) throw invalidCredentials();
    await Promise.all([
      insertSession(tx, visit, { id: sessionId, tenantId: account.tenantId, userId: account.id }),
      clearHits(tx, perUsername, attempt.subject),
      recordAudit(
        tx,
        { actor: account, ip: visit.ip },
        {
          action: 'auth.login',
          tenantId: account.tenantId,
          target: { type: 'user', id: account.id },
          summary: `${account.username} signed in.`,
        },
      ),
    ]);
    return signedIn;
  });
  visit.countSignIn('succeeded');
  return {
    profile: toProfile({ ...account, lastLoginAt: opened.lastLoginAt }),
    token: visit.sessionTokens.issue({
      sub: account.id,
      tid: account.tenantId,
      sid: sessionId,
      ver: opened.sessionVersion,
    }),
  };
}

// Prepared, all of them: planning these statements anew for each sign-in would cost as much as a tenth of its hash.
const accountByUsername = prepared<{ username: string }>()('sign_in_account', (db) =>
  db
    .select({
      ...ownColumns,
      passwordHash: users.passwordHash,
      ldapDn: users.ldapDn,
      isActive: users.isActive,
      tenantIsActive: sql<boolean>`${tenants.isActive}`.as('tenant_is_active'),
    })
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .where(eq(users.username, sql.placeholder('username'))),
);

/** An account with what decides whether it may sign in, and how. */
type Found = OwnAccount & {
  passwordHash: string | null;
  ldapDn: string | null;
  isActive: boolean;
  tenantIsActive: boolean;
};

// Both mark the account that was checked: not deleted, switched off, moved or given another password meanwhile.
const markSignedIn = prepared<{ userId: string; passwordHash: string; newHash: string }>()('sign_in_mark', (db) =>
  db
    .update(users)
    .set({ lastLoginAt: sql`now()`, passwordHash: sql`${sql.placeholder('newHash')}` })
    .where(
      and(
        eq(users.id, sql.placeholder('userId')),
        eq(users.isActive, true),
        eq(users.passwordHash, sql.placeholder('passwordHash')),
      ),
    )
    .returning({ lastLoginAt: users.lastLoginAt, sessionVersion: users.sessionVersion }),
);

const markSignedInAtDirectory = prepared<{ userId: string; ldapDn: string }>()('sign_in_mark_at_directory', (db) =>
  db
    .update(users)
    .set({ lastLoginAt: sql`now()` })
    .where(
      and(
        eq(users.id, sql.placeholder('userId')),
        eq(users.isActive, true),
        eq(users.ldapDn, sql.placeholder('ldapDn')),
        isNull(users.passwordHash),
      ),
    )
    .returning({ lastLoginAt: users.lastLoginAt, sessionVersion: users.sessionVersion }),
);

const openSession = prepared<{
  id: string;
  tenantId: string;
  userId: string;
  ip: string | null;
  userAgent: string | null;
}>()('session_open', (db) =>
  db
    .insert(sessions)
    .values({
      id: sql.placeholder('id'),
      tenantId: sql.placeholder('tenantId'),
      userId: sql.placeholder('userId'),
      expiresAt: sql`now() + make_interval(secs => ${sql.raw(String(sessionSeconds))})`,
      ip: sql.placeholder('ip'),
      userAgent: sql.placeholder('userAgent'),
    })
    .returning({ id: sessions.id }),
);

/** Null while another failure would still be counted, else the seconds until it would. */
const roomForFailure = (tx: Tx, { subject, address }: Attempt): Promise<number | null> =>
  secondsUntilRoomForBoth(tx, [perUsername, subject], [perAddress, address]);

const invalidCredentials = () => unauthenticated('INVALID_CREDENTIALS', 'Username or password is wrong.');

function tooManyFailures(visit: Visit, waitSec: number): Error {
  visit.countSignIn('throttled');
  return busy('Too many failed sign-ins. Please wait before you try again.', waitSec);
}

/** Opens a session for an account; its token is issued after the transaction. */
export const insertSession = (tx: Tx, visit: Visit, session: { id: string; tenantId: string; userId: string }) =>
  tx.run(openSession, { ...session, ip: visit.ip, userAgent: visit.userAgent?.slice(0, 500) ?? null });
