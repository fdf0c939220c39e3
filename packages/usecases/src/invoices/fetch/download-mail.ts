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

/** How long a mail waits for its turn. Servers close a connection that is silent for half a minute. */
const maxWaitMs = 20 * SECOND;
/** A mail that waited longer than this did not get its full time. */
const noticeableWaitMs = SECOND;

/** The result of a download. */
export type Download =
  | { kind: 'read'; mail: Buffer; reading: MailReading }
  /** Too little time is left in this run to read it. */
  | { kind: 'late'; mail: Buffer; hasWaited: boolean }
  /** `no-place`: mails of other tenants used all the capacity. */
  | { kind: 'too-large' | 'gone' | 'no-place' }
  | { kind: 'failed'; error: unknown; hasWaited: boolean };

/** A mail that is being downloaded and read. */
export interface PendingMail extends Disposable {
  download: Promise<Download>;
  /** The result, or null while it is pending. */
  result(): Download | null;
}

/**
 * Starts to download and read a mail as soon as there is capacity for it. It starts by `beginsUntil` and ends by `until`, both on the
 * `performance` clock. Writes nothing. The mail occupies memory capacity until it is disposed of.
 */
export function downloadMail(
  { ctx }: Fetching,
  session: Mailbox,
  head: MailHead,
  { signal, beginsUntil, until }: { signal: AbortSignal; beginsUntil: number; until: number },
): PendingMail {
  const disposed = Promise.withResolvers<void>();
  const settled = Promise.withResolvers<Download>();
  let result: Download | null = null;
  const end = (download: Download) => {
    result = download;
    settled.resolve(download);
  };
  // The caller may end without awaiting this promise.
  settled.promise.catch(() => undefined);
  if (isTooLarge(head)) end({ kind: 'too-large' });
  else {
    const askedAt = performance.now();
    const late = AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(maxWaitMs, beginsUntil - askedAt))));
    const hold = async () => {
      const hasWaited = performance.now() - askedAt > noticeableWaitMs;
      end(await download(ctx, session, head, { until, hasWaited }));
      await disposed.promise;
    };
    inMemory(ctx)(hold, { key: ctx.tenantId, signal: AbortSignal.any([signal, late]) }).catch((error: unknown) => {
      if (error === late.reason) end({ kind: 'no-place' });
      else settled.reject(error);
    });
  }
  return { download: settled.promise, result: () => result, [Symbol.dispose]: disposed.resolve };
}

async function download(
  ctx: TenantContext,
  session: Mailbox,
  head: MailHead,
  { until, hasWaited }: { until: number; hasWaited: boolean },
): Promise<Download> {
  let mail: Buffer | null;
  try {
    mail = await session.bytes(head.uid, mailMaxBytes);
  } catch (error) {
    return { kind: 'failed', error, hasWaited };
  }
  if (mail === null) return { kind: 'gone' };
  if (mail.length > mailMaxBytes) return { kind: 'too-large' };
  const reading = await readMail(ctx, mail, until);
  return reading === null ? { kind: 'late', mail, hasWaited } : { kind: 'read', mail, reading };
}
