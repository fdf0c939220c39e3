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
import { claimMailbox, giveBack, type Reading, ReadingOvertakenError, whileCounting } from './reading.ts';
import { imapServerWith } from './stored-mailbox.ts';
import { takeMail } from './take-mail.ts';

export type FetchLimits = { [K in 'inAllMs' | 'beginsUntilMs' | 'readMs' | 'mails']: number };

/**
 * One run: reads the mails that are new in an account's mailbox and stores the tenders they link to. Ends early with the rest left for
 * another run, which begins at once. Trouble with the mailbox is noted for its owner and is no failure of the job.
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
  const end: ReadingEnd = { isSignedIn: false, isRestLeft: false, newCount: 0, passedOver: 0, failure: null };
  try {
    await readMails(reading, end, { limits, signal: AbortSignal.any([signal, deadline]), stop: signal });
  } catch (error) {
    if (error instanceof ReadingOvertakenError) return;
    if (signal.aborted) {
      await giveBack(reading);
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

/** Whether the account may see tenders at this moment: for one that may not, nothing is fetched. */
async function mayUse(ctx: TenantContext, userId: string): Promise<boolean> {
  const [account] = await ctx.read((db) =>
    db.select({ id: users.id, role: users.role, isActive: users.isActive }).from(users).where(eq(users.id, userId)),
  );
  return account?.isActive === true && (await moduleLevels({ ...ctx, actor: account })).has('tender-radar');
}

/** How a run went, as far as it came. */
interface ReadingEnd {
  isSignedIn: boolean;
  isRestLeft: boolean;
  newCount: number;
  /** Mails that could not be read, and are not tried again. */
  passedOver: number;
  failure: unknown;
}

async function readMails(
  reading: Reading,
  end: ReadingEnd,
  { limits, signal, stop }: { limits: FetchLimits; signal: AbortSignal; stop: AbortSignal },
): Promise<void> {
  const { ctx, mailbox } = reading;
  const begunAt = performance.now();
  const server = imapServerWith(ctx, { userId: mailbox.userId, stored: mailbox }, mailbox);
  const { folder } = mailbox;
  using box = await openMailbox(server, { folder, isWritable: false, signal, maxMailBytes: alertLimits.mailBytes });
  end.isSignedIn = true;
  const lastUid = await whereToGoOn(reading, box);
  const isNothingNew = box.uidNext !== null && box.uidNext <= lastUid + 1;
  const uids = isNothingNew ? [] : await box.uidsFrom(lastUid + 1);
  let done = 0;
  for (const uid of uids.slice(0, limits.mails)) {
    if (performance.now() - begunAt > limits.beginsUntilMs) break;
    const { outcome, added } = await takeMail(reading, box, uid, { readMs: limits.readMs, stop });
    end.newCount += added;
    if (outcome === 'again') break;
    if (outcome === 'passed over') end.passedOver += 1;
    done += 1;
  }
  end.isRestLeft = done < uids.length;
}

/**
 * The last mail that is dealt with. Before the first run that is the one before those of the last days; where the server has given its mails
 * other UIDs, some more days are read once more, which brings nothing twice.
 */
async function whereToGoOn(reading: Reading, box: Mailbox): Promise<number> {
  const { ctx, mailbox } = reading;
  const { uidValidity } = box;
  if (mailbox.uidValidity === uidValidity && mailbox.lastUid !== null) return mailbox.lastUid;
  const days = mailbox.uidValidity === null ? alertLimits.firstDays : alertLimits.againDays;
  const [first] = await box.uidsSince(new Date(ctx.now().getTime() - days * DAY));
  const lastUid = (first ?? box.uidNext ?? ((await box.uidsFrom(1)).at(-1) ?? 0) + 1) - 1;
  await whileCounting(reading, (tx) =>
    tx
      .update(tenderMailboxes)
      .set({ uidValidity, lastUid, triedUid: null, tries: 0 })
      .where(eq(tenderMailboxes.id, mailbox.id)),
  );
  return lastUid;
}

/** Notes how a run ended, for the owner and for whoever tells people of tenders. */
async function noteEnd(reading: Reading, end: ReadingEnd): Promise<void> {
  const { mailbox } = reading;
  const { failure, isSignedIn, isRestLeft, newCount, passedOver } = end;
  const trouble = failure instanceof ImapFailure ? failure : null;
  const refusals = refusalsAfter(mailbox.refusals, { isSignedIn, failure: trouble?.kind ?? null });
  const leftOut =
    passedOver === 0
      ? null
      : `${passedOver === 1 ? 'One mail' : `${passedOver} mails`} could not be read and was left out.`;
  await whileCounting(reading, async (tx) => {
    await tx
      .update(tenderMailboxes)
      .set({
        claim: null,
        refusals,
        lastError: trouble?.kind ?? null,
        ...(isPausedAfter(refusals)
          ? { nextFetchAt: null }
          : trouble === null && isRestLeft && { nextFetchAt: sql`now()` }),
      })
      .where(eq(tenderMailboxes.id, mailbox.id));
    await tx
      .update(tenderSources)
      .set(
        trouble === null
          ? // Complete once nothing is left: until then the first reading goes on.
            { failures: 0, error: leftOut, newCount, ...(!isRestLeft && { lastSuccessAt: sql`now()` }) }
          : { failures: sql`${tenderSources.failures} + 1`, error: trouble.message },
      )
      .where(eq(tenderSources.key, mailboxSource(mailbox.userId)));
  });
}
