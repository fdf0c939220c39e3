import type { Tx } from '@portal/db/open';
import type { Role } from '@portal/domain/access';
import { checkMayAdminister } from '@portal/domain/accounts/accounts';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { WelcomeMailTemplate } from '@portal/domain/mail-settings/welcome-mail';
import type { UserContext, TenantContext } from '@portal/platform/context';
import { nudgeMails, queueMail } from '@portal/platform/outbox/queue-mail';
import { smtpSettingsOf } from '@portal/platform/outbox/smtp-settings-of';
import { waitForMail } from '@portal/platform/outbox/wait-for-mail';
import { checkPlaceholders } from '../mail-settings/welcome-mail-template.ts';
import { accountFor, administer } from './administer.ts';
import { recordAudit } from './audit.ts';
import { welcomeMail } from './mails/welcome.ts';

/** Whether the portal can send welcome mails to accounts with this role. */
export async function welcomeMailStatus(
  ctx: TenantContext,
  to: Role = 'USER',
): Promise<{ available: boolean; reason: 'MAIL_NOT_CONFIGURED' | null }> {
  const available = (await smtpSettingsOf(ctx, to)) !== null;
  return { available, reason: available ? null : 'MAIL_NOT_CONFIGURED' };
}

/**
 * Sends an account its welcome mail and waits up to 15 s for the delivery; returns `sent: false` if it fails. Administrators may
 * repeat it. Throws 403 if an ADMIN acts on a SUPER_ADMIN, 404, 409 `NO_ADDRESS`, 409 `MAIL_NOT_CONFIGURED`.
 */
export async function sendWelcomeMail(
  ctx: UserContext,
  userId: string,
): Promise<{ sent: boolean; welcomeMailSentAt: Date | null }> {
  const found = await administer(ctx, (tx) => accountFor(tx, userId));
  checkMayAdminister(ctx.actor, found);
  if (found.email === null) throw conflict('NO_ADDRESS');
  const scope: TenantContext = { ...ctx, ...ctx.inTenant(found.tenantId) };
  if (!(await welcomeMailStatus(scope, found.role)).available) {
    throw conflict('MAIL_NOT_CONFIGURED');
  }
  const { mailId } = await scope.tx(async (tx) => {
    await recordAudit(tx, ctx, {
      action: 'users.welcome_mail',
      tenantId: found.tenantId,
      target: { type: 'user', id: userId },
      summary: `Sent the welcome mail to ${found.username}.`,
    });
    return queueWelcomeMail(tx, found);
  });
  await nudgeMails(ctx, found.tenantId);
  const { sent } = await waitForMail(scope, mailId);
  const { welcomeMailSentAt } = await administer(ctx, (tx) => accountFor(tx, userId));
  return { sent, welcomeMailSentAt };
}

/** Queues an account's welcome mail in the caller's transaction. */
export const queueWelcomeMail = (tx: Tx, account: { id: string; tenantId: string }) =>
  queueMail(tx, welcomeMail, {
    tenantId: account.tenantId,
    key: `accounts/welcome/${newId()}`,
    userId: account.id,
    data: {},
  });

/**
 * Sends this template, saved or not, to the caller's own address, with a link to the sign-in page and no token.
 * Throws 400 `UNKNOWN_PLACEHOLDER`, 409 `NO_ADDRESS`.
 */
export async function testWelcomeMail(
  ctx: UserContext,
  template: WelcomeMailTemplate,
): Promise<{ sent: boolean; reason?: string }> {
  checkPlaceholders(template);
  if (ctx.account.email === null)
    throw conflict('NO_ADDRESS', 'Your account has no e-mail address to send the test to.');
  const { mailId } = await ctx.tx((tx) =>
    queueMail(tx, welcomeMail, {
      tenantId: ctx.tenantId,
      key: `accounts/welcome-test/${newId()}`,
      userId: ctx.actor.id,
      data: { test: template },
    }),
  );
  await nudgeMails(ctx, ctx.tenantId);
  const { sent, state, reason } = await waitForMail(ctx, mailId);
  if (sent) return { sent };
  if (state === 'not_configured') return { sent, reason: 'No mail server is configured.' };
  return { sent, reason: reason ?? 'The mail is still on its way.' };
}
