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
import { downloadMail } from './download-mail.ts';
import { fetchMails } from './fetch-mails.ts';
import { type Fetching, FetchOvertakenError } from './fetching.ts';
import { folderFor, forgetUnsettled, mailsToMove, rememberMoved, seenSoFar } from './seen-mails.ts';

/** Mails whose headers are requested together. */
const headsAtOnce = 50;
/** Mails moved per run; the next run moves the rest. */
const maxMoves = 500;

/** Attempts of one run. After that many crashed processes the mailbox rests. */
const maxAttempts = 2;

export interface FetchLimits {
  inAllMs: number;
  beginsUntilMs: number;
}
const defaultLimits: FetchLimits = { inAllMs: fetchMs, beginsUntilMs: fetchBeginsUntilMs };

/**
 * One run: reads new mails, stores their documents, and then moves the mails if target folders are set. A run that reaches its limits ends
 * early, and another run starts at once for the rest. Throws a PortalError with a message for users if the mailbox cannot be read, is
 * paused after refused sign-ins, or the invoice storage is full.
 */
export async function fetchTenantInvoices(ctx: TenantContext, work: Work, limits = defaultLimits): Promise<void> {
  const { run, signal } = work;
  if (!run) throw new Error('A fetch needs a run.');
  if (!(await hasModuleOn(ctx, 'invoice-mailbox'))) return;
  const mailbox = await ctx.read((db) => storedMailbox(db));
  if (!mailbox) return;
  if (isPausedAfter(mailbox.refusals)) throw unavailableMailbox(pausedMailbox(mailbox));
  // The process of each earlier attempt crashed.
  if (run.attempt > maxAttempts) {
    const failure = endedItsReaders(mailbox);
    await restAfter(ctx, mailbox, failure);
    throw unavailableMailbox(failure);
  }
  const { storedBytes, maxStoredBytes } = await invoiceStorage(ctx);
  if (storedBytes >= maxStoredBytes) throw storageFull();
  const result: FetchResult = { isSignedIn: false, hasMore: false, failure: null };
  const deadline = AbortSignal.timeout(limits.inAllMs);
  try {
    await fetchFrom({ ctx, run, mailbox }, result, work, { limits, signal: AbortSignal.any([signal, deadline]) });
    signal.throwIfAborted();
    await storeResult({ ctx, run, mailbox }, result);
    if (result.hasMore) await ctx.enqueue(startDueFetches, {}, { delayMs: SECOND });
  } catch (error) {
    if (signal.aborted) throw error;
    // A changed mailbox is fetched by another run.
    if (error instanceof FetchOvertakenError) return;
    const failure =
      error === deadline.reason
        ? new ImapFailure('timeout', mailbox, `could not be read within ${limits.inAllMs / SECOND} seconds.`, error)
        : error;
    if (!(failure instanceof ImapFailure)) throw failure;
    result.failure = failure;
    // Without the database the failure cannot be stored; the next fetch reports it again.
    await storeResult({ ctx, run, mailbox }, { ...result, hasMore: false }).catch((storing: unknown) =>
      ctx.log.warn({ err: storing, tenantId: ctx.tenantId }, 'the result of a failed fetch could not be stored'),
    );
  }
  if (result.failure) throw unavailableMailbox(result.failure);
}

/** The result of a run so far. */
interface FetchResult {
  isSignedIn: boolean;
  /** Mails remain for another run. */
  hasMore: boolean;
  /** Why the mailbox could not be read, or why mails with stored documents could not be moved. */
  failure: ImapFailure | null;
}

const unavailableMailbox = (failure: ImapFailure) =>
  upstream('MAILBOX_UNAVAILABLE', failure.message, { cause: failure });

/** Postpones the next fetch by an hour. */
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

const storageFull = () =>
  conflict(
    'LIMIT_REACHED',
    'The invoice storage of your organization is full, so no more invoices are fetched. Please ask the operator of the portal for more storage.',
  );

const pausedMailbox = (mailbox: StoredMailbox) =>
  new ImapFailure(
    'unauthorized',
    mailbox,
    'was not contacted, because it refused the last three sign-ins. Please check the username and password, and save the settings again.',
  );

