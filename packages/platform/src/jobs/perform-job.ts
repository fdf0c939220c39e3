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

/** Why a handler was told to stop. */
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

/** How to interrupt each job at work, by its id. */
export type JobsAtWork = Map<string, (why: InterruptionReason) => void>;

interface JobTurn {
  handler: Handler;
  bull: BullJob;
  token: string;
  envelope: Envelope;
  payload: unknown;
  /** From a handler's signal to going on without it, milliseconds. */
  graceMs: number;
  atWork: JobsAtWork;
}

/** Puts a job back for another worker. */
export async function releaseJob(log: Log, bull: BullJob, token: string): Promise<never> {
  // Should this fail, the job's lock runs out and the job comes back all the same.
  await bull
    .moveToWait(token)
    .catch((error: unknown) => log.warn({ err: error, jobId: bull.id }, 'a job could not be put back'));
  throw new WaitingError();
}

/** Puts a job back until later. That is no attempt, and its run has not begun. */
export async function deferJob(log: Log, bull: BullJob, token: string, waitMs: number): Promise<never> {
  // Should this fail, the job's lock runs out and the job comes back all the same.
  await bull
    .moveToDelayed(Date.now() + waitMs, token)
    .catch((error: unknown) => log.warn({ err: error, jobId: bull.id }, 'a job could not be put back'));
  throw new DelayedError();
}

/**
 * One job's time with its handler: log lines, signal, run, and what becomes of it. Returns when it is done,
 * throws what tells BullMQ to try it again, to give it up, or to leave it to another worker.
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
  const givenUp = Promise.withResolvers<never>();
  givenUp.promise.catch(() => undefined);
  const interrupt = (why: InterruptionReason) => {
    if (controller.signal.aborted) return;
    const reason = new InterruptedError(why);
    controller.abort(reason);
    // A handler that does not heed its signal is not waited for.
    grace = setTimeout(() => givenUp.reject(reason), graceMs);
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
    await Promise.race([handler.perform(runtime, { requestId, actorId }, payload as never, work), givenUp.promise]);
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
      // The job is another worker's now: nothing of it may be touched.
      throw new WaitingError();
    }
    const error = interruption instanceof InterruptedError ? outOfTime(job) : thrown;
    const isLast = !mayRetry(error) || attempt >= job.attempts;
    if (watched && run) {
      await watched.stop();
      const settled = isLast
        ? endRun(watched.scope, run, { error: sentenceFor(error) })
        : postponeRun(watched.scope, run, job.backoffMs * 2 ** attempt);
      // The sweep comes back to a run that could not be settled.
      await settled.catch((settleError: unknown) =>
        log.warn({ ...facts, err: settleError }, 'a run could not be settled'),
      );
    }
    await end(isLast ? 'failed' : 'retried', error);
    // What BullMQ keeps of an error is shown to operators: only sentences made for people.
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

/** A later try can do better when somebody else was the reason; our own refusals and mistakes stay what they are. */
const mayRetry = (error: unknown): boolean =>
  error instanceof PortalError && ['busy', 'upstream', 'unavailable'].includes(error.kind);

const outOfTime = (job: AnyJob): PortalError =>
  unavailable(`The work took longer than ${job.timeoutMs / SECOND} seconds and was stopped.`);

const sentenceFor = (error: unknown): string =>
  error instanceof PortalError
    ? error.message
    : 'Something went wrong. The log names the cause under the id of this job.';

/** Keeps how a job last went, for operators. */
async function recordOutcome(
  acrossTenants: Database['acrossTenants'],
  outcome: { name: string; state: 'succeeded' | 'failed'; ms: number },
): Promise<void> {
  const last = { lastRunAt: sql`now()`, lastState: outcome.state, lastDurationMs: Math.round(outcome.ms) };
  await acrossTenants('how a job went is no tenant’s', (tx) =>
    tx
      .insert(jobOutcomes)
      .values({ name: outcome.name, ...last })
      .onConflictDoUpdate({ target: jobOutcomes.name, set: { ...last, runs: sql`${jobOutcomes.runs} + 1` } }),
  );
}
