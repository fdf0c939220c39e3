import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, isNotNull, isNull, ne, or, sql } from 'drizzle-orm';
import { passwordTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { checkNewPassword, normalizeUsername } from '@portal/domain/accounts/accounts';
import { invalid } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { SystemContext } from '@portal/platform/context';
import { nudgeMails, queueMail } from '@portal/platform/outbox/queue-mail';
import { consume, type RateLimit } from '@portal/platform/rate-limit';
import { recordAudit } from './audit.ts';
import { queueChangeNotice } from './change-notices.ts';
import { loadCommonPasswords } from './common-passwords.ts';
import { hashToken } from './links.ts';
import { passwordResetMail } from './mails/password-reset.ts';
import { passwordHashing } from './password-hashing.ts';
import { setPassword, unchangedPassword } from './passwords.ts';

const perAccount: RateLimit = { name: 'reset per account', max: 3, windowSec: 60 * 60 };
const perAddress: RateLimit = { name: 'reset per address', max: 20, windowSec: 60 * 60 };

// Writing a mail's row takes about a millisecond more than writing none; both take less than this.
const answerAfterMs = 25;

/**
 * Promises a reset mail to the active local account with this username or e-mail, if there is one and it has an address.
 * Says nothing about which of these was the case, neither in its answer nor by its time; beyond the limits it silently does nothing.
 */
export async function requestReset(
  system: SystemContext,
  request: { identifier: string; language: 'de' | 'en' },
): Promise<void> {
  await Promise.all([queueLinkMail(system, request), pause(answerAfterMs)]);
}

async function queueLinkMail(
  system: SystemContext,
  request: { identifier: string; language: 'de' | 'en' },
): Promise<void> {
  const identifier = normalizeUsername(request.identifier);
  const tenantId = await system.acrossTenants('a reset request names no tenant', async (tx) => {
    const candidates = await tx
      .select({ id: users.id, tenantId: users.tenantId, username: users.username, email: users.email })
      .from(users)
      .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
      .where(
        and(
          or(eq(users.username, identifier), eq(users.email, identifier)),
          eq(users.isActive, true),
          isNull(users.ldapDn),
          isNotNull(users.email),
        ),
      );
    // Anybody may be given a username that looks like somebody's address, but only its owner is behind an address.
    const account = candidates.find(({ email }) => email === identifier) ?? candidates[0];
    // In this order: an address beyond its limit uses up nobody's account.
    if (!(await consume(tx, perAddress, system.ip ?? ''))) return null;
    if (!(await consume(tx, perAccount, account?.id ?? identifier)) || !account) return null;
    await queueMail(tx, passwordResetMail, {
      tenantId: account.tenantId,
      key: `accounts/password-reset/${newId()}`,
      userId: account.id,
      data: { language: request.language },
    });
    await recordAudit(tx, system, {
      action: 'auth.reset_requested',
      tenantId: account.tenantId,
      target: { type: 'user', id: account.id },
      summary: `A password reset was requested for ${account.username}.`,
    });
    return account.tenantId;
  });
  // Not awaited: the answer takes the same time whether or not there is somebody to write to.
  if (tenantId) void nudgeMails(system, tenantId);
}

/**
 * Sets a new password with the token of a reset or welcome mail, once. Throws 400 `TOKEN_INVALID`, the same for an unknown,
 * used and expired token, for an account that may not sign in, and for a SUPER_ADMIN's whose mail an administrator's server carried; a password refused by policy leaves the token usable.
 */
export async function resetPassword(
  system: SystemContext,
  input: { token: string; newPassword: string },
): Promise<void> {
  const tokenHash = hashToken(input.token);
  const isUsable = and(eq(passwordTokens.tokenHash, tokenHash), sql`${passwordTokens.expiresAt} > now()`);
  // A link that went to an address the account no longer has belongs to whoever reads mail there.
  const isStillTheirs = sql`coalesce(${passwordTokens.email} = ${users.email}, ${passwordTokens.email} is null)`;
  // The account may have become a SUPER_ADMIN since its mail left.
  const isForItsRole = or(ne(users.role, 'SUPER_ADMIN'), eq(passwordTokens.overTenantServer, false));
  const [account] = await system.acrossTenants('a set-password link names no tenant', (tx) =>
    tx
      .select({
        id: users.id,
        tenantId: users.tenantId,
        username: users.username,
        email: users.email,
        mustChangePassword: users.mustChangePassword,
        passwordHash: users.passwordHash,
        overTenantServer: passwordTokens.overTenantServer,
      })
      .from(passwordTokens)
      .innerJoin(users, and(eq(users.tenantId, passwordTokens.tenantId), eq(users.id, passwordTokens.userId)))
      .innerJoin(tenants, eq(tenants.id, users.tenantId))
      .where(
        and(
          isUsable,
          isStillTheirs,
          isForItsRole,
          eq(users.isActive, true),
          eq(tenants.isActive, true),
          isNull(users.ldapDn),
        ),
      ),
  );
  if (!account) throw tokenInvalid();
  checkNewPassword(input.newPassword, account, await loadCommonPasswords());
  if (account.mustChangePassword && (await passwordHashing(system).verify(account.passwordHash, input.newPassword)))
    throw unchangedPassword();
  const hash = await passwordHashing(system).hash(input.newPassword);
  await system.inTenant(account.tenantId).tx(async (tx) => {
    // The account's row before its links, as in every change of them.
    const [held] = await tx
      .select({ email: users.email, role: users.role })
      .from(users)
      .where(eq(users.id, account.id))
      .for('no key update');
    // Of parallel uses the first delete takes the row; the others find none, and nor does one whose account has changed address.
    const [used] = await tx.delete(passwordTokens).where(isUsable).returning({ id: passwordTokens.id });
    const isPromoted = held?.role === 'SUPER_ADMIN' && account.overTenantServer;
    if (!used || held?.email !== account.email || isPromoted) throw tokenInvalid();
    await setPassword(tx, account.id, { hash, mustChange: false });
    await queueChangeNotice(tx, account);
    await recordAudit(
      tx,
      { actor: account, ip: system.ip },
      {
        action: 'auth.password_reset',
        tenantId: account.tenantId,
        target: { type: 'user', id: account.id },
        summary: `${account.username} set a new password with a mailed link.`,
      },
    );
  });
  void nudgeMails(system, account.tenantId);
}

const tokenInvalid = () => invalid('TOKEN_INVALID');
