import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { sessions } from '@portal/db/schema/accounts';
import { tenants } from '@portal/db/schema/tenants';
import { users } from '@portal/db/schema/users';
import { normalizeUsername, type Profile } from '@portal/domain/accounts';
import { busy, unauthenticated } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { recordAudit } from '../audit/record-audit.ts';
import type { Visit } from '../run/context.ts';
import { clearHits, type RateLimit, secondsUntilRoomForBoth, takeHit } from '../run/rate-limit.ts';
import { ownColumns, toProfile } from './account-columns.ts';
import { sessionSeconds } from './session-token.ts';

/** Failed sign-ins of one username from one address. */
const perUsername: RateLimit = { name: 'sign-in per username and address', max: 10, windowSec: 15 * 60 };
/** Failed sign-ins from one address, whatever the username. */
const perAddress: RateLimit = { name: 'sign-in per address', max: 60, windowSec: 15 * 60 };

export interface SignedIn {
  profile: Profile;
  token: string;
}

/**
 * Checks username and password and opens a session. Throws 401 `INVALID_CREDENTIALS`, the same in body and time for an unknown
 * username, a wrong password, an inactive account and an inactive tenant; throws 429 after too many failures, a right password included.
 */
export async function signIn(visit: Visit, credentials: { username: string; password: string }): Promise<SignedIn> {
  const username = normalizeUsername(credentials.username);
  const address = visit.ip ?? '';
  const subject = `${username}\0${address}`;

  const [[found], waitSec] = await visit.acrossTenants('sign-in names no tenant', async (tx) =>
    Promise.all([tx.run(accountByUsername, { username }), roomForFailure(tx, subject, address)]),
  );
  if (waitSec !== null) throw tooManyFailures(visit, waitSec);

  const matches = await visit.passwords.verify(found?.passwordHash ?? null, credentials.password);
  if (!found?.passwordHash || !matches || !found.isActive || !found.tenantIsActive) {
    const counted = await visit.acrossTenants('a failed sign-in counts against its address', async (tx) => {
      const room = await takeHit(tx, perUsername, subject);
      if (!room || !(await takeHit(tx, perAddress, address))) return false;
      await recordAudit(tx, visit, {
        action: 'auth.login_failed',
        tenantId: found?.tenantId ?? null,
        ...(found && { target: { type: 'user', id: found.id } }),
        summary: `Sign-in as ${username.slice(0, 128)} failed.`,
      });
      return true;
    });
    // Guesses that were under way together do not get more answers than guesses one after the other.
    if (!counted) throw tooManyFailures(visit, perUsername.windowSec);
    visit.countSignIn('failed');
    throw invalidCredentials();
  }

  const { passwordHash, isActive: _isActive, tenantIsActive: _tenantIsActive, ...account } = found;
  const rehashed = visit.passwords.isOutdated(passwordHash)
    ? await visit.passwords.hash(credentials.password)
    : undefined;
  const sessionId = newId();
  const opened = await visit.inTenant(account.tenantId).tx(async (tx) => {
    const [wait, [signedIn]] = await Promise.all([
      roomForFailure(tx, subject, address),
      // Still the account that was checked: not deleted, switched off or given another password meanwhile.
      tx.run(markSignedIn, { userId: account.id, passwordHash, newHash: rehashed ?? passwordHash }),
    ]);
    // Guesses under way at the same time reached the limit: a right password is refused too, and nothing was done.
    if (wait !== null) throw tooManyFailures(visit, wait);
    if (!signedIn) throw invalidCredentials();
    await Promise.all([
      insertSession(tx, visit, { id: sessionId, tenantId: account.tenantId, userId: account.id }),
      clearHits(tx, perUsername, subject),
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
      isActive: users.isActive,
      tenantIsActive: sql<boolean>`${tenants.isActive}`.as('tenant_is_active'),
    })
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .where(eq(users.username, sql.placeholder('username'))),
);

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
const roomForFailure = (tx: Tx, subject: string, address: string): Promise<number | null> =>
  secondsUntilRoomForBoth(tx, [perUsername, subject], [perAddress, address]);

const invalidCredentials = () => unauthenticated('INVALID_CREDENTIALS', 'Username or password is wrong.');

function tooManyFailures(visit: Visit, waitSec: number): Error {
  visit.countSignIn('throttled');
  return busy('Too many failed sign-ins. Please wait before you try again.', waitSec);
}

/** Opens a session for an account; its token is issued after the transaction. */
export const insertSession = (tx: Tx, visit: Visit, session: { id: string; tenantId: string; userId: string }) =>
  tx.run(openSession, { ...session, ip: visit.ip, userAgent: visit.userAgent?.slice(0, 500) ?? null });
