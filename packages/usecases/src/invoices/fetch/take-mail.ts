import type { Mailbox, MailHead } from '@portal/connectors/imap/mailbox';
import { mailMaxBytes } from '@portal/domain/invoices/limits';
import type { TenantContext } from '@portal/platform/context';
import { resource } from '@portal/platform/resource';
import { openFairSlots } from '@portal/platform/semaphore';
import { type MailReading, readMail } from '../reading/read-mail.ts';
import type { Fetching } from './fetching.ts';
import { isTooLarge } from './seen-mails.ts';

/** Mails a process has in memory at once, 25 MiB and their documents each; those who wait hold nothing but a connection. */
export const mailsInMemory = 4;
const inMemory = resource(() =>
  openFairSlots({ slots: mailsInMemory, leastUrgent: { urgency: 0, slots: mailsInMemory } }),
);

/** What came of a download. */
export type Download =
  | { kind: 'read'; mail: Buffer; reading: MailReading }
  /** Too little time is left to read it in this run. */
  | { kind: 'late'; mail: Buffer }
  | { kind: 'too-large' | 'gone' }
  | { kind: 'failed'; error: unknown };

/** A mail that is being downloaded and read. */
export interface MailBeingTaken extends Disposable {
  download: Promise<Download>;
  /** What came of it, once that is known. */
  came(): Download | null;
}

/** Begins to download and read a mail; nothing is written. It has its place in memory until it is disposed of. */
export function takeMail(
  { ctx }: Fetching,
  box: Mailbox,
  head: MailHead,
  { signal, until }: { signal: AbortSignal; until: number },
): MailBeingTaken {
  const isOver = Promise.withResolvers<void>();
  const downloaded = Promise.withResolvers<Download>();
  let came: Download | null = null;
  const end = (download: Download) => {
    came = download;
    downloaded.resolve(download);
  };
  // Looked at when its turn comes, if it ever does.
  downloaded.promise.catch(() => undefined);
  if (isTooLarge(head)) end({ kind: 'too-large' });
  else {
    inMemory(ctx)({ key: ctx.tenantId, urgency: 0, signal }, async () => {
      end(await download(ctx, box, head, until));
      await isOver.promise;
    }).catch(downloaded.reject);
  }
  return { download: downloaded.promise, came: () => came, [Symbol.dispose]: isOver.resolve };
}

async function download(ctx: TenantContext, box: Mailbox, head: MailHead, until: number): Promise<Download> {
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