const fetchEnd = prepared<{
  id: string;
  revision: number;
  runId: string;
  attempt: number;
  lastError: string | null;
  refusals: number;
  hasMore: boolean;
  isPaused: boolean;
}>()('invoice_fetch_end', (db) => {
  const currentRun = db
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
      nextFetchAt: sql`case when ${sql.placeholder('isPaused')}::boolean then null when ${sql.placeholder('hasMore')}::boolean then now() else ${invoiceMailboxes.nextFetchAt} end`,
    })
    .where(
      and(
        eq(invoiceMailboxes.id, sql.placeholder('id')),
        eq(invoiceMailboxes.revision, sql.placeholder('revision')),
        exists(currentRun),
      ),
    )
    .returning({ id: invoiceMailboxes.id });
});

/** Stores the result in the mailbox's row, unless the mailbox was changed or another worker has taken over the run. */
async function storeResult(
  { ctx, run, mailbox }: Pick<Fetching, 'ctx' | 'run' | 'mailbox'>,
  { isSignedIn, hasMore, failure }: FetchResult,
): Promise<void> {
  const { id, revision } = mailbox;
  const lastError = failure?.kind ?? null;
  const refusals = refusalsAfter(mailbox.refusals, { isSignedIn, failure: lastError });
  const isPaused = isPausedAfter(refusals);
  const params = { id, revision, runId: run.id, attempt: run.attempt, lastError, refusals, hasMore, isPaused };
  await ctx.tx((tx) => tx.runAndCommit(fetchEnd, params));
}

/** Updates `result` as the fetch proceeds. */
async function fetchFrom(
  { ctx, run, mailbox }: Pick<Fetching, 'ctx' | 'run' | 'mailbox'>,
  result: FetchResult,
  { progress }: Work,
  { limits, signal }: { limits: FetchLimits; signal: AbortSignal },
): Promise<void> {
  const startedAt = performance.now();
  const server = imapServerWith(ctx, mailbox, mailbox);
  const isWritable = mailbox.processedFolder !== null || mailbox.failedFolder !== null;
  using session = await openMailbox(server, { folder: mailbox.folder, isWritable, signal, maxMailBytes: mailMaxBytes });
  result.isSignedIn = true;
  const fetching: Fetching = { ctx, run, mailbox, uidValidity: session.uidValidity };
  const { lastUid, unsettled } = await seenSoFar(fetching);
  const isNothingNew = session.uidNext !== null && session.uidNext <= lastUid + 1;
  const uids = [...unsettled, ...(isNothingNew ? [] : await session.uidsFrom(lastUid + 1))];
  const beginsUntil = startedAt + limits.beginsUntilMs;
  const until = startedAt + limits.inAllMs;
  const begin = (head: MailHead) => downloadMail(fetching, session, head, { signal, beginsUntil, until });
  const hasTime = () => performance.now() < beginsUntil;
  let done = 0;
  const onSettled = () => {
    done += 1;
    progress(done, uids.length);
  };
  let remaining = fetchMaxMails;
  for (let at = 0; at < uids.length && remaining > 0 && hasTime(); at += headsAtOnce) {
    const batch = uids.slice(at, at + headsAtOnce);
    const heads = await session.heads(batch);
    const present = new Set(heads.map(({ uid }) => uid));
    const gone = batch.filter((uid) => !present.has(uid));
    if (gone.some((uid) => uid <= lastUid)) await forgetUnsettled(fetching, gone);
    done += gone.length;
    const { settled, downloaded } = await fetchMails(fetching, heads, {
      begin,
      hasTime,
      maxMails: remaining,
      onSettled,
      signal,
    });
    if (settled < heads.length) break;
    remaining -= downloaded;
  }
  result.hasMore = done < uids.length;
  if (!isWritable || signal.aborted) return;
  const moves = await moveMails(fetching, session);
  result.hasMore ||= moves.hasMore;
  result.failure = moves.failure;
}

/**
 * Moves mails to their target folders. The next run repeats a failed move; documents are not stored a second time. Moves come at the end of
 * a run, so that they share a command.
 */
async function moveMails(fetching: Fetching, session: Mailbox): Promise<Pick<FetchResult, 'hasMore' | 'failure'>> {
  const mails = await mailsToMove(fetching, maxMoves);
  let failure: ImapFailure | null = null;
  for (const target of ['processed', 'failed'] as const) {
    const folder = folderFor(fetching, target);
    const uids = mails.filter(({ moveTo }) => moveTo === target).map(({ uid }) => uid);
    if (folder === null || uids.length === 0) continue;
    try {
      await session.move(uids, folder);
      await rememberMoved(fetching, uids);
    } catch (error) {
      if (!(error instanceof ImapFailure)) throw error;
      failure ??= error;
    }
  }
  return { hasMore: mails.length === maxMoves && failure === null, failure };
}
