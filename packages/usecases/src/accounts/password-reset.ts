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

// Writing the row of a mail takes about a millisecond; with or without it, the work takes less than this.
const answerAfterMs = 25;

/**
 * Queues a reset mail for the active local account with this username or e-mail address, if there is one and it has an address.
 * Neither the answer nor its duration reveals whether a mail was queued. Beyond the rate limits it silently does nothing.
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
    // An account may have a username that looks like another account's address, so the match by address wins.
    const account = candidates.find(({ email }) => email === identifier) ?? candidates[0];
    // The network address comes first, so that one beyond its limit does not use up the limit of an account.
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
  // Not awaited, so that the answer takes the same time with and without a mail.
  if (tenantId) void nudgeMails(system, tenantId);
}

/**
 * Sets a new password with the token of a reset or welcome mail, once. Throws the same 400 `TOKEN_INVALID` for an unknown, used or
 * expired token, for an account that may not sign in, and for a SUPER_ADMIN whose mail a tenant's own server sent. If the new password
 * breaks the policy, the token stays valid.
 */
export async function resetPassword(
  system: SystemContext,
  input: { token: string; newPassword: string },
): Promise<void> {
  const tokenHash = hashToken(input.token);
  const isUsable = and(eq(passwordTokens.tokenHash, tokenHash), sql`${passwordTokens.expiresAt} > now()`);
  // If the account has a new address, the reader of the old one must not use the link.
  const isCurrentAddress = sql`coalesce(${passwordTokens.email} = ${users.email}, ${passwordTokens.email} is null)`;
  // The account may have become a SUPER_ADMIN since the mail was sent. Ending its links at the promotion would miss those being written.
  const isAllowedForRole = or(ne(users.role, 'SUPER_ADMIN'), eq(passwordTokens.overTenantServer, false));
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
          isCurrentAddress,
          isAllowedForRole,
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
    // Lock the account's row before its links, like every other change.
    const [current] = await tx
      .select({ email: users.email, role: users.role })
      .from(users)
      .where(eq(users.id, account.id))
      .for('no key update');
    // Only the first of several concurrent uses deletes the row; the others find none. An address changed meanwhile fails below.
    const [used] = await tx.delete(passwordTokens).where(isUsable).returning({ id: passwordTokens.id });
    const isPromoted = current?.role === 'SUPER_ADMIN' && account.overTenantServer;
    if (!used || current?.email !== account.email || isPromoted) throw tokenInvalid();
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
