import { setTimeout as pause } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { isSuperAdmin } from '@portal/domain/access';
import { normalizeUsername, type OwnAccount, type Profile } from '@portal/domain/accounts/accounts';
import { busy, unauthenticated, unavailable } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { SystemContext } from '@portal/platform/context';
import { countedAddress } from '@portal/platform/counted-address';
import { callLimits } from '@portal/platform/limits';
import {
  type AllLimits,
  allLimits,
  consume,
  type RateLimit,
  secondsUntilAllFree,
  retryAfter,
  retryAfterOfAll,
} from '@portal/platform/rate-limit';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';
import { isTemporaryPasswordExpired, ownColumns, toProfile } from '../accounts/account-columns.ts';
import { auditParams, recordAudit } from '../accounts/audit.ts';
import { passwordHashing } from '../accounts/password-hashing.ts';
import { type SessionClaims, sessionTokens } from '../accounts/session-token.ts';
import { openCheckedSession, sessionParams } from '../accounts/sessions.ts';
import { directoryBinds, signInTimeoutMs } from '../directory/directory-binds.ts';
import { activeLdapHost } from '../directory/stored-ldap-config.ts';

const windowSec = 15 * 60;
/** Failed sign-ins of one username from one address. */
const perUsername: RateLimit = { name: 'sign-in per username and address', max: 10, windowSec };
/** Failed sign-ins from one address, for any username. */
const perAddress: RateLimit = { name: 'sign-in per address', max: 60, windowSec };
/**
 * Failed sign-ins of one username from addresses it has not signed in from. An attacker with many addresses guesses no faster, and
 * cannot lock the owner out.
 */
const perUsernameElsewhere: RateLimit = { name: 'sign-in per username', max: 100, windowSec };
/** Counts successful sign-ins: marks an address from which the username has signed in. */
const knownAddress: RateLimit = { name: 'signed in', max: 1, windowSec: 30 * 24 * 60 * 60 };

/**
 * Runs sign-ins of one username from one address one after the other. Each failure counts before the next guess is checked, so
 * concurrent guesses neither exceed the limit nor lock the account in its directory.
 */
const inTurn = resource(() =>
  openSemaphore({
    ...callLimits.signIns,
    refusal: () => unavailable('Too many people are signing in right now. Please try again in a few seconds.'),
  }),
);

export interface SignedIn {
  profile: Profile;
  token: string;
}

/** One attempt to sign in. */
interface Attempt {
  username: string;
  password: string;
  address: string;
  /** Rate limit key of this username from this address. */
  usernameAtAddress: string;
  limits: AllLimits;
  /** The session of the request's cookie. */
  replaced: SessionClaims | null;
  /** In terms of `performance.now()`. */
  startedAt: number;
}

/** An account with the fields that decide whether and how it may sign in. */
type Found = OwnAccount & {
  passwordHash: string | null;
  ldapDn: string | null;
  isActive: boolean;
  tenantIsActive: boolean;
  isTemporaryPasswordExpired: boolean;
};

/**
 * Checks username and password and opens a session. For an account without its own password the directory checks it, except for a
 * SUPER_ADMIN, because the operator of a directory decides which passwords it accepts.
 * Throws 401 `INVALID_CREDENTIALS` with the same body and duration for an unknown username, a wrong password, an inactive account, an
 * inactive tenant, and a directory that refuses the sign-in or cannot be reached. Throws 429 after too many failures, even for the
 * correct password. Ends the session of the request's cookie, so that an attacker cannot plant a session.
 */
export async function signIn(
  system: SystemContext,
  credentials: { username: string; password: string },
  previousToken?: string,
): Promise<SignedIn> {
  const username = normalizeUsername(credentials.username);
  const address = countedAddress(system.ip ?? '');
  const usernameAtAddress = `${username}\0${address}`;
  const limits = allLimits(
    [
      [perUsername, usernameAtAddress],
      [perAddress, address],
      [perUsernameElsewhere, username],
    ],
    [knownAddress, usernameAtAddress],
  );
  const replaced = previousToken === undefined ? null : sessionTokens(system).read(previousToken);
  const startedAt = performance.now();
  const attempt = { username, password: credentials.password, address, usernameAtAddress, limits, replaced, startedAt };
  try {
    return await inTurn(system)(() => signInNow(system, attempt), { key: usernameAtAddress });
  } catch (error) {
    // A slow or unreachable directory delays its refusals up to the timeout. If other refusals came at once, their time would reveal
    // which names are local or unknown. So while a directory is slow, every refusal takes seconds; successful sign-ins never wait. A fixed
    // pause would have to exceed that timeout and cost five seconds for each typing error.
    const restMs = startedAt + directoryBinds(system).refusalMs() - performance.now();
    if (restMs > 0) await pause(restMs);
    throw error;
  }
}

