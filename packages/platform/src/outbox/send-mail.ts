import { MailError } from '@portal/mail/mail-error';
import { mailDomain, messageIdFor } from '@portal/mail/message-id';
import type { MailTransport } from '@portal/mail/transport';
import type { TenantContext } from '../context.ts';
import { usualRetryAfterSec } from './mail.ts';
import type { ClaimedMail, ClaimTerms, Settlement } from './outbox.ts';
import { type AddressedMail, renderQueuedMail, UnmailableError } from './render-queued-mail.ts';

/** A mail route: which mails are sent over it, the server, and the tenant's name for the mails. */
export interface DeliveryTerms extends ClaimTerms {
  tenantName: string;
  /** Null if there is no server; mails then end unsent. */
  server: { transport: MailTransport; fromAddress: string } | null;
}

/** A mail whose workers keep dying is not attempted for ever. */
const maxInterruptions = 20;

/** Log fields of a mail. */
export const factsOf = ({ tenantId, requestId }: TenantContext, { id, kind }: Pick<ClaimedMail, 'id' | 'kind'>) => ({
  mailId: id,
  kind,
  tenantId,
  requestId,
});

/** One attempt: renders the mail, hands it to the mail server and returns the outcome. Throws errors that are not about the mail. */
export async function sendMail(ctx: TenantContext, mail: ClaimedMail, terms: DeliveryTerms): Promise<Settlement> {
  const facts = { ...factsOf(ctx, mail), try: mail.tries };
  const { kinds, ownServer, server } = terms;
  if (!server) {
    const message =
      ownServer === null
        ? 'No mail server is configured, neither for the tenant nor for the service.'
        : 'The service has no mail server, and mails to this account are only sent over that server.';
    return { outcome: 'not_configured', failure: 'not_configured', message };
  }
  if (mail.interruptions > maxInterruptions) {
    ctx.log.error(facts, 'a mail was interrupted too often and was given up');
    const message = 'Sending this mail was interrupted too often.';
    return { outcome: 'failed', failure: 'interrupted', message, isUntried: true };
  }
  let rendered: AddressedMail;
  try {
    rendered = await renderQueuedMail(ctx, mail, terms);
  } catch (error) {
    if (!(error instanceof UnmailableError)) throw error;
    const { outcome, failure, message, cause } = error;
    ctx.log[outcome === 'failed' ? 'error' : 'info']({ ...facts, failure, err: cause }, 'mail not rendered');
    return { outcome, failure, message, isUntried: true };
  }
  const { recipient, ...content } = rendered;
  try {
    await server.transport.send({
      ...content,
      to: { address: recipient.address, name: recipient.displayName },
      messageId: messageIdFor(`${ctx.tenantId}/${mail.key}`, mailDomain(server.fromAddress)),
    });
    ctx.log.info(facts, 'mail sent');
    return { outcome: 'sent' };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const { failure, message } = error;
    const pauses = kinds.get(mail.kind)?.retryAfterSec ?? usualRetryAfterSec;
    const afterSec = error.retry ? pauses[mail.tries - 1] : undefined;
    ctx.log.warn({ ...facts, failure, reason: message, retryAfterSec: afterSec ?? null }, 'mail not sent');
    return afterSec === undefined
      ? { outcome: 'failed', failure, message }
      : { outcome: 'postponed', failure, message, afterSec };
  }
}
