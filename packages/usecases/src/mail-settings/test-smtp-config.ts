import { dialUnder } from '@portal/connectors/http/checked-address';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { SmtpTestInput } from '@portal/domain/mail-settings/smtp-config';
import { mailTime } from '@portal/mail/mail-time';
import { mailDomain, messageIdFor } from '@portal/mail/message-id';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { smtpTest } from '@portal/mail/templates/mail-settings/smtp-test';
import type { UserContext } from '@portal/platform/context';
import { takeQuotaForOne } from '@portal/platform/outbox/daily-quota';
import { serviceSettings } from '@portal/platform/outbox/smtp-settings-of';
import { smtpTarget, storedSmtpConfig, storedSmtpPassword } from '@portal/platform/outbox/stored-smtp-config';
import { beginSettingsTest } from '@portal/platform/settings-trial';
import { recordAudit } from './audit.ts';

/**
 * Tests mail settings before they are saved: sends a test mail to `to`, otherwise to the caller's own address, otherwise only signs in.
 * Throws 502 `MAIL_DELIVERY_FAILED` with a plain reason, 409 `MAIL_NOT_CONFIGURED` if there is no server to test, 409 `LIMIT_REACHED` if
 * the tenant's daily quota for the service's own server is used up, 400 `SECRET_REQUIRED` if the stored password belongs to another
 * server, 429 after ten tests in a minute.
 */
export async function testSmtpConfig(ctx: UserContext, { to, ...input }: SmtpTestInput): Promise<{ ok: true }> {
  const ownSettings = await settingsToTest(ctx, input);
  const settings = ownSettings ?? serviceSettings(ctx.config);
  if (!settings)
    throw conflict(
      'MAIL_NOT_CONFIGURED',
      'There is no mail server to test: neither these settings nor the service has one.',
    );
  const address = to ?? ctx.account.email;
  // An administrator chooses the recipient, so over the service's own server the mail counts like any other.
  if (!ownSettings && address !== null) await takeQuotaForOne(ctx);
  // Imported on demand: it takes 0.1 s and 10 MB.
  const { interactiveLimits, openTransport } = await import('@portal/mail/transport');
  const transport = openTransport(settings, interactiveLimits);
  try {
    if (address === null) {
      await transport.verify();
    } else {
      const { subject, text, html } = smtpTest.render({
        tenantName: ctx.account.tenantName,
        serviceUrl: ctx.config.http.publicUrl,
        host: settings.host,
        port: settings.port,
        security: settings.security,
        fromAddress: settings.fromAddress,
        sentAt: mailTime(ctx.now()),
      });
      const messageId = messageIdFor(`mail-settings/smtp-test/${newId()}`, mailDomain(settings.fromAddress));
      await transport.send({ to: { address }, subject, text, ...(html !== undefined && { html }), messageId });
    }
    return { ok: true };
  } finally {
    transport.close();
  }
}

/** Counts and records the test, then returns the settings with their password; null if they name no server. */
async function settingsToTest(
  ctx: UserContext,
  { password: input, ...fields }: Omit<SmtpTestInput, 'to'>,
): Promise<SmtpSettings | null> {
  const test = { action: 'smtp_config.test', recordAudit, subject: 'mail', input } as const;
  const { host, port, security, fromAddress } = fields;
  if (host === null || port === null || security === null || fromAddress === null) {
    await beginSettingsTest(ctx, { ...test, server: null, hasStoredSecret: false });
    return null;
  }
  const settings = { ...fields, host, port, security, fromAddress };
  const stored = await ctx.read(storedSmtpConfig);
  const password = storedSmtpPassword(ctx, stored).for(smtpTarget(settings), input)?.reveal() ?? null;
  await beginSettingsTest(ctx, { ...test, server: `${host}:${port}`, hasStoredSecret: Boolean(stored?.password) });
  return { ...settings, password, dial: dialUnder(ctx.config.outbound.byAdmins) };
}
