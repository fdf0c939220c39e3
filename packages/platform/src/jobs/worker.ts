import { setTimeout as pause } from 'node:timers/promises';
import { UnrecoverableError } from 'bullmq';
import { SECOND } from '@portal/domain/time';
import type { BullJob } from '../queues/backend.ts';
import { Envelope } from '../queues/queues.ts';
import type { Runtime } from '../runtime.ts';
import type { AnyJob, QueueName } from './job.ts';
import { deferJob, type JobsAtWork, performJob, releaseJob } from './perform-job.ts';
import { keepSchedules, scheduleId, Tick } from './schedules.ts';
import { openShares, type Shares } from './shares.ts';
import { checkParts, type WorkerParts } from './worker-parts.ts';

export interface RunningWorker {
  /** Takes no new jobs, lets running ones finish or returns them to the queue, and ends within 20 seconds. */
  stop(): Promise<void>;
}

/** All in milliseconds. */
export interface WorkerTimings {
  /** How long the jobs of a killed worker stay locked. */
  lockMs: number;
  /** Interval of the check for stalled jobs. */
  stalledCheckMs: number;
  /** From `stop` to the abort of the signals of running handlers. */
  interruptAfterMs: number;
  /** From the abort of a handler's signal until the worker stops waiting for it. */
  graceMs: number;
  stopWithinMs: number;
  ensureSchedulesMs: number;
}

export const usualTimings: WorkerTimings = {
  lockMs: 6 * SECOND,
  stalledCheckMs: 3 * SECOND,
  interruptAfterMs: 10 * SECOND,
  graceMs: 6 * SECOND,
  stopWithinMs: 18 * SECOND,
  ensureSchedulesMs: 30 * SECOND,
};

/** Maximum wait for connections to close while no job is running. */
const idleCloseTimeoutMs = 3 * SECOND;

/** How often a job may lose its worker. A kill also hits innocent jobs, and a row holds the job's subject anyway. */
const maxStalls = 20;

/** Works the queues until stopped. Throws at once if handlers and schedules do not match. */
export function startWorker(
  runtime: Runtime,
  { handlers, schedules, concurrency = {} }: WorkerParts,
  timings: WorkerTimings = usualTimings,
): RunningWorker {
  checkParts({ handlers, schedules, concurrency });
  const { log, metrics, queues } = runtime;
  const handlerOf = new Map(handlers.map((handler) => [handler.job.name, handler]));
  const atWork: JobsAtWork = new Map();
  let isStopping = false;

  async function process(shares: Shares | null, bull: BullJob, token: string): Promise<void> {
    if (isStopping) return releaseJob(log, bull, token);
    if (bull.repeatJobKey !== undefined) return tick(bull);
    const handler = handlerOf.get(bull.name);
    const envelope = Envelope.safeParse(bull.data);
    const payload = handler?.job.payload.safeParse(envelope.data?.payload);
    if (!handler || !envelope.success || !payload?.success) {
      log.error({ job: bull.name, jobId: bull.id, err: envelope.error ?? payload?.error }, 'a job is not understood');
      throw new UnrecoverableError('This release does not know this job or its payload.');
    }
    const share = shares && shareOf(handler.job, payload.data);
    const deferral = share === null ? null : shares?.enter(share);
    if (deferral) return deferJob(log, bull, token, deferral.waitMs);
    try {
      await performJob(runtime, {
        handler,
        bull,
        token,
        envelope: envelope.data,
        payload: payload.data,
        graceMs: timings.graceMs,
        atWork,
      });
    } finally {
      if (share !== null) shares?.leave(share);
    }
  }

  async function tick(bull: BullJob): Promise<void> {
    const { job: jobName, payload } = Tick.parse(bull.data);
    const job = handlerOf.get(jobName)?.job;
    // A schedule of another release; it is removed once that release's workers are gone.
    if (!job) return;
    // The request id names the schedule and the scheduled time.
    await queues.push(job, job.payload.parse(payload), { origin: { requestId: bull.id ?? jobName } });
  }

  const worked = new Set<QueueName>(handlers.map(({ job }) => job.queue));
  const consumers = [...worked].map((name) => {
    const own = concurrency[name] ?? runtime.config.worker.concurrency;
    const { places, perTenant } = typeof own === 'number' ? { places: own, perTenant: null } : own;
    const shares = perTenant === null ? null : openShares(perTenant);
    return queues.consume(name, {
      process: (bull, token) => process(shares, bull, token),
      onLockLost: (jobIds) => {
        for (const id of jobIds) atWork.get(id)?.('lock lost');
      },
      onAbandoned: (bull, reason) => {
        log.error({ job: bull.name, jobId: bull.id, reason }, 'a job lost its worker too often and was given up');
        metrics.countJob(bull.name, 'failed', 0);
      },
      concurrency: places,
      lockDuration: timings.lockMs,
      stalledInterval: timings.stalledCheckMs,
      maxStalledCount: maxStalls,
      runRetryDelay: SECOND,
    });
  });
  const onStopFailed = (error: unknown) => log.warn({ err: error }, 'the worker did not stop cleanly');
  const keptSchedules = keepSchedules(runtime, schedules, { log, everyMs: timings.ensureSchedulesMs });
  log.info(
    { queues: [...worked], jobs: handlers.length, schedules: schedules.map(scheduleId) },
    'the worker has started',
  );

  return {
    async stop() {
      isStopping = true;
      const interrupting = setTimeout(() => {
        for (const interrupt of atWork.values()) interrupt('shutdown');
      }, timings.interruptAfterMs);
      let isClosed = false;
      void Promise.all([keptSchedules.stop(), ...consumers.map((consumer) => consumer.close())]).then(() => {
        isClosed = true;
      }, onStopFailed);
      // Without running jobs nothing can be lost, so the wait for an unreachable queue is shorter.
      const stoppingAt = performance.now();
      let busyAt = stoppingAt;
      while (
        !isClosed &&
        performance.now() - stoppingAt < timings.stopWithinMs &&
        performance.now() - busyAt < idleCloseTimeoutMs
      ) {
        await pause(20);
        if (atWork.size > 0) busyAt = performance.now();
      }
      clearTimeout(interrupting);
      if (!isClosed) log.warn({ atWork: atWork.size }, 'the worker stopped before all its connections were closed');
      else log.info('the worker has stopped');
    },
  };
}

/** The key of the share that a job uses; null for the platform's own work. */
const shareOf = (job: AnyJob, payload: unknown): string | null =>
  job.scope === 'tenant' ? (payload as { tenantId: string }).tenantId : (job.shareKey?.(payload) ?? null);
