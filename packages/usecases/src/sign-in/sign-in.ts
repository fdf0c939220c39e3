import { setTimeout as pause } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { tenants } from '@portal/db/schema/tenants';
import { isSuperAdmin } from '@portal/domain/access';
import { normalizeUsername, type Profile } from '@portal/domain/accounts/accounts';
import type { OwnAccount } from '@portal/domain/accounts/accounts';
import { busy, unauthenticated } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { SystemContext } from '@portal/platform/context';
import { countedAddress } from '@portal/platform/counted-address';
import {
  type AllLimits,
  allLimits,
  type RateLimit,
  remainingOfAll,
  retryAfterOfAll,
  consume,
  withoutThird,
} from '@portal/platform/rate-limit';
import { isTemporaryPasswordOver, ownColumns, toProfile } from '../accounts/account-columns.ts';
import { auditParams, recordAudit } from '../accounts/audit.ts';
import { passwordHashing } from '../accounts/password-hashing.ts';
import { type SessionClaims, sessionTokens } from '../accounts/session-token.ts';
import { openCheckedSession, sessionParams } from '../accounts/sessions.ts';
import { directoryBinds } from '../directory/directory-binds.ts';
import { activeLdapHost } from '../directory/stored-ldap-config.ts';

/** Failed sign-ins of one username from one address. */
const perUsername: RateLimit = { name: 'sign-in per username and address', max: 10, windowSec: 15 * 60 };
/** Failed sign-ins from one address, whatever the username. */
const perAddress: RateLimit = { name: 'sign-in per address', max: 60, windowSec: 15 * 60 };
/**
 * Failed sign-ins of one username from everywhere: whoever has many addresses guesses no faster. It is lifted where the account
 * has signed in from before, so that nobody locks its owner out.
 */
const perUsernameEverywhere: RateLimit = { name: 'sign-in per username', max: 100, windowSec: 15 * 60 };

export interface SignedIn {
  profile: Profile;
  token: string;
}

/** One try to sign in, as failures are counted by it. */
interface Attempt {
  username: string;
  address: string;
  subject: string;
  limits: AllLimits;
  /** Whether it comes from where the account has signed in before; asked only once the limit over all addresses is reached. */
  isFamiliar: boolean;
  /** The session the caller came with. */
  replaced: SessionClaims | null;
  startedAt: number;
}

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
  const subject = `${username}\0${address}`;
  const limits = allLimits([perUsername, subject], [perAddress, address], [perUsernameEverywhere, username]);
  const replaced = previousToken === undefined ? null : sessionTokens(system).read(previousToken);
  const startedAt = performance.now();

  await passwordHashing(system).coalesce();
  const [row] = await system.runAcrossTenants('sign-in names no tenant', lookUp, { ...limits, username });
  const isFamiliar = row?.familiarIps?.some((ip) => countedAddress(ip) === address) ?? false;
  const waitSec = row?.waitSec ?? (isFamiliar ? null : row?.thirdWaitSec) ?? null;
  if (waitSec !== null) throw tooManyFailures(system, waitSec);
  const attempt = {
    username,
    address,
    subject,
    limits: isFamiliar ? withoutThird(limits) : limits,
    isFamiliar,
    replaced,
    startedAt,
  };
  const found = row && accountIn(row);
  try {
    return await signInAs(system, attempt, found, credentials.password);
  } catch (error) {
    await untilAllAreAnswered(system, attempt);
    throw error;
  }
}

async function signInAs(
  system: SystemContext,
  attempt: Attempt,
  found: Found | undefined,
  password: string,
): Promise<SignedIn> {
  // A bind without a password succeeds as nobody at many directories (RFC 4513, 5.1.2), so a blank one never gets there.
  if (found && isDirectoryAccount(found) && mayCome(found) && password.trim() !== '')
    return signInAtDirectory(system, attempt, found, password);

  const matches = await passwordHashing(system).verify(found?.passwordHash ?? null, password);
  if (!found?.passwordHash || !matches || !mayCome(found)) throw await refusal(system, attempt, found);

  const newHash = passwordHashing(system).isOutdated(found.passwordHash)
    ? await passwordHashing(system).hash(password)
    : found.passwordHash;
  const signedIn = await openSignIn(system, attempt, found, newHash);
  if (signedIn) return signedIn;
  if (newHash !== found.passwordHash) {
    // Another sign-in may have renewed the same outdated hash meanwhile: the password counts against the one stored now.
    const [row] = await system.runAcrossTenants('sign-in names no tenant', lookUp, {
      ...attempt.limits,
      username: attempt.username,
    });
    const present = row && accountIn(row);
    if (present && present.passwordHash !== found.passwordHash) return signInAs(system, attempt, present, password);
  }
  throw invalidCredentials();
}

/** Signs in by a bind under the account's DN at the active directory of its tenant. */
async function signInAtDirectory(
  system: SystemContext,
  attempt: Attempt,
  found: Found & { ldapDn: string },
  password: string,
): Promise<SignedIn> {
  // Costs what an unknown username costs, and nothing is refused before: what answers faster than a hash is not told from one.
  const decoy = passwordHashing(system).verify(null, password);
  const refuse = async (unreachable?: LdapError) => {
    await decoy;
    return refusal(system, attempt, found, unreachable);
  };
  const signingIn = directoryBinds(system).inTurn(attempt.subject, async (deadline) => {
    const [waitSec, [host]] = await system
      .inTenant(found.tenantId)
      .tx((tx) => Promise.all([retryAfterFailure(tx, attempt), tx.run(activeLdapHost, {})]));
    // Others whose turn came first reached the limit.
    if (waitSec !== null) throw tooManyFailures(system, waitSec);
    try {
      const credentials = { dn: found.ldapDn, password };
      if (host && (await directoryBinds(system).check(found.tenantId, host, credentials, deadline))) {
        const signedIn = await openSignIn(system, attempt, found);
        if (!signedIn) throw invalidCredentials();
        return signedIn;
      }
    } catch (error) {
      if (error instanceof LdapError) throw await refuse(error);
      throw error;
    }
    throw await refuse();
  });
  const [{ status }] = await Promise.allSettled([signingIn, decoy]);
  if (status === 'rejected') directoryBinds(system).noteRefusal(performance.now() - attempt.startedAt);
  return signingIn;
}

