import { setTimeout as pause } from 'node:timers/promises';
import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { DAY, SECOND } from '@portal/domain/time';
import { type AnyJob, type EnqueueOptions, type PayloadOf, queueNames, type QueueName } from '../jobs/job.ts';
import type { Log } from '../log.ts';
import type { QueueDepth } from '../metrics.ts';
import { withTimeout, TimeoutError } from '../timeout.ts';
import type { BullJob, BullQueue, BullWorker, ConsumerOptions, QueueBackend } from './backend.ts';
import { isConnectionTrouble, watchOutage } from './outage.ts';
import type { Tally } from './tally.ts';

/** What travels with every job. */
export const Envelope = z.object({
  tenantId: z.uuid().nullable(),
  actorId: z.uuid().nullable(),
  requestId: z.string(),
  runId: z.uuid().nullable(),
  payload: z.unknown(),
});
export type Envelope = z.infer<typeof Envelope>;

export interface PushOptions extends EnqueueOptions {
  /** The request or job that asked for this one, for the log. */
  origin?: { requestId: string; actorId?: string };
}

export interface Consumer {
  /** Takes no further job and resolves when those at work have ended. */
  close(): Promise<void>;
}

export interface Queues {
  /** Hands a job over. Never throws and waits about a second at most; a lost one is counted and logged. */
  enqueue<Job extends AnyJob>(job: Job, payload: PayloadOf<Job>, options?: PushOptions): Promise<void>;
  /** The same for a caller that must know: throws when the queue did not take it. */
  push<Job extends AnyJob>(job: Job, payload: PayloadOf<Job>, options?: PushOptions): Promise<void>;
  lostNudges(): number;
  counts(): Promise<Record<QueueName, QueueDepth>>;
  /** Jobs of each name; in Redis not told of more than 20,000 in one state of one queue. */
  tally(): Promise<Tally[]>;
  ping(): Promise<void>;
  queue(name: QueueName): Promise<BullQueue>;
  /** Works a queue until closed, whether or not the backend is there yet. */
  consume(name: QueueName, options: ConsumerOptions & Processing): Consumer;
  close(): Promise<void>;
}

interface Processing {
  process(job: BullJob, token: string): Promise<void>;
  /** Told which jobs this worker holds no longer: another one may be at them by now. */
  onLockLost(jobIds: string[]): void;
  /** Told of a job the backend gave up by itself. */
  onAbandoned(job: BullJob, reason: string): void;
}

const enqueueTimeoutMs = SECOND;

/** Jobs kept for operators to look at: a day of successes, a week of failures, both bounded. */
const kept = {
  removeOnComplete: { age: DAY / SECOND, count: 200 },
  removeOnFail: { age: (7 * DAY) / SECOND, count: 500 },
} satisfies JobsOptions;

/**
 * The job queues, in Redis where one is configured, else in the database. Opens connections on first use, and loads the one
 * backend it has then, 0.3 s and 30 to 40 MB: an API answers people before that.
 */
