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
  remainingOfAll,
  retryAfter,
  retryAfterOfAll,
} from '@portal/platform/rate-limit';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';
import { isTemporaryPasswordOver, ownColumns, toProfile } from '../accounts/account-columns.ts';
import { auditParams, recordAudit } from '../accounts/audit.ts';
import { passwordHashing } from '../accounts/password-hashing.ts';
import { type SessionClaims, sessionTokens } from '../accounts/session-token.ts';
import { openCheckedSession, sessionParams } from '../accounts/sessions.ts';
import { directoryBinds, patienceMs } from '../directory/directory-binds.ts';
import { activeLdapHost } from '../directory/stored-ldap-config.ts';

const windowSec = 15 * 60;
/** Failed sign-ins of one username from one address. */
const perUsername: RateLimit = { name: 'sign-in per username and address', max: 10, windowSec };
/** Failed sign-ins from one address, whatever the username. */
const perAddress: RateLimit = { name: 'sign-in per address', max: 60, windowSec };
/**
 * Failed sign-ins of one username from addresses it has not signed in from: whoever has many addresses guesses no faster, and
 * nobody locks the owner out.
 */
const perUsernameElsewhere: RateLimit = { name: 'sign-in per username', max: 100, windowSec };
/** Counted when somebody gets in: an address the username has signed in from. */
const signedInHere: RateLimit = { name: 'signed in', max: 1, windowSec: 30 * 24 * 60 * 60 };

/**
 * Sign-ins of one username from one address follow each other: the failure of a guess is counted before the next is looked at, so
 * many at once neither get past the limit nor lock the account in its directory.
 */
const turns = resource(() =>
  openSemaphore({
    ...callLimits.signIns,
    refusal: () => unavailable('Too many people are signing in right now. Please try again in a few seconds.'),
  }),
);

export interface SignedIn {
  profile: Profile;
  token: string;
}

/** One try to sign in. */
interface Attempt {
  username: string;
  password: string;
  address: string;
  /** The username from this address. */
  here: string;
  limits: AllLimits;
  /** The session the caller came with. */
  replaced: SessionClaims | null;
  /** By `performance.now()`. */
  startedAt: number;
}

/** An account with what decides whether it may sign in, and how. */
type Found = OwnAccount & {
  passwordHash: string | null;
  ldapDn: string | null;
  isActive: boolean;
  tenantIsActive: boolean;
  isTemporaryPasswordOver: boolean;
};

/**
 * Checks username and password and opens a session; an account without a password of its own is checked by its directory, but
 * never a SUPER_ADMIN: the operator of a directory decides which passwords are right.
 * Throws 401 `INVALID_CREDENTIALS`, the same in body and time for an unknown username, a wrong password, an inactive account and
 * an inactive tenant, for a directory's no and for a directory that cannot be asked; throws 429 after too many failures, a right
 * password included. A session that the caller came with, whosever it is, ends: nobody goes on under a cookie planted before.
 */
export async function signIn(
  system: SystemContext,
  credentials: { username: string; password: string },
  previousToken?: string,
): Promise<SignedIn> {
  const username = normalizeUsername(credentials.username);
  const address = countedAddress(system.ip ?? '');
  const here = `${username}\0${address}`;
  const limits = allLimits(
    [
      [perUsername, here],
      [perAddress, address],
      [perUsernameElsewhere, username],
    ],
    [signedInHere, here],
  );
  const replaced = previousToken === undefined ? null : sessionTokens(system).read(previousToken);
  const startedAt = performance.now();
  const attempt = { username, password: credentials.password, address, here, limits, replaced, startedAt };
  try {
    return await turns(system)(() => signInNow(system, attempt), { key: here });
  } catch (error) {
    // A directory says no in its own time, and one that is slow or away only when patience ends: answered at once, local accounts and
    // names that nobody has would be told from its accounts. So while a directory is slow, it costs seconds whoever mistyped; nobody
    // who gets in waits.
    const restMs = startedAt + directoryBinds(system).refusalMs() - performance.now();
    if (restMs > 0) await pause(restMs);
    throw error;
  }
}

