import type { SmtpSettings } from '@portal/mail/smtp-settings';
import type { Config } from '../run/config.ts';
import type { TenantCtx } from '../run/context.ts';
import { smtpTarget, storedSmtpConfig, storedSmtpPassword } from './stored-smtp-config.ts';

/** How mail of the tenant at work leaves the house at this moment: over its own server, else the service's; null when there is neither. */
export async function smtpSettingsOf(ctx: TenantCtx): Promise<SmtpSettings | null> {
  const stored = await ctx.read(storedSmtpConfig);
  if (!stored?.host || stored.port === null || stored.security === null || stored.fromAddress === null)
    return fallbackSettings(ctx.config);
  const settings = {
    host: stored.host,
    port: stored.port,
    security: stored.security,
    username: stored.username,
    fromAddress: stored.fromAddress,
    fromName: stored.fromName,
    replyTo: stored.replyTo,
    verifyTls: stored.verifyTls,
  };
  return { ...settings, password: storedSmtpPassword(ctx, stored).for(smtpTarget(settings))?.reveal() ?? null };
}

/** The service's own mail server from its settings. */
export const fallbackSettings = ({ smtp }: Config): SmtpSettings | null =>
  smtp && { ...smtp, password: smtp.password?.reveal() ?? null };
