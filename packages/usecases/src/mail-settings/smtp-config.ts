import { sql } from 'drizzle-orm';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { newId } from '@portal/domain/ids';
import type { SmtpConfig, SmtpConfigInput } from '@portal/domain/mail-settings/smtp-config';
import type { UserContext } from '@portal/platform/context';
import { mailsOfToday } from '@portal/platform/outbox/daily-quota';
import { ownSmtpTarget, storedSmtpConfig, storedSmtpPassword } from '@portal/platform/outbox/stored-smtp-config';
import { recordAudit } from './audit.ts';

const unset = {
  host: null,
  port: null,
  security: null,
  username: null,
  hasPassword: false,
  fromAddress: null,
  fromName: null,
  replyTo: null,
  verifyTls: null,
  bugReportRecipient: null,
};

/** The tenant's own mail settings without the password, nulls while nothing is set; and what went over the service's own server today. */
export async function getSmtpConfig(ctx: UserContext): Promise<SmtpConfig> {
  const [stored, today] = await Promise.all([ctx.read(storedSmtpConfig), ctx.read(mailsOfToday)]);
  const settings = stored ? { ...stored, hasPassword: stored.password !== null } : unset;
  return {
    ...settings,
    dailyLimit: ctx.config.mailDailyPerTenant,
    sentToday: today.sent,
    heldBackToday: today.overQuota,
  };
}

/**
 * Replaces the tenant's mail settings; the stored password stays unless another one or null is given. Throws 400 `SECRET_REQUIRED` where
 * it would go to another server or account, or less well protected.
 */
export async function putSmtpConfig(ctx: UserContext, input: SmtpConfigInput): Promise<SmtpConfig> {
  const { password, ...fields } = input;
  await ctx.tx(async (tx) => {
    // Both are written together, the kept one too: a server from here and a password from a change in between must not meet.
    const stored = storedSmtpPassword(ctx, await storedSmtpConfig(tx, 'update'));
    const sealed = stored.sealedFor(ownSmtpTarget(fields), password);
    const values = { ...fields, password: sealed, updatedAt: sql`now()` };
    await tx
      .insert(smtpConfigs)
      .values({ id: newId(), tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: smtpConfigs.tenantId, set: values });
    await recordAudit(tx, ctx, {
      action: 'smtp_config.update',
      tenantId: ctx.tenantId,
      summary:
        fields.host === null
          ? 'Changed the mail settings: no own server.'
          : `Changed the mail settings: server ${fields.host}.`,
    });
  });
  return getSmtpConfig(ctx);
}

/** Forgets the tenant's mail settings, the password with them. */
export async function deleteSmtpConfig(ctx: UserContext): Promise<void> {
  await ctx.tx(async (tx) => {
    const deleted = await tx.delete(smtpConfigs).returning({ id: smtpConfigs.id });
    if (deleted.length === 0) return;
    await recordAudit(tx, ctx, {
      action: 'smtp_config.delete',
      tenantId: ctx.tenantId,
      summary: 'Deleted the mail settings.',
    });
  });
}
