import { and, eq, exists, sql } from 'drizzle-orm';
import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import { type Mailbox, type MailHead, openMailbox } from '@portal/connectors/imap/mailbox';
import { prepared } from '@portal/db/prepared';
import { invoiceMailboxes } from '@portal/db/schema/invoices';
import { runs } from '@portal/db/schema/platform/operations';
import { conflict, upstream } from '@portal/domain/errors';
import { isPausedAfter, refusalsAfter } from '@portal/domain/imap';
import { fetchBeginsUntilMs, fetchMaxMails, fetchMs, mailMaxBytes } from '@portal/domain/invoices/limits';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { endedItsReaders } from '../../mailboxes/ended-readers.ts';
import { hasModuleOn } from '../../modules/module-access.ts';
import { startDueFetches } from '../jobs.ts';
import { invoiceStorage } from '../storage.ts';
import { imapServerWith, type StoredMailbox, storedMailbox } from '../stored-mailbox.ts';
import { type Fetching, FetchOvertakenError } from './fetching.ts';
import { folderFor, forgetUnsettled, mailsToMove, rememberMoved, seenSoFar } from './seen-mails.ts';
import { takeMail } from './take-mail.ts';
import { takeMails } from './take-mails.ts';

/** Mails whose heads are asked for together. */
const headsAtOnce = 50;
/** Mails moved in one run; the rest follows in the next. */
const maxMoves = 500;

/** Begins of one run: a mailbox that ended as many processes rests. */
const maxBegins = 2;

export interface FetchLimits {
  inAllMs: number;
  beginsUntilMs: number;
}
const usualLimits: FetchLimits = { inAllMs: fetchMs, beginsUntilMs: fetchBeginsUntilMs };

/**
 * One run: reads the mails that are new, keeps their documents, and then moves the mails, where there are folders for that. Ends early with
 * the rest left for another run, which begins at once. Throws a PortalError whose sentence is for people where the mailbox cannot be read,
 * and for one that is not called: it is left alone after refused sign-ins, or there is no room for more invoices.
 */
export async function fetchTenantInvoices(ctx: TenantContext, work: Work, limits = usualLimits): Promise<void> {
  const { run, signal } = work;
  if (!run) throw new Error('A fetch begins with a run.');
  if (!(await hasModuleOn(ctx, 'invoice-mailbox'))) return;
  const mailbox = await ctx.read((db) => storedMailbox(db));
  if (!mailbox) return;
  if (isPausedAfter(mailbox.refusals)) throw unavailableMailbox(pausedMailbox(mailbox));
  // Each earlier begin of this run ended with its process.
  if (run.attempt > maxBegins) {
    const failure = endedItsReaders(mailbox);
    await restAfter(ctx, mailbox, failure);
    throw unavailableMailbox(failure);
  }
  const { storedBytes, maxStoredBytes } = await invoiceStorage(ctx);
  if (storedBytes >= maxStoredBytes) throw noRoom();
  const end: FetchEnd = { isSignedIn: false, isRestLeft: false, failure: null };
  const deadline = AbortSignal.timeout(limits.inAllMs);
  try {
    await fetchFrom({ ctx, run, mailbox }, end, work, { limits, signal: AbortSignal.any([signal, deadline]) });
    signal.throwIfAborted();
    await noteEnd({ ctx, run, mailbox }, end);
    if (end.isRestLeft) await ctx.enqueue(startDueFetches, {}, { delayMs: SECOND });
  } catch (error) {
    if (signal.aborted) throw error;
    // What was changed meanwhile is fetched from by a run of its own.
    if (error instanceof FetchOvertakenError) return;
    const failure =
      error === deadline.reason
        ? new ImapFailure('timeout', mailbox, `could not be read within ${limits.inAllMs / SECOND} seconds.`, error)
        : error;
    if (!(failure instanceof ImapFailure)) throw failure;
    end.failure = failure;
    // A database that is away cannot take it down; the next fetch tells anew.
    await noteEnd({ ctx, run, mailbox }, { ...end, isRestLeft: false }).catch((noting: unknown) =>
      ctx.log.warn({ err: noting, tenantId: ctx.tenantId }, 'a failed fetch could not be noted'),
    );
  }
  if (end.failure) throw unavailableMailbox(end.failure);
}

/** How a run went, as far as it came. */
interface FetchEnd {
  isSignedIn: boolean;
  /** Mails are left for another run. */
  isRestLeft: boolean;
  /** Why the mailbox could not be read, or mails not be moved though their documents are kept. */
  failure: ImapFailure | null;
}

const unavailableMailbox = (failure: ImapFailure) =>
  upstream('MAILBOX_UNAVAILABLE', failure.message, { cause: failure });

/** Nothing is left for a run begun at once: the mailbox is asked again in an hour. */
const restAfter = (ctx: TenantContext, { id, revision }: StoredMailbox, { kind }: ImapFailure): Promise<unknown> =>
  ctx.tx((tx) =>
    tx
      .update(invoiceMailboxes)
      .set({
        lastError: kind,
        nextFetchAt: sql`case when ${invoiceMailboxes.isActive} then now() + interval '1 hour' end`,
      })
      .where(and(eq(invoiceMailboxes.id, id), eq(invoiceMailboxes.revision, revision))),
  );

const noRoom = () =>
  conflict(
    'LIMIT_REACHED',
    'The invoices of your organization take up all the room there is for them, so no more are fetched. Please ask the operator of the portal for more room.',
  );

