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

/** The tenant's mail settings without the password (null while nothing is set), and today's counts for the service's own server. */
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
 * Replaces the tenant's mail settings; the stored password stays unless another one or null is given. Throws 400 `SECRET_REQUIRED` if the
 * stored password would go to another server or account, or over a less secure connection.
 */
export async function putSmtpConfig(ctx: UserContext, input: SmtpConfigInput): Promise<SmtpConfig> {
  const { password, ...fields } = input;
  await ctx.tx(async (tx) => {
    // Writes the kept password as well, so that this server is never combined with the password of a concurrent change.
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

/** Deletes the tenant's mail settings, including the password. */
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
