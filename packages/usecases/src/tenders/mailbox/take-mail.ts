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
import { type Reading, whileCounting } from './reading.ts';

export interface MailTaken {
  outcome: 'taken' | 'passed over' | 'again';
  added: number;
}

/**
 * Reads a mail and stores the tenders it links to, and only then counts it as read: what dies in between is read once more and stores
 * nothing twice. One that cannot be read is tried three times, so that it does not keep back those behind it.
 */
export async function takeMail(
  reading: Reading,
  box: Mailbox,
  uid: number,
  { readMs, stop }: { readMs: number; stop: AbortSignal },
): Promise<MailTaken> {
  const { ctx, mailbox } = reading;
  const sourcePortal = mailboxSource(mailbox.userId);
  let notices: NoticeRecord[] = [];
  try {
    // Links come first: what lies beyond is an attachment.
    const bytes = (await box.bytes(uid, alertLimits.mailBytes))?.subarray(0, alertLimits.mailBytes);
    if (bytes) ({ notices } = await parseMailInSandbox(ctx, { sourcePortal, bytes, timeoutMs: readMs }));
  } catch (error) {
    // A worker that stops says nothing of the mail.
    stop.throwIfAborted();
    return onceMore(reading, uid, error);
  }
  const stored = await storeNotices(storingAs(reading), notices, { isFirstRead: reading.isFirst });
  if (stored.tenderIds.length > 0) await ctx.enqueue(matchTenders, {});
  for (const outcome of storedOutcomes) ctx.metrics.countTenderNotices(mailboxKey, outcome, stored[outcome]);
  await advance(reading, uid);
  return { outcome: 'taken', added: stored.added };
}

/** The same context, whose transactions write only while this reading is the one that counts. */
const storingAs = (reading: Reading): SystemContext => ({
  ...reading.ctx,
  acrossTenants: (why, work) => whileCounting(reading, work, why),
});

const advance = (reading: Reading, uid: number) =>
  whileCounting(reading, (tx) =>
    tx
      .update(tenderMailboxes)
      .set({ lastUid: uid, triedUid: null, tries: 0 })
      .where(eq(tenderMailboxes.id, reading.mailbox.id)),
  );

/** Counts a try that came to nothing. Throws where the server is to blame, for then the connection is of no more use. */
async function onceMore(reading: Reading, uid: number, error: unknown): Promise<MailTaken> {
  const { ctx, mailbox } = reading;
  const isTask = error instanceof TaskError;
  if (isTask && error.fault === 'outside')
    throw unavailable('Alert mails cannot be read right now. The portal tries again in a few minutes.', error);
  if (isTask && error.fault === 'program')
    ctx.log.error({ err: error, tenantId: ctx.tenantId }, 'a mail could not be read');
  if (!isTask && !(error instanceof ImapFailure) && !(error instanceof DOMException)) throw error;
  const [row] = await whileCounting(reading, (tx) =>
    tx
      .update(tenderMailboxes)
      .set({
        triedUid: uid,
        tries: sql`case when ${tenderMailboxes.triedUid} = ${uid} then ${tenderMailboxes.tries} + 1 else 1 end`,
      })
      .where(eq(tenderMailboxes.id, mailbox.id))
      .returning({ tries: tenderMailboxes.tries }),
  );
  const isPassedOver = (row?.tries ?? 0) >= alertLimits.tries;
  if (isPassedOver) {
    ctx.metrics.countTenderNotices(mailboxKey, 'unreadable', 1);
    ctx.log.warn({ err: error, tenantId: ctx.tenantId, uid }, 'an alert mail is passed over');
    await advance(reading, uid);
  }
  if (!isTask) throw error;
  return { outcome: isPassedOver ? 'passed over' : 'again', added: 0 };
}
