import type { Mailbox, MailHead } from '@portal/connectors/imap/mailbox';
import { mailMaxBytes } from '@portal/domain/invoices/limits';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import { jobLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';
import { type MailReading, readMail } from '../reading/read-mail.ts';
import type { Fetching } from './fetching.ts';
import { isTooLarge } from './seen-mails.ts';

/** Mails of one tenant in memory at once: while one is downloaded, another is read. */
export const mailsAtOnce = 2;
const inMemory = resource(() => openSemaphore(jobLimits.invoiceMails));

/** The longest that a mail waits for its place. A connection that is silent for half a minute is given up. */
const waitMs = 20 * SECOND;
/** A mail that waited for longer than this had not the time that it is owed. */
const noticeableMs = SECOND;

/** What came of a download. */
export type Download =
  | { kind: 'read'; mail: Buffer; reading: MailReading }
  /** Too little time is left to read it in this run. */
  | { kind: 'late'; mail: Buffer; hasWaited: boolean }
  /** Mails of other tenants had all places. */
  | { kind: 'too-large' | 'gone' | 'no-place' }
  | { kind: 'failed'; error: unknown; hasWaited: boolean };

/** A mail that is being downloaded and read. */
export interface MailBeingTaken extends Disposable {
  download: Promise<Download>;
  /** What came of it, once that is known. */
  came(): Download | null;
}

/**
 * Begins to download and read a mail once there is a place for it, until `beginsUntil` at the latest and to end by `until`, by the clock of
 * `performance`; nothing is written. It has its place in memory until it is disposed of.
 */
export function takeMail(
  { ctx }: Fetching,
  box: Mailbox,
  head: MailHead,
  { signal, beginsUntil, until }: { signal: AbortSignal; beginsUntil: number; until: number },
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
    const askedAt = performance.now();
    const late = AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(waitMs, beginsUntil - askedAt))));
    const hold = async () => {
      const hasWaited = performance.now() - askedAt > noticeableMs;
      end(await download(ctx, box, head, { until, hasWaited }));
      await isOver.promise;
    };
    inMemory(ctx)(hold, { key: ctx.tenantId, signal: AbortSignal.any([signal, late]) }).catch((error: unknown) => {
      if (error === late.reason) end({ kind: 'no-place' });
      else downloaded.reject(error);
    });
  }
  return { download: downloaded.promise, came: () => came, [Symbol.dispose]: isOver.resolve };
}

async function download(
  ctx: TenantContext,
  box: Mailbox,
  head: MailHead,
  { until, hasWaited }: { until: number; hasWaited: boolean },
): Promise<Download> {
  let mail: Buffer | null;
  try {
    mail = await box.bytes(head.uid, mailMaxBytes);
  } catch (error) {
    return { kind: 'failed', error, hasWaited };
  }
  if (mail === null) return { kind: 'gone' };
  if (mail.length > mailMaxBytes) return { kind: 'too-large' };
  const reading = await readMail(ctx, mail, until);
  return reading === null ? { kind: 'late', mail, hasWaited } : { kind: 'read', mail, reading };
}
