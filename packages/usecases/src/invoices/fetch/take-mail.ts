import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { Mailbox, MailHead } from '@portal/connectors/imap/mailbox';
import { mailMaxBytes, mailMaxTries } from '@portal/domain/invoices/limits';
import { resource } from '@portal/platform/resource';
import { openFairSlots } from '@portal/platform/semaphore';
import { type MailReading, readMail } from '../reading/read-mail.ts';
import type { Fetching } from './fetching.ts';
import { keepMail, keepUnread } from './keep-mail.ts';
import { forgetUnsettled, noteTry } from './seen-mails.ts';

/** Mails a process has in memory at once, 25 MiB and their documents each; those who wait hold nothing but a connection. */
const inMemory = resource(() => openFairSlots({ slots: 4, leastUrgent: { urgency: 0, slots: 4 } }));

/** What came of a download. */
type Download =
  | { kind: 'read'; mail: Buffer; reading: MailReading }
  /** Too little time is left to read it in this run. */
  | { kind: 'late'; mail: Buffer }
  | { kind: 'too-large' | 'gone' }
  | { kind: 'failed'; error: unknown };

/** A mail that is being downloaded and read. */
export interface MailBeingTaken extends Disposable {
  /** Keeps what it brings, once those before it are settled; false where it is left for another run. */
  settle(): Promise<boolean>;
}

/** Begins to download and read a mail; nothing is written before it is settled. It has its place in memory until it is disposed of. */
export function takeMail(
  fetching: Fetching,
  box: Mailbox,
  head: MailHead,
  { signal, until }: { signal: AbortSignal; until: number },
): MailBeingTaken {
  const { ctx } = fetching;
  const isOver = Promise.withResolvers<void>();
  const downloaded = Promise.withResolvers<Download>();
  // Looked at when it is settled, if it ever is.
  downloaded.promise.catch(() => undefined);
  if (head.sizeBytes > mailMaxBytes) downloaded.resolve({ kind: 'too-large' });
  else {
    inMemory(ctx)({ key: ctx.tenantId, urgency: 0, signal }, async () => {
      downloaded.resolve(await download(fetching, box, head, until));
      await isOver.promise;
    }).catch(downloaded.reject);
  }
  return {
    settle: async () => settle(fetching, head, await downloaded.promise, signal),
    [Symbol.dispose]: isOver.resolve,
  };
}

async function download({ ctx }: Fetching, box: Mailbox, head: MailHead, until: number): Promise<Download> {
  let mail: Buffer | null;
  try {
    mail = await box.bytes(head.uid, mailMaxBytes);
  } catch (error) {
    return { kind: 'failed', error };
  }
  if (mail === null) return { kind: 'gone' };
  if (mail.length > mailMaxBytes) return { kind: 'too-large' };
  const reading = await readMail(ctx, mail, until);
  return reading === null ? { kind: 'late', mail } : { kind: 'read', mail, reading };
}

async function settle(fetching: Fetching, head: MailHead, came: Download, signal: AbortSignal): Promise<boolean> {
  switch (came.kind) {
    case 'read':
      await keepMail(fetching, head, came.reading, came.mail);
      return true;
    case 'late':
      if ((await noteTry(fetching, head)) < mailMaxTries) return false;
      await keepMail(fetching, head, { error: 'TOO_LARGE' }, came.mail);
      return true;
    case 'too-large':
      await keepUnread(fetching, head, 'TOO_LARGE');
      return true;
    case 'gone':
      await forgetUnsettled(fetching, [head.uid]);
      return true;
    case 'failed': {
      // One mail that the server never hands over must not keep back those behind it.
      const { error } = came;
      const isSlow = error === signal.reason || (error instanceof ImapFailure && error.kind === 'timeout');
      const tries = await noteTry(fetching, head);
      if (tries >= mailMaxTries) await keepUnread(fetching, head, isSlow ? 'TOO_LARGE' : 'DAMAGED');
      throw error;
    }
  }
}
