import { isDatabaseRefusal } from '@portal/db/database-error';
import { isRefusal, isUnavailable } from '@portal/domain/errors';
import type { RenderedMail } from '@portal/mail/template';
import type { TenantContext } from '../context.ts';
import type { MailRoute } from './mail-route.ts';
import { mayHaveArrived, type OutboxMails, type Recipient } from './mail.ts';
import type { ClaimedMail } from './outbox.ts';

/** Why a queued mail cannot be rendered: no recipient, no access, no longer relevant, or an error of ours. */
export class UnmailableError extends Error {
  readonly outcome: 'skipped' | 'failed';
  readonly failure: 'recipient_gone' | 'refused' | 'outdated' | 'content';

  constructor(failure: UnmailableError['failure'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UnmailableError';
    this.failure = failure;
    this.outcome = failure === 'content' ? 'failed' : 'skipped';
  }
}

export interface AddressedMail extends RenderedMail {
  recipient: Recipient;
}

/** Renders an outbox row with the account's current address and name. Throws an UnmailableError if the mail must not be sent. */
export async function renderQueuedMail(
  ctx: TenantContext,
  mail: ClaimedMail,
  { kinds, tenantName, route }: { kinds: OutboxMails; tenantName: string; route: MailRoute },
): Promise<AddressedMail> {
  try {
    const kind = kinds.get(mail.kind);
    if (!kind) throw new UnmailableError('content', 'This release does not know this kind of mail.');
    const row = kind.data.parse(mail.data);
    const recipient = recipientOf(mail, tenantName, kind.addressOf?.(row));
    const { id, createdAt } = mail;
    const data = await kind.prepare(
      ctx,
      { id, createdAt, recipient, route, mayHaveArrived: mayHaveArrived(mail) },
      row,
    );
    if (data === null) throw new UnmailableError('outdated', 'The reason for this mail no longer exists.');
    return { ...kind.template.render(data), recipient };
  } catch (error) {
    // Database refusals and outages say nothing about the mail.
    if (error instanceof UnmailableError || isDatabaseRefusal(error) || isUnavailable(error)) throw error;
    if (isRefusal(error))
      throw new UnmailableError('refused', 'The account is not allowed to see what this mail is about.');
    throw new UnmailableError('content', 'The mail could not be rendered.', error);
  }
}

function recipientOf({ account }: ClaimedMail, tenantName: string, otherAddress: string | undefined): Recipient {
  const address = otherAddress ?? account?.email;
  if (!account?.isActive || !address) {
    throw new UnmailableError('recipient_gone', 'The account is inactive or has no e-mail address.');
  }
  const { id, role, username, displayName, firstName, ldapDn } = account;
  return {
    id,
    role,
    username,
    displayName: otherAddress === undefined && displayName !== null ? displayName : username,
    firstName,
    address,
    isLocal: ldapDn === null,
    tenantName,
  };
}
