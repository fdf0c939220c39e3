import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { emailTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { busy, conflict, invalid } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { nudgeMails, queueMail } from '@portal/platform/outbox/queue-mail';
import { smtpSettingsOf } from '@portal/platform/outbox/smtp-settings-of';
import { type RateLimit, retryAfter, consume } from '@portal/platform/rate-limit';
import { recordAudit } from './audit.ts';
import { checkCurrentPassword, holdChecked } from './current-password.ts';
import { forgetPendingEmail } from './links.ts';
import { confirmEmailMail } from './mails/confirm-email.ts';
import { emailChangeRequestedMail } from './mails/email-change-requested.ts';
import { emailTakenMail } from './mails/email-taken.ts';
import { queueEmailNotice } from './queue-change-notice.ts';

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
    return promiseMail(tx, ctx, email);
  });
  void nudgeMails(ctx, ctx.tenantId);
  void nudgeMails(ctx, tenantToMail);
}

/** Promises the link to a new address, or the notice to the account that has it; answers whose outbox it stands in. */
async function promiseMail(tx: Tx, ctx: UserContext, address: string): Promise<string> {
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