async function signInNow(system: SystemContext, attempt: Attempt): Promise<SignedIn> {
  await passwordHashing(system).coalesce();
  const { waitSec, found } = await lookUp(system, attempt);
  if (waitSec !== null) throw tooManyFailures(system, waitSec);

  const isRight = await checkPassword(system, attempt, found);
  if (!found || isRight !== true) {
    const refusal = await countFailure(system, attempt, found, isRight instanceof LdapError ? isRight : undefined);
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
  // Another sign-in may have renewed the same outdated hash meanwhile: the password counts against the one stored now.
  if (newHash !== found.passwordHash) return signInNow(system, attempt);
  throw unauthenticated('INVALID_CREDENTIALS');
}

/**
 * Whether this is the password of an account that may sign in; an LdapError when the directory that knows cannot be asked. A hash is
 * checked in any case: what answers faster than one is told from the others.
 */
async function checkPassword(
  system: SystemContext,
  attempt: Attempt,
  found: Found | undefined,
): Promise<boolean | LdapError> {
  const hashed = passwordHashing(system).verify(found?.passwordHash ?? null, attempt.password);
  const asked = found && mayAskDirectory(found, attempt) ? askDirectory(system, attempt, found) : null;
  const [matches, answer] = await Promise.all([hashed, asked]);
  return answer ?? (found !== undefined && mayCome(found) && matches);
}

const mayCome = (found: Found): boolean => found.isActive && found.tenantIsActive && !found.isTemporaryPasswordOver;

// A bind without a password succeeds as nobody at many directories (RFC 4513, 5.1.2), so a blank one never gets there.
const mayAskDirectory = (found: Found, { password }: Attempt): found is Found & { ldapDn: string } =>
  found.passwordHash === null &&
  found.ldapDn !== null &&
  !isSuperAdmin(found) &&
  mayCome(found) &&
  password.trim() !== '';

/** Binds under the account's DN at the active directory of its tenant. */
async function askDirectory(
  system: SystemContext,
  { password, startedAt }: Attempt,
  { tenantId, ldapDn: dn }: Found & { ldapDn: string },
): Promise<boolean | LdapError> {
  const [host] = await system.inTenant(tenantId).tx((tx) => tx.run(activeLdapHost, {}));
  if (!host) return false;
  try {
    return await directoryBinds(system).check(tenantId, host, { dn, password }, startedAt + patienceMs);
  } catch (error) {
    if (error instanceof LdapError) return error;
    throw error;
  }
}

/** Counts a failed sign-in and answers what its caller is told: 401, or 429 when there was no room for another failure. */
async function countFailure(
  system: SystemContext,
  { username, address, here }: Attempt,
  found?: Found,
  unreachable?: LdapError,
): Promise<Error> {
  const isCounted = await system.acrossTenants('a failed sign-in counts against its address', async (tx) => {
    if (!(await consume(tx, perUsername, here)) || !(await consume(tx, perAddress, address))) return false;
    const isKnown = (await retryAfter(tx, signedInHere, here)) !== null;
    if (!isKnown && !(await consume(tx, perUsernameElsewhere, username))) return false;
    await recordAudit(tx, system, {
      action: 'auth.login_failed',
      tenantId: found?.tenantId ?? null,
      ...(found && { target: { type: 'user', id: found.id } }),
      summary: `Sign-in as ${username.slice(0, 128)} failed${unreachable ? `: ${unreachable.message}` : '.'}`,
    });
    return true;
  });
  // Guesses that were under way together do not get more answers than guesses one after the other.
  if (!isCounted) return tooManyFailures(system, windowSec);
  system.metrics.countSignIn(unreachable ? 'directory_unreachable' : 'failed');
  return unauthenticated('INVALID_CREDENTIALS');
}

/**
 * Opens the session of an account whose password was right; `newHash` takes the place of the one it was checked against. Null when
 * the account is not the one that was checked any more; throws 429.
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
    isTemporaryPasswordOver: _over,
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
    // Guesses under way at the same time may have reached the limit: then a right password is refused like everything else.
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

// Prepared, all of them: planning these statements anew for each sign-in would cost as much as a tenth of its hash.
const lookUpStatement = prepared<AllLimits & { username: string }>()('sign_in_look_up', (db) => {
  const remaining = db.$with('remaining').as(remainingOfAll(db));
  return db
    .with(remaining)
    .select({
      waitSec: remaining.waitSec,
      ...ownColumns,
      passwordHash: users.passwordHash,
      ldapDn: users.ldapDn,
      isActive: users.isActive,
      tenantIsActive: sql<boolean>`${tenants.isActive}`.as('tenant_is_active'),
      isTemporaryPasswordOver: sql<boolean>`${isTemporaryPasswordOver}`.as('is_temporary_password_over'),
    })
    .from(remaining)
    .leftJoin(users, eq(users.username, sql.placeholder('username')))
    .leftJoin(tenants, eq(tenants.id, users.tenantId));
});

/** The account of a username, if any, and the seconds until another failure would be counted; null while it would. */
async function lookUp(
  system: SystemContext,
  { limits, username }: Attempt,
): Promise<{ waitSec: number | null; found: Found | undefined }> {
  const [row] = await system.runAcrossTenants('sign-in names no tenant', lookUpStatement, { ...limits, username });
  // There is a row for the limits alone, too.
  const { waitSec, ...found } = row ?? { waitSec: null, id: null };
  return { waitSec, found: found.id === null ? undefined : (found as Found) };
}

function tooManyFailures(system: SystemContext, waitSec: number): Error {
  system.metrics.countSignIn('throttled');
  return busy('Too many failed sign-ins. Please wait before you try again.', waitSec);
}
