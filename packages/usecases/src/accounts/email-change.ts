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
import { checkCurrentPassword, holdChecked } from './current-password.ts';
import { endLinksOf, forgetPendingEmail, hashToken } from './links.ts';
import { confirmEmailMail } from './mails/confirm-email.ts';
import { emailChangeRequestedMail } from './mails/email-change-requested.ts';
import { emailChangedMail } from './mails/email-changed.ts';
import { emailTakenMail } from './mails/email-taken.ts';

const changes: RateLimit = { name: 'change of own address', max: 5, windowSec: 60 * 60 };
/** However many accounts enter an address, its reader is not flooded. */
const mailsToAddress: RateLimit = { name: 'mails to an address entered', max: 5, windowSec: 60 * 60 };

/**
 * Begins to change the caller's address: it stays what it is until the link mailed to the new one is used. Whether the new one is
 * somebody else's shows neither in the answer nor in its time: the same is stored and one mail promised in either case, to that
 * account a notice in place of the link. Null, or the present address, takes a change back. Throws 400 `CURRENT_PASSWORD_REQUIRED`,
 * 401 `CURRENT_PASSWORD_WRONG`, 409 `MAIL_NOT_CONFIGURED`, 429.
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
  const checked = await checkCurrentPassword(ctx, password);
  const tenantToMail = await ctx.acrossTenants('an address may belong to an account of any tenant', async (tx) => {
    const { email: present } = await holdChecked(tx, ctx, checked);
    if (!(await consume(tx, changes, ctx.actor.id))) throw tooManyChanges(changes.windowSec);
    await tx
      .update(users)
      .set({ pendingEmail: email, pendingEmailUntil: sql`now() + interval '24 hours'`, updatedAt: sql`now()` })
      .where(eq(users.id, ctx.actor.id));
    await tx.delete(emailTokens).where(eq(emailTokens.userId, ctx.actor.id));
    await queueEmailNotice(tx, emailChangeRequestedMail, {
      id: ctx.actor.id,
      tenantId: ctx.tenantId,
      email: present,
    });
    await recordAudit(tx, ctx, {
      action: 'auth.email_change_requested',
      tenantId: ctx.tenantId,
      target: { type: 'user', id: ctx.actor.id },
      summary: `${ctx.actor.username} asked to change the own e-mail address.`,
    });
    return queueLinkMail(tx, ctx, email);
  });
  void nudgeMails(ctx, ctx.tenantId);
  void nudgeMails(ctx, tenantToMail);
}

/** Promises the link to a new address, or the notice to the account that has it; answers whose outbox it stands in. */
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
    summary: `${ctx.actor.username} took back the change of the own e-mail address.`,
  });
}

const tooManyChanges = (waitSec: number) =>
  busy('Too many changes of the e-mail address. Please try again later.', waitSec);

/**
 * Makes an account's pending address its own, with the token mailed there, once. Every other unused link of the account ends and
 * the old address gets a notice. Throws 400 `TOKEN_INVALID`, the same for an unknown, used and expired token, for a change taken
 * back, for an account that may not sign in and for an address that another account has got meanwhile.
 */
export async function confirmEmail(system: SystemContext, token: string): Promise<void> {
  const tokenHash = hashToken(token);
  const isAwaited = and(
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
      .where(and(eq(emailTokens.tokenHash, tokenHash), isAwaited)),
  );
  if (!account) throw tokenInvalid();
  const { id, tenantId, username } = account;
  try {
    await system.inTenant(tenantId).tx(async (tx) => {
      // Held and asked again: of parallel uses one finds its token, and a change taken back meanwhile confirms nothing.
      await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('no key update');
      const [held] = await tx
        .select({ email: users.email, pendingEmail: users.pendingEmail })
        .from(users)
        .innerJoin(emailTokens, and(eq(emailTokens.userId, users.id), eq(emailTokens.tokenHash, tokenHash)))
        .where(and(eq(users.id, id), isAwaited));
      if (!held) throw tokenInvalid();
      await tx
        .update(users)
        .set({ email: held.pendingEmail, updatedAt: sql`now()` })
        .where(eq(users.id, id));
      await endLinksOf(tx, id);
      await queueEmailNotice(tx, emailChangedMail, { id, tenantId, email: held.email });
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
  invalid('TOKEN_INVALID', 'This link is not valid any more. Please enter the address again.', { cause });