/**
 * Makes every refusal take as long as those of directories have lately. A directory says no in its own time, and one that is slow or
 * away only when patience ends: answered at once, local accounts and names that nobody has would be told from its accounts. So a
 * slow directory costs seconds those who mistyped, whoever they are, while it is slow; nobody who gets in waits.
 */
async function untilAllAreAnswered(system: SystemContext, { startedAt }: Attempt): Promise<void> {
  const restMs = startedAt + directoryBinds(system).refusalMs() - performance.now();
  if (restMs > 0) await pause(restMs);
}

const isDirectoryAccount = (found: Found): found is Found & { ldapDn: string } =>
  found.passwordHash === null && found.ldapDn !== null && !isSuperAdmin(found);

const mayCome = (found: Found): boolean => found.isActive && found.tenantIsActive && !found.isTemporaryPasswordOver;

/** Counts a failed sign-in and answers what its caller is told: 401, or 429 when there was no room for another failure. */
async function refusal(
  system: SystemContext,
  attempt: Attempt,
  found?: Found,
  unreachable?: LdapError,
): Promise<Error> {
  const { username, address, subject } = attempt;
  const counted = await system.acrossTenants('a failed sign-in counts against its address', async (tx) => {
    const hasRoom = await consume(tx, perUsername, subject);
    if (!hasRoom || !(await consume(tx, perAddress, address))) return false;
    if (!(await consume(tx, perUsernameEverywhere, username)) && !attempt.isFamiliar) return false;
    await recordAudit(tx, system, {
      action: 'auth.login_failed',
      tenantId: found?.tenantId ?? null,
      ...(found && { target: { type: 'user', id: found.id } }),
      summary: `Sign-in as ${username.slice(0, 128)} failed${unreachable ? `: ${unreachable.message}` : '.'}`,
    });
    return true;
  });
  // Guesses that were under way together do not get more answers than guesses one after the other.
  if (!counted) return tooManyFailures(system, perUsername.windowSec);
  system.metrics.countSignIn(unreachable ? 'directory_unreachable' : 'failed');
  return invalidCredentials();
}

/**
 * Opens the session of an account whose password was right; `newHash` takes the place of the one it was checked against. Null when
 * the account is not the one that was checked any more; throws 429.
 */
async function openSignIn(
  system: SystemContext,
  attempt: Attempt,
  found: Found,
  newHash = found.passwordHash,
): Promise<SignedIn | null> {
  const {
    passwordHash,
    ldapDn,
    isActive: _active,
    tenantIsActive: _tenantActive,
    isTemporaryPasswordOver: _over,
    ...account
  } = found;
  const { replaced } = attempt;
  const scope = system.inTenant(account.tenantId);
  const opening = sessionParams(system, { id: newId(), tenantId: account.tenantId, userId: account.id });
  const open = (tx: Tx) =>
    tx.runAndCommit(openCheckedSession, {
      ...attempt.limits,
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
    const waitSec = await retryAfterFailure(scope, attempt);
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
const lookUp = prepared<AllLimits & { username: string }>()('sign_in_look_up', (db) => {
  const remaining = db.$with('remaining').as(remainingOfAll(db));
  return db
    .with(remaining)
    .select({
      waitSec: remaining.waitSec,
      thirdWaitSec: remaining.thirdWaitSec,
      // The log, for sessions that have ended are gone by the next day.
      familiarIps: sql<string[] | null>`case when ${remaining.thirdWaitSec} is not null then array(
        select distinct ${auditEntries.ip} from ${auditEntries} where ${auditEntries.tenantId} = ${users.tenantId}
        and ${auditEntries.actorId} = ${users.id} and ${auditEntries.action} = 'auth.login'
        and ${auditEntries.at} > now() - interval '30 days' and ${auditEntries.ip} is not null limit 1000) end`.as(
        'familiar_ips',
      ),
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

/** The account a look-up has come upon, if any: its row is there for the limits alone otherwise. */
const accountIn = ({
  waitSec: _waitSec,
  thirdWaitSec: _thirdWaitSec,
  familiarIps: _familiarIps,
  ...account
}: {
  waitSec: number | null;
  thirdWaitSec: number | null;
  familiarIps: string[] | null;
  id: string | null;
}): Found | undefined => (account.id === null ? undefined : (account as Found));

/** An account with what decides whether it may sign in, and how. */
type Found = OwnAccount & {
  passwordHash: string | null;
  ldapDn: string | null;
  isActive: boolean;
  tenantIsActive: boolean;
  isTemporaryPasswordOver: boolean;
};

/** Null while another failure would still be counted, else the seconds until it would. */
const retryAfterFailure = (tx: Pick<Tx, 'run'>, attempt: Attempt): Promise<number | null> =>
  retryAfterOfAll(tx, attempt.limits);

const invalidCredentials = () => unauthenticated('INVALID_CREDENTIALS');

function tooManyFailures(system: SystemContext, waitSec: number): Error {
  system.metrics.countSignIn('throttled');
  return busy('Too many failed sign-ins. Please wait before you try again.', waitSec);
}
