import { MailError } from '@portal/mail/mail-error';
import { mailDomain, messageIdFor } from '@portal/mail/message-id';
import type { MailTransport } from '@portal/mail/transport';
import type { TenantContext } from '../context.ts';
import { usualRetryAfterSec } from './mail.ts';
import type { ClaimedMail, ClaimTerms, Settlement } from './outbox.ts';
import { remembered } from './remembering.ts';
import { type AddressedMail, renderQueuedMail, UnmailableError } from './render-queued-mail.ts';

/** One way out as it stands: which mails leave over it, and what goes with each of them. */
export interface Leaving extends ClaimTerms {
  tenantName: string;
  fromAddress: string;
  transport: MailTransport;
}

/** A mail whose workers keep dying is not tried for ever. */
const maxInterruptions = 20;

/** What a log line says of a mail. */
export const factsOf = ({ tenantId, requestId }: TenantContext, { id, kind }: Pick<ClaimedMail, 'id' | 'kind'>) => ({
  mailId: id,
  kind,
  tenantId,
  requestId,
});

/** One try: writes the mail, hands it to the mail server, and says how that ended. Throws what says nothing about the mail. */
export async function sendMail(ctx: TenantContext, mail: ClaimedMail, leaving: Leaving): Promise<Settlement> {
  const facts = { ...factsOf(ctx, mail), try: mail.tries };
  if (mail.interruptions > maxInterruptions) {
    ctx.log.error(facts, 'a mail was interrupted too often and was given up');
    const message = 'Sending this mail was interrupted too often.';
    const withheld = remembered(leaving.kinds, mail, 'withheld');
    return { outcome: 'failed', failure: 'interrupted', message, remembered: withheld };
  }
  let written: AddressedMail;
  try {
    written = await renderQueuedMail(ctx, mail, leaving);
  } catch (error) {
    if (!(error instanceof UnmailableError)) throw error;
    const { outcome, failure, message, cause } = error;
    ctx.log[outcome === 'failed' ? 'error' : 'info']({ ...facts, failure, err: cause }, 'mail not written');
    const end = remembered(leaving.kinds, mail, outcome === 'failed' ? 'withheld' : 'dropped');
    return { outcome, failure, message, isUntried: true, remembered: end };
  }
  const { recipient, ...content } = written;
  try {
    await leaving.transport.send({
      ...content,
      to: { address: recipient.address, name: recipient.displayName },
      messageId: messageIdFor(`${ctx.tenantId}/${mail.key}`, mailDomain(leaving.fromAddress)),
    });
    ctx.log.info(facts, 'mail sent');
    return { outcome: 'sent', remembered: remembered(leaving.kinds, mail, 'sent') };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const { failure, message } = error;
    const pauses = leaving.kinds.get(mail.kind)?.retryAfterSec ?? usualRetryAfterSec;
    const afterSec = error.retry ? pauses[mail.tries - 1] : undefined;
    ctx.log.warn({ ...facts, failure, reason: message, retryAfterSec: afterSec ?? null }, 'mail not sent');
    const end = afterSec === undefined ? { outcome: 'failed' as const } : { outcome: 'postponed' as const, afterSec };
    return { ...end, failure, message, remembered: remembered(leaving.kinds, mail, end.outcome) };
  }
}
