import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { SmtpTestInput } from '@portal/domain/mail-settings';
import { secretChange } from '@portal/domain/secret-input';
import { mailTime } from '@portal/mail/mail-time';
import { mailDomain, messageIdFor } from '@portal/mail/message-id';
import { renderMail } from '@portal/mail/render';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { openTransport } from '@portal/mail/transport';
import type { Ctx } from '../run/context.ts';
import { passwordContext } from './smtp-config.ts';
import { fallbackSettings } from './smtp-settings-of.ts';
import { storedSmtpConfig } from './stored-smtp-config.ts';

// A person waits for the answer: shorter than the outbox allows itself.
const limits = {
  maxConnections: 1,
  connectTimeoutMs: 8_000,
  greetingTimeoutMs: 8_000,
  socketTimeoutMs: 10_000,
  overallTimeoutMs: 15_000,
};

/**
 * Tries mail settings before they are saved: sends a test mail to `to`, else to the caller's own address, else only signs in.
 * Throws 502 `MAIL_DELIVERY_FAILED` with a plain reason, 409 `MAIL_NOT_CONFIGURED` when there is no server to try.
 */
export async function testSmtpConfig(ctx: Ctx, { to, ...input }: SmtpTestInput): Promise<{ ok: true }> {
  const settings = await settingsToTry(ctx, input);
  if (!settings)
    throw conflict(
      'MAIL_NOT_CONFIGURED',
      'There is no mail server to try: neither these settings nor the service name one.',
    );
  const transport = openTransport(settings, limits);
  try {
    const address = to ?? ctx.account.email;
    if (address === null) {
      await transport.verify();
    } else {
      const { subject, text, html } = renderMail('mail-settings/smtp-test', {
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

async function settingsToTry(ctx: Ctx, input: Omit<SmtpTestInput, 'to'>): Promise<SmtpSettings | null> {
  const { host, port, security, fromAddress } = input;
  if (host === null || port === null || security === null || fromAddress === null) return fallbackSettings(ctx.config);
  const change = secretChange(input.password);
  const saved = change.kind === 'keep' ? (await ctx.read(storedSmtpConfig))?.password : null;
  const password =
    change.kind === 'set' ? change.value : saved ? ctx.secrets.open(saved, passwordContext(ctx.tenantId)) : null;
  return { ...input, host, port, security, fromAddress, password };
}
