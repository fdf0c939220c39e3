import { isDatabaseRefusal } from '@portal/db/database-error';
import { isRefusal, isUnavailable } from '@portal/domain/errors';
import type { RenderedMail } from '@portal/mail/template';
import type { TenantContext } from '../context.ts';
import type { MailRoute } from './mail-route.ts';
import { mayHaveArrived, type OutboxMails, type Recipient } from './mail.ts';
import type { ClaimedMail } from './outbox.ts';

/** Why a queued mail cannot be made: nobody to write to, nobody who may read it, no sense any more, or a mistake of ours. */
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

/** The outbox row as a mail, with the account's address and name as they are now. Throws an UnmailableError when there is none to send. */
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
    if (data === null) throw new UnmailableError('outdated', 'The reason for this mail is gone.');
    return { ...kind.template.render(data), recipient };
  } catch (error) {
    // What the database refuses or that it is away says nothing about the mail.
    if (error instanceof UnmailableError || isDatabaseRefusal(error) || isUnavailable(error)) throw error;
    if (isRefusal(error))
      throw new UnmailableError('refused', 'The account is not allowed to see what this mail is about.');
    throw new UnmailableError('content', 'The mail could not be written.', error);
  }
}

function recipientOf({ account }: ClaimedMail, tenantName: string, elsewhere: string | undefined): Recipient {
  const address = elsewhere ?? account?.email;
  if (!account?.isActive || !address) {
    throw new UnmailableError('recipient_gone', 'The account is inactive or has no e-mail address.');
  }
  const { id, role, username, displayName, firstName, ldapDn } = account;
  return {
    id,
    role,
    username,
    displayName: elsewhere === undefined && displayName !== null ? displayName : username,
    firstName,
    address,
    isLocal: ldapDn === null,
    tenantName,
  };
}
