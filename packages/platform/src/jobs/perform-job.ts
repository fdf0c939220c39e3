import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import { eq } from 'drizzle-orm';
import { sql } from 'drizzle-orm';
import type { TenantScope } from '@portal/db/open';
import type { Database } from '@portal/db/open';
import { jobOutcomes } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import { PortalError, unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { Log } from '../log.ts';
import type { JobOutcome } from '../metrics.ts';
import type { BullJob } from '../queues/backend.ts';
import type { Envelope } from '../queues/queues.ts';
import { runScope } from '../runs/scope.ts';
import { beginRun, endRun, postponeRun, type RunAtWork } from '../runs/state.ts';
import { watchProgress } from '../runs/watch-progress.ts';
import type { Runtime } from '../runtime.ts';
import type { Handler, Work } from './handler.ts';
import type { AnyJob } from './job.ts';

export type InterruptionReason = 'shutdown' | 'timeout' | 'lock lost';

/** The reason of an aborted handler signal. */
class InterruptedError extends Error {
  readonly why: InterruptionReason;

  constructor(why: InterruptionReason) {
    super(`The work was interrupted: ${why}.`);
    this.name = 'InterruptedError';
    this.why = why;
  }
}

/** Makes BullMQ retry the job after its backoff. */
class RetryError extends Error {}

/** Interrupts a running job, by job id. */
export type JobsAtWork = Map<string, (why: InterruptionReason) => void>;

interface JobTurn {
  handler: Handler;
  bull: BullJob;
  token: string;
  envelope: Envelope;
  payload: unknown;
  /** Milliseconds from the abort of a handler's signal until the worker stops waiting for the handler. */
  graceMs: number;
  atWork: JobsAtWork;
}

/** Returns a job to the queue for another worker. */
export async function releaseJob(log: Log, bull: BullJob, token: string): Promise<never> {
  // If this fails, the job's lock expires and the job is returned anyway.
  await bull
    .moveToWait(token)
    .catch((error: unknown) => log.warn({ err: error, jobId: bull.id }, 'a job could not be returned to the queue'));
  throw new WaitingError();
}

/** Returns a job to the queue with a delay. This does not count as an attempt, and its run has not begun. */
export async function deferJob(log: Log, bull: BullJob, token: string, waitMs: number): Promise<never> {
  // If this fails, the job's lock expires and the job is returned anyway.
  await bull
    .moveToDelayed(Date.now() + waitMs, token)
    .catch((error: unknown) => log.warn({ err: error, jobId: bull.id }, 'a job could not be returned to the queue'));
  throw new DelayedError();
}

/**
 * Runs a job's handler, with log lines, signal and run. Returns if the job is done; otherwise throws the error that tells BullMQ to retry
 * the job, to fail it, or to leave it to another worker.
 */
export async function performJob(
  runtime: Runtime,
  { handler, bull, token, envelope, payload, graceMs, atWork }: JobTurn,
): Promise<void> {
  const { job } = handler;
  const { log, metrics } = runtime;
  const { tenantId, actorId, requestId, runId } = envelope;
  const attempt = bull.attemptsMade + 1;
  const facts = { job: job.name, jobId: bull.id, tenantId, actorId, requestId, runId, attempt };
  const startedAt = performance.now();
  log.info(facts, 'job started');

  const end = async (outcome: JobOutcome, error?: unknown): Promise<void> => {
    const ms = performance.now() - startedAt;
    const level =
      outcome === 'failed' && !(error instanceof PortalError) ? 'error' : error === undefined ? 'info' : 'warn';
    log[level]({ ...facts, outcome, ms: Math.round(ms), ...(error === undefined ? {} : { err: error }) }, 'job ended');
    metrics.countJob(job.name, outcome, ms / SECOND);
    if (outcome === 'released' || outcome === 'skipped') return;
    const state = outcome === 'succeeded' ? 'succeeded' : 'failed';
    await recordOutcome(runtime.database.acrossTenants, { name: job.name, state, ms }).catch((recordError: unknown) =>
      log.warn({ ...facts, err: recordError }, 'the outcome of a job could not be recorded'),
    );
  };

  const controller = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const abandoned = Promise.withResolvers<never>();
  abandoned.promise.catch(() => undefined);
  const interrupt = (why: InterruptionReason) => {
    if (controller.signal.aborted) return;
    const reason = new InterruptedError(why);
    controller.abort(reason);
    // The worker does not wait for a handler that ignores its signal.
    grace = setTimeout(() => abandoned.reject(reason), graceMs);
  };
  const timeout = setTimeout(interrupt, job.timeoutMs, 'timeout');
  const jobId = bull.id ?? '';
  atWork.set(jobId, interrupt);

  const tenant = tenantId === null ? null : runtime.database.inTenant(tenantId);
  const watched = runId === null ? null : watchProgress(runScope(runtime.database, tenantId), runId, log);
  let run: RunAtWork | null = null;
  try {
    if (tenant && !(await isTenantActive(tenant))) return await end('skipped');
    if (watched) {
      run = await beginRun(watched.scope, watched.runId);
      if (!run) return await end('skipped');
    }
    const work: Work = {
      signal: controller.signal,
      actorId,
      run,
      progress: (done, total) => watched?.report(done, total),
    };
    await Promise.race([handler.perform(runtime, { requestId, actorId }, payload as never, work), abandoned.promise]);
    if (watched && run) {
      await watched.stop();
      await endRun(watched.scope, run, { error: null });
    }
    await end('succeeded');
  } catch (thrown) {
    const interruption: unknown = controller.signal.reason;
    if (interruption instanceof InterruptedError && interruption.why !== 'timeout') {
      await end('released');
      if (interruption.why === 'shutdown') return await releaseJob(log, bull, token);
      // Another worker has the job now: do not touch it.
      throw new WaitingError();
    }
    const error = interruption instanceof InterruptedError ? outOfTime(job) : thrown;
    const isLast = !mayRetry(error) || attempt >= job.attempts;
    if (watched && run) {
      await watched.stop();
      const written = isLast
        ? endRun(watched.scope, run, { error: sentenceFor(error) })
        : postponeRun(watched.scope, run, job.backoffMs * 2 ** attempt);
      // The sweep finds a run whose outcome is missing.
      await written.catch((writeError: unknown) =>
        log.warn({ ...facts, err: writeError }, 'the outcome of a run could not be written'),
      );
    }
    await end(isLast ? 'failed' : 'retried', error);
    // BullMQ shows the message to operators, so only messages written for people may be in it.
    throw isLast ? new UnrecoverableError(sentenceFor(error)) : new RetryError(sentenceFor(error));
  } finally {
    await watched?.stop();
    clearTimeout(timeout);
    clearTimeout(grace);
    atWork.delete(jobId);
  }
}

async function isTenantActive(scope: TenantScope): Promise<boolean> {
  const [tenant] = await scope.read((db) =>
    db.select({ isActive: tenants.isActive }).from(tenants).where(eq(tenants.id, scope.tenantId)),
  );
  return tenant?.isActive === true;
}

/** A retry may help if another system caused the failure; our own refusals and errors are permanent. */
const mayRetry = (error: unknown): boolean =>
  error instanceof PortalError && ['busy', 'upstream', 'unavailable'].includes(error.kind);

const outOfTime = (job: AnyJob): PortalError =>
  unavailable(`The work took longer than ${job.timeoutMs / SECOND} seconds and was stopped.`);

const sentenceFor = (error: unknown): string =>
  error instanceof PortalError
    ? error.message
    : 'Something went wrong. The log shows the cause under the id of this job.';

/** Stores the last outcome of a job, for operators. */
async function recordOutcome(
  acrossTenants: Database['acrossTenants'],
  outcome: { name: string; state: 'succeeded' | 'failed'; ms: number },
): Promise<void> {
  const last = { lastRunAt: sql`now()`, lastState: outcome.state, lastDurationMs: Math.round(outcome.ms) };
  await acrossTenants('job outcomes belong to no tenant', (tx) =>
    tx
      .insert(jobOutcomes)
      .values({ name: outcome.name, ...last })
      .onConflictDoUpdate({ target: jobOutcomes.name, set: { ...last, runs: sql`${jobOutcomes.runs} + 1` } }),
  );
}