export function openQueues(options: {
  redisUrl: string | null;
  databaseUrl: string;
  log: Log;
  process: 'api' | 'worker' | 'script';
}): Queues {
  const { log } = options;
  const outage = watchOutage(log, 'the job queue');
  let opened: Promise<QueueBackend> | undefined;
  const open = (): Promise<QueueBackend> => (opened ??= openBackend());
  async function openBackend(): Promise<QueueBackend> {
    const { process, redisUrl, databaseUrl } = options;
    if (redisUrl === null) {
      const { openPostgresBackend } = await import('./postgres-backend.ts');
      return openPostgresBackend(databaseUrl, { process, outage });
    }
    const { openRedisBackend } = await import('./redis-backend.ts');
    return openRedisBackend(redisUrl, { process, outage });
  }

  const trouble = (error: unknown) => {
    if (isConnectionTrouble(error)) outage.failed(error);
    else log.warn({ err: error }, 'the job queue reported an error');
  };

  const queues = new Map<QueueName, BullQueue>();
  async function queue(name: QueueName): Promise<BullQueue> {
    const backend = await open();
    const known = queues.get(name);
    if (known) return known;
    const made = backend.openQueue(name);
    queues.set(name, made);
    made.on('error', trouble);
    // Whether it became ready is remembered for good, so one that did not is made anew by the next caller.
    made.waitUntilReady().catch(() => {
      if (queues.get(name) === made) queues.delete(name);
    });
    return made;
  }

  async function push<Job extends AnyJob>(
    job: Job,
    payload: PayloadOf<Job>,
    { origin, runId, delayMs }: PushOptions = {},
  ): Promise<void> {
    const envelope: Envelope = {
      tenantId: job.scope === 'tenant' ? (payload as { tenantId: string }).tenantId : null,
      actorId: origin?.actorId ?? null,
      requestId: origin?.requestId ?? newId(),
      runId: runId ?? null,
      payload: z.encode(job.payload, payload),
    };
    const target = await queue(job.queue);
    // Bounded here, so that callers of a Redis that has never been there do not pile up until it is.
    await withTimeout(target.waitUntilReady(), enqueueTimeoutMs);
    await target.add(job.name, envelope, {
      ...kept,
      jobId: newId(),
      deduplication: { id: `${job.name}/${job.key(payload)}`, keepLastIfActive: true },
      attempts: job.attempts,
      backoff: { type: 'exponential', delay: job.backoffMs, jitter: 0.25 },
      delay: delayMs ?? 0,
      stackTraceLimit: 5,
      sizeLimit: 64 * 1024,
    });
    outage.passed();
  }

  let lost = 0;
  let isClosing = false;

  return {
    queue,
    push,
    async enqueue(job, payload, pushOptions) {
      try {
        await open();
        await withTimeout(push(job, payload, pushOptions), enqueueTimeoutMs);
      } catch (error) {
        lost += 1;
        const away = isConnectionTrouble(error) || error instanceof TimeoutError;
        const facts = { job: job.name, requestId: pushOptions?.origin?.requestId };
        if (away)
          log.warn(
            { ...facts, reason: error instanceof Error ? error.message : null },
            'a job could not be handed to the queue; a sweep finds its row',
          );
        else log.error({ ...facts, err: error }, 'a job could not be handed to the queue');
      }
    },
    lostNudges: () => lost,
    async counts() {
      const all = await Promise.all(
        queueNames.map(async (name) => {
          const target = await queue(name);
          await target.waitUntilReady();
          const {
            waiting = 0,
            active = 0,
            delayed = 0,
            failed = 0,
          } = await target.getJobCounts('waiting', 'active', 'delayed', 'failed');
          return [name, { waiting, active, delayed, failed }] as const;
        }),
      );
      return Object.fromEntries(all) as Record<QueueName, QueueDepth>;
    },
    async tally() {
      const backend = await open();
      const all = await Promise.all(queueNames.map(queue));
      await Promise.all(all.map((each) => each.waitUntilReady()));
      return backend.tally(all);
    },
    ping: async () => (await open()).ping(),
    consume(name, { process, onLockLost, onAbandoned, ...workerOptions }) {
      let worker: BullWorker | undefined;
      let isStopping = false;
      const openWorker = async () => {
        const backend = await open();
        const made = backend.openWorker(name, process, { ...workerOptions, autorun: false });
        made.on('error', trouble);
        made.on('lockRenewalFailed', onLockLost);
        made.on('failed', (job, error) => {
          if (job?.deferredFailure) onAbandoned(job, error.message);
        });
        return made;
      };
      const working = (async () => {
        while (!isStopping) {
          worker = await openWorker();
          try {
            await worker.waitUntilReady();
            outage.passed();
            if (!isStopping) await worker.run();
          } catch (error) {
            if (!isStopping) trouble(error);
          }
          if (isStopping) break;
          await worker.close(true).catch(trouble);
          await pause(SECOND);
        }
      })();
      return {
        async close() {
          isStopping = true;
          // Closed before it is ready, it would take a connection for good a moment later.
          await withTimeout(worker?.waitUntilReady() ?? working, 2 * SECOND).catch(() => undefined);
          await worker?.close();
          await working;
        },
      };
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      if (!opened) return;
      const backend = await opened;
      await Promise.allSettled([...queues.values()].map((each) => each.close()));
      await backend.close();
    },
  };
}
