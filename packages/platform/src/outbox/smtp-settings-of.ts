import { dialUnder } from '@portal/connectors/http/checked-address';
import type { Role } from '@portal/domain/access';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import type { Config } from '../config.ts';
import type { TenantContext } from '../context.ts';
import { needsServiceServer } from './mail-route.ts';
import { type StoredSmtpConfig, smtpTarget, storedSmtpConfig, storedSmtpPassword } from './stored-smtp-config.ts';

/** The tenant's own mail server as configured now. */
export interface OwnServer {
  /** Identifies these settings, see `ownServerVersion`. */
  version: string;
  /** Throws if the stored password cannot be opened. */
  settings: () => SmtpSettings;
}

export async function ownServerOf(ctx: TenantContext): Promise<OwnServer | null> {
  const stored = await ctx.read(storedSmtpConfig);
  if (!stored || stored.version === null) return null;
  return { version: stored.version, settings: () => openSettings(ctx, stored) };
}

function openSettings(ctx: TenantContext, stored: StoredSmtpConfig): SmtpSettings {
  const { host, port, security, username, fromAddress, fromName, replyTo, verifyTls } = stored;
  if (host === null || port === null || security === null || fromAddress === null)
    throw new Error('stored mail settings name a server but are incomplete');
  const settings = {
    host,
    port,
    security,
    username,
    fromAddress,
    fromName,
    replyTo,
    verifyTls,
    dial: dialUnder(ctx.config.outbound.byAdmins),
  };
  return { ...settings, password: storedSmtpPassword(ctx, stored).for(smtpTarget(settings))?.reveal() ?? null };
}

/** The settings for a mail to an account with this role; null if there is no server for it. */
export async function smtpSettingsOf(ctx: TenantContext, to: Role): Promise<SmtpSettings | null> {
  const own = needsServiceServer(to) ? null : await ownServerOf(ctx);
  return own ? own.settings() : serviceSettings(ctx.config);
}

/** The service's mail server from the configuration. */
export const serviceSettings = ({ smtp, outbound }: Config): SmtpSettings | null =>
  smtp && { ...smtp, password: smtp.password?.reveal() ?? null, dial: dialUnder(outbound.byOperator) };