async function signInNow(system: SystemContext, attempt: Attempt): Promise<SignedIn> {
  await passwordHashing(system).coalesce();
  const { waitSec, found } = await lookUp(system, attempt);
  if (waitSec !== null) throw tooManyFailures(system, waitSec);

  const verdict = await checkPassword(system, attempt, found);
  if (!found || verdict !== true) {
    const refusal = await countFailure(system, attempt, found, verdict instanceof LdapError ? verdict : undefined);
    if (found && mayAskDirectory(found, attempt))
      directoryBinds(system).noteRefusal(performance.now() - attempt.startedAt);
    throw refusal;
  }
  const newHash =
    found.passwordHash !== null && passwordHashing(system).isOutdated(found.passwordHash)
      ? await passwordHashing(system).hash(attempt.password)
      : found.passwordHash;
  const signedIn = await open(system, attempt, found, newHash);
  if (signedIn) return signedIn;
  // Another sign-in may have renewed the same outdated hash meanwhile, so check the password against the new one.
  if (newHash !== found.passwordHash) return signInNow(system, attempt);
  throw unauthenticated('INVALID_CREDENTIALS');
}

/**
 * Whether this is the password of an account that may sign in; an LdapError if its directory cannot be reached. Always verifies a
 * hash, because a faster answer would reveal which accounts have none.
 */
async function checkPassword(
  system: SystemContext,
  attempt: Attempt,
  found: Found | undefined,
): Promise<boolean | LdapError> {
  const hashed = passwordHashing(system).verify(found?.passwordHash ?? null, attempt.password);
  const asked = found && mayAskDirectory(found, attempt) ? askDirectory(system, attempt, found) : null;
  const [matches, answer] = await Promise.all([hashed, asked]);
  return answer ?? (found !== undefined && maySignIn(found) && matches);
}

const maySignIn = (found: Found): boolean =>
  found.isActive && found.tenantIsActive && !found.isTemporaryPasswordExpired;

// Many directories accept a bind without a password as anonymous (RFC 4513, 5.1.2), so a blank password never reaches them.
const mayAskDirectory = (found: Found, { password }: Attempt): found is Found & { ldapDn: string } =>
  found.passwordHash === null &&
  found.ldapDn !== null &&
  !isSuperAdmin(found) &&
  maySignIn(found) &&
  password.trim() !== '';

/** Binds with the account's DN at the directory of its tenant, if that is switched on. */
async function askDirectory(
  system: SystemContext,
  { password, startedAt }: Attempt,
  { tenantId, ldapDn: dn }: Found & { ldapDn: string },
): Promise<boolean | LdapError> {
  const [host] = await system.inTenant(tenantId).tx((tx) => tx.run(activeLdapHost, {}));
  if (!host) return false;
  try {
    return await directoryBinds(system).check(tenantId, host, { dn, password }, startedAt + signInTimeoutMs);
  } catch (error) {
    if (error instanceof LdapError) return error;
    throw error;
  }
}

/** Counts a failed sign-in and returns the error for the caller: 401, or 429 if the limit was already reached. */
async function countFailure(
  system: SystemContext,
  { username, address, usernameAtAddress }: Attempt,
  found?: Found,
  unreachable?: LdapError,
): Promise<Error> {
  const isCounted = await system.acrossTenants('a failed sign-in counts against its address', async (tx) => {
    if (!(await consume(tx, perUsername, usernameAtAddress)) || !(await consume(tx, perAddress, address))) return false;
    const isKnown = (await retryAfter(tx, knownAddress, usernameAtAddress)) !== null;
    if (!isKnown && !(await consume(tx, perUsernameElsewhere, username))) return false;
    await recordAudit(tx, system, {
      action: 'auth.login_failed',
      tenantId: found?.tenantId ?? null,
      ...(found && { target: { type: 'user', id: found.id } }),
      summary: `Sign-in as ${username.slice(0, 128)} failed${unreachable ? `: ${unreachable.message}` : '.'}`,
    });
    return true;
  });
  // Concurrent guesses get no more answers than sequential ones.
  if (!isCounted) return tooManyFailures(system, windowSec);
  system.metrics.countSignIn(unreachable ? 'directory_unreachable' : 'failed');
  return unauthenticated('INVALID_CREDENTIALS');
}

