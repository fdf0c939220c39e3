import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { MailHead } from '@portal/connectors/imap/mailbox';
import { mailMaxTries } from '@portal/domain/invoices/limits';
import type { Fetching } from './fetching.ts';
import { keepMails, knownMail, type MailToKeep, readMailToKeep, unreadMail } from './keep-mails.ts';
import { forgetUnsettled, type MailOutcome, noteTry } from './seen-mails.ts';
import type { Download } from './take-mail.ts';

interface ReadyMail {
  head: MailHead;
  came: Download | { kind: 'known'; outcome: MailOutcome };
}

/**
 * Keeps what mails brought, in their order and as many as can be in one transaction. Answers how many were settled: fewer where one of
 * them is left for another run. Throws what kept the mail server from handing one over, once those before it are kept.
 */
export async function settleMails(
  fetching: Fetching,
  mails: ReadyMail[],
  { onSettled, signal }: { onSettled: () => void; signal: AbortSignal },
): Promise<number> {
  let settled = 0;
  let together: MailToKeep[] = [];
  const onward = (count: number) => {
    for (let n = 0; n < count; n += 1) onSettled();
    settled += count;
  };
  const keepTogether = async () => {
    if (together.length > 0) await keepMails(fetching, together);
    onward(together.length);
    together = [];
  };
  for (const { head, came } of mails) {
    switch (came.kind) {
      case 'known':
        together.push(knownMail(head, came.outcome));
        break;
      case 'read':
        together.push(readMailToKeep(head, came.reading, came.mail));
        break;
      case 'too-large':
        together.push(unreadMail(head, 'TOO_LARGE'));
        break;
      case 'no-place':
        await keepTogether();
        return settled;
      case 'late':
        await keepTogether();
        // A mail that waited for those of others had not all of its time, and is the first of another run.
        if (came.hasWaited) return settled;
        if ((await noteTry(fetching, head)) < mailMaxTries) return settled;
        together.push(readMailToKeep(head, { error: 'TOO_LARGE' }, came.mail));
        break;
      case 'gone':
        await keepTogether();
        await forgetUnsettled(fetching, [head.uid]);
        onward(1);
        break;
      case 'failed': {
        await keepTogether();
        // One mail that the server never hands over must not keep back those behind it.
        const { error, hasWaited } = came;
        if (hasWaited && error === signal.reason) return settled;
        const isSlow = error === signal.reason || (error instanceof ImapFailure && error.kind === 'timeout');
        const tries = await noteTry(fetching, head);
        if (tries >= mailMaxTries) await keepMails(fetching, [unreadMail(head, isSlow ? 'TOO_LARGE' : 'DAMAGED')]);
        throw error;
      }
    }
  }
  await keepTogether();
  return settled;
}
