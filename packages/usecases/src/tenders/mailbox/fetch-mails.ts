import { eq, sql } from 'drizzle-orm';
import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import { type Mailbox, openMailbox } from '@portal/connectors/imap/mailbox';
import { users } from '@portal/db/schema/accounts/users';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { isPausedAfter, refusalsAfter } from '@portal/domain/imap';
import { alertLimits } from '@portal/domain/tenders/alert-mailbox';
import { mailboxSource } from '@portal/domain/tenders/sources';
import { DAY, SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { moduleLevels } from '../../modules/module-access.ts';
import { startDueMailboxes } from '../jobs.ts';
import { claimMailbox, releaseClaim, type Reading, ReadingOvertakenError, withClaim } from './reading.ts';
import { imapServerWith } from './stored-mailbox.ts';
import { takeMail } from './take-mail.ts';

export type FetchLimits = { [K in 'inAllMs' | 'beginsUntilMs' | 'readMs' | 'mails']: number };

/**
 * Reads the new mails in an account's mailbox and stores the tenders they link to. At its limits it stops and starts another run for the
 * rest. A failure of the mailbox is stored for its owner and does not fail the job.
 */
export async function fetchAlertMailsOf(
  ctx: TenantContext,
  userId: string,
  { signal }: Pick<Work, 'signal'>,
  limits: FetchLimits = alertLimits,
): Promise<void> {
  if (!(await mayUse(ctx, userId))) return;
  const reading = await claimMailbox(ctx, userId);
  if (!reading) return;
  const { mailbox } = reading;
  const deadline = AbortSignal.timeout(limits.inAllMs);
  const end: ReadingEnd = { isSignedIn: false, isRestLeft: false, newCount: 0, skipped: 0, failure: null };
  try {
    await readMails(reading, end, { limits, signal: AbortSignal.any([signal, deadline]), stop: signal });
  } catch (error) {
    if (error instanceof ReadingOvertakenError) return;
    if (signal.aborted) {
      await releaseClaim(reading);
      throw error;
    }
    end.failure =
      error === deadline.reason
        ? new ImapFailure('timeout', mailbox, `could not be read within ${limits.inAllMs / SECOND} seconds.`, error)
        : error;
    if (!(end.failure instanceof ImapFailure)) throw error;
  }
  await noteEnd(reading, end).catch((error: unknown) => {
    if (!(error instanceof ReadingOvertakenError)) throw error;
  });
  if (end.isRestLeft) await ctx.enqueue(startDueMailboxes, {}, { delayMs: SECOND });
}

/** Whether the account may see tenders now. If not, its mailbox is not read. */
async function mayUse(ctx: TenantContext, userId: string): Promise<boolean> {
  const [account] = await ctx.read((db) =>
    db.select({ id: users.id, role: users.role, isActive: users.isActive }).from(users).where(eq(users.id, userId)),
  );
  return account?.isActive === true && (await moduleLevels({ ...ctx, actor: account })).has('tender-radar');
}

/** The outcome of a run. */
interface ReadingEnd {
  isSignedIn: boolean;
  isRestLeft: boolean;
  newCount: number;
  /** Mails that could not be read and are not tried again. */
  skipped: number;
  failure: unknown;
}

async function readMails(
  reading: Reading,
  end: ReadingEnd,
  { limits, signal, stop }: { limits: FetchLimits; signal: AbortSignal; stop: AbortSignal },
): Promise<void> {
  const { ctx, mailbox } = reading;
  const startedAt = performance.now();
  const server = imapServerWith(ctx, { userId: mailbox.userId, stored: mailbox }, mailbox);
  const { folder } = mailbox;
  using opened = await openMailbox(server, { folder, isWritable: false, signal, maxMailBytes: alertLimits.mailBytes });
  end.isSignedIn = true;
  const lastUid = await lastReadUid(reading, opened);
  const hasNothingNew = opened.uidNext !== null && opened.uidNext <= lastUid + 1;
  const uids = hasNothingNew ? [] : await opened.uidsFrom(lastUid + 1);
  let done = 0;
  for (const uid of uids.slice(0, limits.mails)) {
    if (performance.now() - startedAt > limits.beginsUntilMs) break;
    const { outcome, added } = await takeMail(reading, opened, uid, { readMs: limits.readMs, stop });
    end.newCount += added;
    if (outcome === 'again') break;
    if (outcome === 'skipped') end.skipped += 1;
    done += 1;
  }
  end.isRestLeft = done < uids.length;
}

/**
 * UID of the last mail that needs no reading. On the first run, that is the last mail before `firstDays`. If the server has assigned new
 * UIDs, the mails of `againDays` are read again; their tenders are not stored twice.
 */
async function lastReadUid(reading: Reading, opened: Mailbox): Promise<number> {
  const { ctx, mailbox } = reading;
  const { uidValidity } = opened;
  if (mailbox.uidValidity === uidValidity && mailbox.lastUid !== null) return mailbox.lastUid;
  const days = mailbox.uidValidity === null ? alertLimits.firstDays : alertLimits.againDays;
  const [first] = await opened.uidsSince(new Date(ctx.now().getTime() - days * DAY));
  const lastUid = (first ?? opened.uidNext ?? ((await opened.uidsFrom(1)).at(-1) ?? 0) + 1) - 1;
  await withClaim(reading, (tx) =>
    tx
      .update(tenderMailboxes)
      .set({ uidValidity, lastUid, triedUid: null, tries: 0 })
      .where(eq(tenderMailboxes.id, mailbox.id)),
  );
  return lastUid;
}

/** Stores the outcome of a run in the mailbox and in its source. */
async function noteEnd(reading: Reading, end: ReadingEnd): Promise<void> {
  const { mailbox } = reading;
  const { failure, isSignedIn, isRestLeft, newCount, skipped } = end;
  const imapFailure = failure instanceof ImapFailure ? failure : null;
  const refusals = refusalsAfter(mailbox.refusals, { isSignedIn, failure: imapFailure?.kind ?? null });
  const leftOut =
    skipped === 0
      ? null
      : skipped === 1
        ? 'One mail could not be read and was left out.'
        : `${skipped} mails could not be read and were left out.`;
  await withClaim(reading, async (tx) => {
    await tx
      .update(tenderMailboxes)
      .set({
        claim: null,
        refusals,
        lastError: imapFailure?.kind ?? null,
        ...(isPausedAfter(refusals)
          ? { nextFetchAt: null }
          : imapFailure === null && isRestLeft && { nextFetchAt: sql`now()` }),
      })
      .where(eq(tenderMailboxes.id, mailbox.id));
    await tx
      .update(tenderSources)
      .set(
        imapFailure === null
          ? // The first reading is complete only when no mail is left.
            { failures: 0, error: leftOut, newCount, ...(!isRestLeft && { lastSuccessAt: sql`now()` }) }
          : { failures: sql`${tenderSources.failures} + 1`, error: imapFailure.message },
      )
      .where(eq(tenderSources.key, mailboxSource(mailbox.userId)));
  });
}