const pausedMailbox = (mailbox: StoredMailbox) =>
  new ImapFailure(
    'unauthorized',
    mailbox,
    'was not asked, because it refused the last three sign-ins. Please check name and password, and save the settings again.',
  );

const fetchEnd = prepared<{
  id: string;
  revision: number;
  runId: string;
  attempt: number;
  lastError: string | null;
  refusals: number;
  isRestLeft: boolean;
  isPaused: boolean;
}>()('invoice_fetch_end', (db) => {
  const counting = db
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(
        eq(runs.id, sql.placeholder('runId')),
        eq(runs.state, 'running'),
        eq(runs.attempts, sql.placeholder('attempt')),
      ),
    );
  return db
    .update(invoiceMailboxes)
    .set({
      lastError: sql`${sql.placeholder('lastError')}::imap_failure`,
      lastFetchedAt: sql`case when ${sql.placeholder('lastError')}::text is null then now() else ${invoiceMailboxes.lastFetchedAt} end`,
      refusals: sql`${sql.placeholder('refusals')}::integer`,
      nextFetchAt: sql`case when ${sql.placeholder('isPaused')}::boolean then null when ${sql.placeholder('isRestLeft')}::boolean then now() else ${invoiceMailboxes.nextFetchAt} end`,
    })
    .where(
      and(
        eq(invoiceMailboxes.id, sql.placeholder('id')),
        eq(invoiceMailboxes.revision, sql.placeholder('revision')),
        exists(counting),
      ),
    )
    .returning({ id: invoiceMailboxes.id });
});

/** Notes how a fetch ended, of the mailbox it was from; nothing of a fetch that does not count any more. */
async function noteEnd(
  { ctx, run, mailbox }: Pick<Fetching, 'ctx' | 'run' | 'mailbox'>,
  { isSignedIn, isRestLeft, failure }: FetchEnd,
): Promise<void> {
  const { id, revision } = mailbox;
  const lastError = failure?.kind ?? null;
  const refusals = refusalsAfter(mailbox.refusals, { isSignedIn, failure: lastError });
  const isPaused = isPausedAfter(refusals);
  const end = { id, revision, runId: run.id, attempt: run.attempt, lastError, refusals, isRestLeft, isPaused };
  await ctx.tx((tx) => tx.runAndCommit(fetchEnd, end));
}

/** Notes in `end` how it goes. */
async function fetchFrom(
  { ctx, run, mailbox }: Pick<Fetching, 'ctx' | 'run' | 'mailbox'>,
  end: FetchEnd,
  { progress }: Work,
  { limits, signal }: { limits: FetchLimits; signal: AbortSignal },
): Promise<void> {
  const startedAt = performance.now();
  const server = imapServerWith(ctx, mailbox, mailbox);
  const isWritable = mailbox.processedFolder !== null || mailbox.failedFolder !== null;
  using box = await openMailbox(server, { folder: mailbox.folder, isWritable, signal, maxMailBytes: mailMaxBytes });
  end.isSignedIn = true;
  const fetching: Fetching = { ctx, run, mailbox, uidValidity: box.uidValidity };
  const { lastUid, unsettled } = await seenSoFar(fetching);
  const isNothingNew = box.uidNext !== null && box.uidNext <= lastUid + 1;
  const uids = [...unsettled, ...(isNothingNew ? [] : await box.uidsFrom(lastUid + 1))];
  const beginsUntil = startedAt + limits.beginsUntilMs;
  const until = startedAt + limits.inAllMs;
  const begin = (head: MailHead) => takeMail(fetching, box, head, { signal, beginsUntil, until });
  const hasTime = () => performance.now() < beginsUntil;
  let done = 0;
  const onSettled = () => {
    done += 1;
    progress(done, uids.length);
  };
  let most = fetchMaxMails;
  for (let at = 0; at < uids.length && most > 0 && hasTime(); at += headsAtOnce) {
    const part = uids.slice(at, at + headsAtOnce);
    const heads = await box.heads(part);
    const there = new Set(heads.map(({ uid }) => uid));
    const gone = part.filter((uid) => !there.has(uid));
    if (gone.some((uid) => uid <= lastUid)) await forgetUnsettled(fetching, gone);
    done += gone.length;
    const { settled, taken } = await takeMails(fetching, heads, { begin, hasTime, most, onSettled, signal });
    if (settled < heads.length) break;
    most -= taken;
  }
  end.isRestLeft = done < uids.length;
  if (!isWritable || signal.aborted) return;
  const moves = await moveMails(fetching, box);
  end.isRestLeft ||= moves.isRestLeft;
  end.failure = moves.failure;
}

/** Moves what has its folder to go to. What fails comes again with the next run, and leads to no second document. */
async function moveMails(fetching: Fetching, box: Mailbox): Promise<Pick<FetchEnd, 'isRestLeft' | 'failure'>> {
  const mails = await mailsToMove(fetching, maxMoves);
  let failure: ImapFailure | null = null;
  for (const target of ['processed', 'failed'] as const) {
    const folder = folderFor(fetching, target);
    const uids = mails.filter(({ moveTo }) => moveTo === target).map(({ uid }) => uid);
    if (folder === null || uids.length === 0) continue;
    try {
      await box.move(uids, folder);
      await rememberMoved(fetching, uids);
    } catch (error) {
      if (!(error instanceof ImapFailure)) throw error;
      failure ??= error;
    }
  }
  return { isRestLeft: mails.length === maxMoves && failure === null, failure };
}
