import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { MailHead } from '@portal/connectors/imap/mailbox';
import { mailMaxTries } from '@portal/domain/invoices/limits';
import type { Download } from './download-mail.ts';
import type { Fetching } from './fetching.ts';
import { forgetUnsettled, type MailOutcome, noteTry } from './seen-mails.ts';
import { knownMail, type MailToStore, readMailToStore, storeMails, unreadMail } from './store-mails.ts';

interface ReadyMail {
  head: MailHead;
  download: Download | { kind: 'known'; outcome: MailOutcome };
}

/**
 * Stores mails in their order, as many as possible in one transaction. Returns how many are settled: fewer than given if one is left for
 * another run. If the server fails to deliver a mail, stores the mails before it and then throws that error.
 */
export async function settleMails(
  fetching: Fetching,
  mails: ReadyMail[],
  { onSettled, signal }: { onSettled: () => void; signal: AbortSignal },
): Promise<number> {
  let settled = 0;
  let batch: MailToStore[] = [];
  const advance = (count: number) => {
    for (let n = 0; n < count; n += 1) onSettled();
    settled += count;
  };
  const storeBatch = async () => {
    if (batch.length > 0) await storeMails(fetching, batch);
    advance(batch.length);
    batch = [];
  };
  for (const { head, download } of mails) {
    switch (download.kind) {
      case 'known':
        batch.push(knownMail(head, download.outcome));
        break;
      case 'read':
        batch.push(readMailToStore(head, download.reading, download.mail));
        break;
      case 'too-large':
        batch.push(unreadMail(head, 'TOO_LARGE'));
        break;
      case 'no-place':
        await storeBatch();
        return settled;
      case 'late':
        await storeBatch();
        // This mail lost time waiting for mails of other tenants; it is the first of the next run.
        if (download.hasWaited) return settled;
        if ((await noteTry(fetching, head)) < mailMaxTries) return settled;
        batch.push(readMailToStore(head, { error: 'TOO_LARGE' }, download.mail));
        break;
      case 'gone':
        await storeBatch();
        await forgetUnsettled(fetching, [head.uid]);
        advance(1);
        break;
      case 'failed': {
        await storeBatch();
        // A mail that the server never delivers must not block the mails after it.
        const { error, hasWaited } = download;
        if (hasWaited && error === signal.reason) return settled;
        const isSlow = error === signal.reason || (error instanceof ImapFailure && error.kind === 'timeout');
        const tries = await noteTry(fetching, head);
        if (tries >= mailMaxTries) await storeMails(fetching, [unreadMail(head, isSlow ? 'TOO_LARGE' : 'DAMAGED')]);
        throw error;
      }
    }
  }
  await storeBatch();
  return settled;
}