/**
 * Opens a session for an account whose password was correct; `newHash` replaces the checked hash. Returns null if the account has
 * changed since the check; throws 429.
 */
async function open(
  system: SystemContext,
  { limits, replaced }: Attempt,
  found: Found,
  newHash: string | null,
): Promise<SignedIn | null> {
  const {
    passwordHash,
    ldapDn,
    isActive: _active,
    tenantIsActive: _tenantActive,
    isTemporaryPasswordExpired: _over,
    ...account
  } = found;
  const scope = system.inTenant(account.tenantId);
  const opening = sessionParams(system, { id: newId(), tenantId: account.tenantId, userId: account.id });
  const open = (tx: Tx) =>
    tx.runAndCommit(openCheckedSession, {
      ...limits,
      ...auditParams(
        { actor: account, ip: system.ip },
        {
          action: 'auth.login',
          tenantId: account.tenantId,
          target: { type: 'user', id: account.id },
          summary: `${account.username} signed in.`,
        },
      ),
      ...opening,
      passwordHash,
      ldapDn,
      newHash,
      replacedSession: replaced?.sid ?? null,
      replacedUser: replaced?.sub ?? null,
    });
  const [opened] =
    replaced && replaced.tid !== account.tenantId
      ? await system.acrossTenants('a sign-in ends the session of another tenant that it came with', open)
      : await scope.tx(open);
  if (!opened) {
    // Concurrent guesses may have reached the limit; then even the correct password is refused.
    const waitSec = await retryAfterOfAll(scope, limits);
    if (waitSec !== null) throw tooManyFailures(system, waitSec);
    return null;
  }
  system.metrics.countSignIn('succeeded');
  return {
    profile: toProfile({ ...account, lastLoginAt: opened.lastLoginAt }),
    token: sessionTokens(system).issue({
      sub: account.id,
      tid: account.tenantId,
      sid: opening.sessionId,
      ver: opened.sessionVersion,
    }),
  };
}

// All these statements are prepared: planning them for each sign-in would cost a tenth of its hash.
const lookupStatement = prepared<AllLimits & { username: string }>()('sign_in_look_up', (db) => {
  const remaining = db.$with('remaining').as(secondsUntilAllFree(db));
  return db
    .with(remaining)
    .select({
      waitSec: remaining.waitSec,
      ...ownColumns,
      passwordHash: users.passwordHash,
      ldapDn: users.ldapDn,
      isActive: users.isActive,
      tenantIsActive: sql<boolean>`${tenants.isActive}`.as('tenant_is_active'),
      isTemporaryPasswordExpired: sql<boolean>`${isTemporaryPasswordExpired}`.as('is_temporary_password_over'),
    })
    .from(remaining)
    .leftJoin(users, eq(users.username, sql.placeholder('username')))
    .leftJoin(tenants, eq(tenants.id, users.tenantId));
});

/** Reads the account of a username, if any, and the seconds until the limits allow another failure; null if they allow it now. */
async function lookUp(
  system: SystemContext,
  { limits, username }: Attempt,
): Promise<{ waitSec: number | null; found: Found | undefined }> {
  const [row] = await system.runAcrossTenants('sign-in names no tenant', lookupStatement, { ...limits, username });
  // Without an account, the row contains only the limits.
  const { waitSec, ...found } = row ?? { waitSec: null, id: null };
  return { waitSec, found: found.id === null ? undefined : (found as Found) };
}

function tooManyFailures(system: SystemContext, waitSec: number): Error {
  system.metrics.countSignIn('throttled');
  return busy('Too many failed sign-ins. Please wait before you try again.', waitSec);
}
