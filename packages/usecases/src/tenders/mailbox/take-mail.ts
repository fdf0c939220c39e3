import { eq, sql } from 'drizzle-orm';
import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { Mailbox } from '@portal/connectors/imap/mailbox';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { unavailable } from '@portal/domain/errors';
import { alertLimits } from '@portal/domain/tenders/alert-mailbox';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { mailboxKey, mailboxSource } from '@portal/domain/tenders/sources';
import type { SystemContext } from '@portal/platform/context';
import { TaskError } from '@portal/platform/sandbox/task';
import { parseMailInSandbox } from '../ingest/parse-in-sandbox.ts';
import { matchTenders } from '../jobs.ts';
import { storedOutcomes, storeNotices } from '../store-notices.ts';
import { type Reading, withClaim } from './reading.ts';

export interface MailTaken {
  outcome: 'taken' | 'skipped' | 'again';
  added: number;
}

/**
 * Reads a mail, stores the tenders it links to, and then marks it as read. If the process dies in between, the mail is read again and
 * nothing is stored twice. A mail that cannot be read is skipped after three attempts, so that it does not block later mails.
 */
export async function takeMail(
  reading: Reading,
  opened: Mailbox,
  uid: number,
  { readMs, stop }: { readMs: number; stop: AbortSignal },
): Promise<MailTaken> {
  const { ctx, mailbox } = reading;
  const sourcePortal = mailboxSource(mailbox.userId);
  let notices: NoticeRecord[] = [];
  try {
    // The links are at the beginning; the rest is attachments.
    const bytes = (await opened.bytes(uid, alertLimits.mailBytes))?.subarray(0, alertLimits.mailBytes);
    if (bytes) ({ notices } = await parseMailInSandbox(ctx, { sourcePortal, bytes, timeoutMs: readMs }));
  } catch (error) {
    // If the worker stops, the mail is not to blame.
    stop.throwIfAborted();
    return countAttempt(reading, uid, error);
  }
  const stored = await storeNotices(claimedContext(reading), notices, { isFirstRead: reading.isFirst });
  if (stored.tenderIds.length > 0) await ctx.enqueue(matchTenders, {});
  for (const outcome of storedOutcomes) ctx.metrics.countTenderNotices(mailboxKey, outcome, stored[outcome]);
  await advance(reading, uid);
  return { outcome: 'taken', added: stored.added };
}

/** The same context, whose transactions hold the claim of this reading. */
const claimedContext = (reading: Reading): SystemContext => ({
  ...reading.ctx,
  acrossTenants: (why, work) => withClaim(reading, work, why),
});

const advance = (reading: Reading, uid: number) =>
  withClaim(reading, (tx) =>
    tx
      .update(tenderMailboxes)
      .set({ lastUid: uid, triedUid: null, tries: 0 })
      .where(eq(tenderMailboxes.id, reading.mailbox.id)),
  );

/** Counts a failed attempt. Throws if the server is to blame, because the connection cannot be used any more. */
async function countAttempt(reading: Reading, uid: number, error: unknown): Promise<MailTaken> {
  const { ctx, mailbox } = reading;
  const isTask = error instanceof TaskError;
  if (isTask && error.fault === 'outside')
    throw unavailable('Alert mails cannot be read right now. The portal tries again in a few minutes.', error);
  if (isTask && error.fault === 'program')
    ctx.log.error({ err: error, tenantId: ctx.tenantId }, 'an alert mail could not be read');
  if (!isTask && !(error instanceof ImapFailure) && !(error instanceof DOMException)) throw error;
  const [row] = await withClaim(reading, (tx) =>
    tx
      .update(tenderMailboxes)
      .set({
        triedUid: uid,
        tries: sql`case when ${tenderMailboxes.triedUid} = ${uid} then ${tenderMailboxes.tries} + 1 else 1 end`,
      })
      .where(eq(tenderMailboxes.id, mailbox.id))
      .returning({ tries: tenderMailboxes.tries }),
  );
  const isSkipped = (row?.tries ?? 0) >= alertLimits.tries;
  if (isSkipped) {
    ctx.metrics.countTenderNotices(mailboxKey, 'unreadable', 1);
    ctx.log.warn({ err: error, tenantId: ctx.tenantId, uid }, 'an alert mail was skipped');
    await advance(reading, uid);
  }
  if (!isTask) throw error;
  return { outcome: isSkipped ? 'skipped' : 'again', added: 0 };
}
