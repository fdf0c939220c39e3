import { and, eq, isNull, sql } from 'drizzle-orm';
import { violatedConstraint } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { emailTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { busy, conflict, invalid } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { SystemContext, UserContext } from '@portal/platform/context';
import { nudgeMails, queueMail } from '@portal/platform/outbox/queue-mail';
import { smtpSettingsOf } from '@portal/platform/outbox/smtp-settings-of';
import { consume, type RateLimit, retryAfter } from '@portal/platform/rate-limit';
import { recordAudit } from './audit.ts';
import { queueEmailNotice } from './change-notices.ts';
import { checkCurrentPassword, lockCheckedAccount } from './current-password.ts';
import { endLinksOf, forgetPendingEmail, hashToken } from './links.ts';
import { confirmEmailMail } from './mails/confirm-email.ts';
import { emailChangeRequestedMail } from './mails/email-change-requested.ts';
import { emailChangedMail } from './mails/email-changed.ts';
import { emailTakenMail } from './mails/email-taken.ts';

const changes: RateLimit = { name: 'change of own address', max: 5, windowSec: 60 * 60 };
/** Protects the owner of an address if many accounts enter it. */
const mailsToAddress: RateLimit = { name: 'mails to an address entered', max: 5, windowSec: 60 * 60 };

/**
 * Starts a change of the caller's address. The current address stays until the user follows the link mailed to the new one. Neither
 * the answer nor its duration reveals whether another account has the new address: in both cases the portal stores the same data and
 * queues one mail, but that account gets a notice instead of the link. Null or the current address cancels a pending change.
 * Throws 400 `CURRENT_PASSWORD_REQUIRED`, 401 `CURRENT_PASSWORD_WRONG`, 409 `MAIL_NOT_CONFIGURED`, 429.
 */
export async function requestEmailChange(
  ctx: UserContext,
  email: string | null,
  password: string | undefined,
): Promise<void> {
  if (email === null || email === ctx.account.email) return ctx.tx((tx) => withdraw(tx, ctx));
  if (password === undefined) throw invalid('CURRENT_PASSWORD_REQUIRED');
  if (!(await smtpSettingsOf(ctx, ctx.actor.role)))
    throw conflict('MAIL_NOT_CONFIGURED', 'No mail server is configured, so the new address cannot be confirmed.');
  const waitSec = await ctx.tx((tx) => retryAfter(tx, changes, ctx.actor.id));
  if (waitSec !== null) throw tooManyChanges(waitSec);
  const checkedHash = await checkCurrentPassword(ctx, password);
  const tenantToMail = await ctx.acrossTenants('an address may belong to an account of any tenant', async (tx) => {
    const { email: currentEmail } = await lockCheckedAccount(tx, ctx, checkedHash);
    if (!(await consume(tx, changes, ctx.actor.id))) throw tooManyChanges(changes.windowSec);
    await tx
      .update(users)
      .set({ pendingEmail: email, pendingEmailUntil: sql`now() + interval '24 hours'`, updatedAt: sql`now()` })
      .where(eq(users.id, ctx.actor.id));
    await tx.delete(emailTokens).where(eq(emailTokens.userId, ctx.actor.id));
    await queueEmailNotice(tx, emailChangeRequestedMail, {
      id: ctx.actor.id,
      tenantId: ctx.tenantId,
      email: currentEmail,
    });
    await recordAudit(tx, ctx, {
      action: 'auth.email_change_requested',
      tenantId: ctx.tenantId,
      target: { type: 'user', id: ctx.actor.id },
      summary: `${ctx.actor.username} asked to change their own e-mail address.`,
    });
    return queueLinkMail(tx, ctx, email);
  });
  void nudgeMails(ctx, ctx.tenantId);
  void nudgeMails(ctx, tenantToMail);
}

/** Queues the link for a new address, or the notice for the account that has it. Returns the tenant of the queued mail. */
async function queueLinkMail(tx: Tx, ctx: UserContext, address: string): Promise<string> {
  const [owner] = await tx
    .select({ userId: users.id, tenantId: users.tenantId })
    .from(users)
    .where(eq(users.email, address));
  const to = owner ?? { userId: ctx.actor.id, tenantId: ctx.tenantId };
  const mail = owner ? emailTakenMail : confirmEmailMail;
  if (await consume(tx, mailsToAddress, address))
    await queueMail(tx, mail, { ...to, key: `${mail.kind}/${newId()}`, data: { address } });
  return to.tenantId;
}

async function withdraw(tx: Tx, ctx: UserContext): Promise<void> {
  if (!(await forgetPendingEmail(tx, ctx.actor.id))) return;
  await recordAudit(tx, ctx, {
    action: 'auth.email_change_withdrawn',
    tenantId: ctx.tenantId,
    target: { type: 'user', id: ctx.actor.id },
    summary: `${ctx.actor.username} withdrew the change of their own e-mail address.`,
  });
}

const tooManyChanges = (waitSec: number) =>
  busy('Too many changes of the e-mail address. Please try again later.', waitSec);

/**
 * Turns an account's pending address into its address, with the mailed token, once. Invalidates all unused links of the account and
 * notifies the old address. Throws the same 400 `TOKEN_INVALID` for an unknown, used or expired token, a withdrawn change, an
 * account that may not sign in, and an address that another account has taken meanwhile.
 */
export async function confirmEmail(system: SystemContext, token: string): Promise<void> {
  const tokenHash = hashToken(token);
  const isPending = and(
    eq(users.pendingEmail, emailTokens.email),
    sql`${users.pendingEmailUntil} > now()`,
    eq(users.isActive, true),
    isNull(users.ldapDn),
  );
  const [account] = await system.acrossTenants('a link that confirms an address names no tenant', (tx) =>
    tx
      .select({ id: users.id, tenantId: users.tenantId, username: users.username })
      .from(emailTokens)
      .innerJoin(users, and(eq(users.tenantId, emailTokens.tenantId), eq(users.id, emailTokens.userId)))
      .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
      .where(and(eq(emailTokens.tokenHash, tokenHash), isPending)),
  );
  if (!account) throw tokenInvalid();
  const { id, tenantId, username } = account;
  try {
    await system.inTenant(tenantId).tx(async (tx) => {
      // Checked again under the lock: only one of several concurrent uses finds the token, and a withdrawn change confirms nothing.
      await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('no key update');
      const [pending] = await tx
        .select({ email: users.email, pendingEmail: users.pendingEmail })
        .from(users)
        .innerJoin(emailTokens, and(eq(emailTokens.userId, users.id), eq(emailTokens.tokenHash, tokenHash)))
        .where(and(eq(users.id, id), isPending));
      if (!pending) throw tokenInvalid();
      await tx
        .update(users)
        .set({ email: pending.pendingEmail, updatedAt: sql`now()` })
        .where(eq(users.id, id));
      await endLinksOf(tx, id);
      await queueEmailNotice(tx, emailChangedMail, { id, tenantId, email: pending.email });
      await recordAudit(
        tx,
        { actor: account, ip: system.ip },
        {
          action: 'auth.email_changed',
          tenantId,
          target: { type: 'user', id },
          summary: `${username} confirmed a new e-mail address.`,
        },
      );
    });
  } catch (error) {
    if (violatedConstraint(error) === 'users_email_unique') throw tokenInvalid(error);
    throw error;
  }
  void nudgeMails(system, tenantId);
}

const tokenInvalid = (cause?: unknown) =>
  invalid('TOKEN_INVALID', 'This link is no longer valid. Please enter the address again.', { cause });
