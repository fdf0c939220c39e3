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
import type { RedisAddress } from './redis-address.ts';
import type { Tally } from './tally.ts';

/** The data of every job in the queue. */
export const Envelope = z.object({
  tenantId: z.uuid().nullable(),
  actorId: z.uuid().nullable(),
  requestId: z.string(),
  runId: z.uuid().nullable(),
  payload: z.unknown(),
});
export type Envelope = z.infer<typeof Envelope>;

export interface PushOptions extends EnqueueOptions {
  /** The request or job that enqueues this one, for the log. */
  origin?: { requestId: string; actorId?: string };
}

export interface Consumer {
  /** Takes no more jobs; resolves when the running ones have ended. */
  close(): Promise<void>;
}

export interface Queues {
  /** Enqueues a job. Never throws, and waits about a second at most; a lost job is counted and logged. */
  enqueue<Job extends AnyJob>(job: Job, payload: PayloadOf<Job>, options?: PushOptions): Promise<void>;
  /** Like `enqueue`, but throws if the queue did not take the job. */
  push<Job extends AnyJob>(job: Job, payload: PayloadOf<Job>, options?: PushOptions): Promise<void>;
  lostNudges(): number;
  counts(): Promise<Record<QueueName, QueueDepth>>;
  /** Jobs by name; in Redis at most 20,000 per state of a queue are counted. */
  tally(): Promise<Tally[]>;
  ping(): Promise<void>;
  queue(name: QueueName): Promise<BullQueue>;
  /** Works a queue until closed; waits for a backend that cannot be reached yet. */
  consume(name: QueueName, options: ConsumerOptions & Processing): Consumer;
  close(): Promise<void>;
}

interface Processing {
  process(job: BullJob, token: string): Promise<void>;
  /** Called with the jobs whose lock this worker has lost: another worker may have them by now. */
  onLockLost(jobIds: string[]): void;
  /** Called for a job that the backend has given up. */
  onAbandoned(job: BullJob, reason: string): void;
}

const enqueueTimeoutMs = SECOND;

/** Finished jobs are kept for operators: successes for a day, failures for a week, both up to a maximum. */
const jobRetention = {
  removeOnComplete: { age: DAY / SECOND, count: 200 },
  removeOnFail: { age: (7 * DAY) / SECOND, count: 500 },
} satisfies JobsOptions;

/**
 * The job queues, in Redis if configured, otherwise in the database. Loads its backend (0.3 s, 30 to 40 MB) and connects on first use, so
 * that an API can answer requests before.
 */
export function openQueues(options: {
  redis: RedisAddress | null;
  databaseUrl: string;
  log: Log;
  process: 'api' | 'worker' | 'script';
}): Queues {
  const { log } = options;
  const outage = watchOutage(log, 'the job queue');
  let opened: Promise<QueueBackend> | undefined;
  const open = (): Promise<QueueBackend> => (opened ??= openBackend());
  async function openBackend(): Promise<QueueBackend> {
    const { process, redis, databaseUrl } = options;
    if (redis === null) {
      const { openPostgresBackend } = await import('./postgres-backend.ts');
      return openPostgresBackend(databaseUrl, { process, outage });
    }
    const { openRedisBackend } = await import('./redis-backend.ts');
    return openRedisBackend(redis, { process, outage });
  }

  const onError = (error: unknown) => {
    if (isConnectionTrouble(error)) outage.failed(error);
    else log.warn({ err: error }, 'the job queue reported an error');
  };

  const queues = new Map<QueueName, BullQueue>();
  async function queue(name: QueueName): Promise<BullQueue> {
    const backend = await open();
    const known = queues.get(name);
    if (known) return known;
    const opening = backend.openQueue(name);
    queues.set(name, opening);
    opening.on('error', onError);
    // BullMQ remembers a failed start for ever, so the next caller must open the queue again.
    opening.waitUntilReady().catch(() => {
      if (queues.get(name) === opening) queues.delete(name);
    });
    return opening;
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
    // Bounded, so that callers do not pile up while Redis has never been reachable.
    await withTimeout(target.waitUntilReady(), enqueueTimeoutMs);
    await target.add(job.name, envelope, {
      ...jobRetention,
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
        made.on('error', onError);
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
            if (!isStopping) onError(error);
          }
          if (isStopping) break;
          await worker.close(true).catch(onError);
          await pause(SECOND);
        }
      })();
      return {
        async close() {
          isStopping = true;
          // If closed before it is ready, the worker would open a connection later and never release it.
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
