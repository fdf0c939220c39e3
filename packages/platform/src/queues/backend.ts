import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type Job,
  type PgPool,
  Queue,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import { openQueuePool } from '@portal/db/queue-pool';
import { queueNames, type QueueName } from '../jobs/job.ts';
import { TimeoutError } from '../timeout.ts';
import type { Outage } from './outage.ts';
import { type Tally, tallyPostgres, tallyRedis } from './tally.ts';

export type BullJob = Job<unknown, void>;
export type BullQueue = Queue<BullJob>;
export type BullWorker = Worker<unknown, void>;
export type Process = (job: BullJob, token: string) => Promise<void>;
export type ConsumerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>;

/** One process's connections to wherever the queues live. All queues share them. */
export interface QueueBackend {
  openQueue(name: QueueName): BullQueue;
  openWorker(name: QueueName, process: Process, options: ConsumerOptions): BullWorker;
  ping(): Promise<void>;
  tally(queues: BullQueue[]): Promise<Tally[]>;
  close(): Promise<void>;
}

export interface BackendOptions {
  process: 'api' | 'worker' | 'script';
  outage: Outage;
}

// Nobody listens to the queues' event streams; this keeps them short.
const streams = { events: { maxLen: 100 } };

/** Redis: one connection for whoever adds jobs, one for whoever finishes them, and one per worked queue that waits for the next. */
export function openRedisBackend(url: string, { process, outage }: BackendOptions): QueueBackend {
  const retryStrategy = (times: number) => Math.min(100 * 2 ** times, 2_000);
  const clients: Redis[] = [];
  const connect = (options: {
    maxRetriesPerRequest: number | null;
    enableOfflineQueue?: boolean;
    commandTimeout?: number;
  }) => {
    const client = new Redis(url, {
      retryStrategy,
      connectTimeout: 5_000,
      connectionName: `portal-${process}`,
      ...options,
    });
    client.on('error', (error) => outage.failed(error));
    client.on('ready', () => outage.passed());
    clients.push(client);
    return client;
  };
  let producing: Redis | undefined;
  // A caller who adds a job learns at once that Redis is away, instead of queueing behind its return.
  const producer = () =>
    (producing ??= connect({ maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: 2_000 }));
  let consuming: Redis | undefined;
  const consumer = () => (consuming ??= connect({ maxRetriesPerRequest: null }));

  return {
    openQueue: (name) => new Queue(name, { connection: producer(), streams }) as BullQueue,
    openWorker: (name, work, options) =>
      new Worker(
        name,
        (job, token = '') => work(job, token),
        { ...options, connection: consumer() },
        pausedAfterFailure(createRedisBackend),
      ),
    async ping() {
      const client = producer();
      if (client.status !== 'ready') await readyWithin(client, 2_000);
      await client.ping();
    },
    tally: (queues) => tallyRedis(producer(), queues),
    async close() {
      for (const client of clients) client.disconnect();
    },
  };
}

const readyWithin = async (client: Redis, ms: number): Promise<void> => {
  const until = Date.now() + ms;
  while (client.status !== 'ready') {
    if (Date.now() > until) throw new TimeoutError(ms);
    await pause(25);
  }
};

/** PostgreSQL: one pool for everything; each worked queue keeps one of its connections to be told of new jobs. */
export function openPostgresBackend(url: string, { process, outage }: BackendOptions): QueueBackend {
  const pool = openQueuePool({
    url,
    // With less than this beyond the listening ones, listeners could take every connection and wait for each other.
    max: process === 'worker' ? queueNames.length + 3 : 2,
    applicationName: `portal-${process}-queue`,
    onConnectionLost: (error) => outage.failed(error),
  });
  // What BullMQ gets is not the pool itself: it would add a listener for each queue ever opened and never take one off.
  const connection = () =>
    ({
      options: pool.options,
      connect: () => pool.connect(),
      query: async (text: string, values: unknown[]) => {
        const result = await pool.query(text, values);
        outage.passed();
        return result;
      },
      end: async () => undefined,
      on: () => undefined,
    }) as unknown as PgPool;

  return {
    openQueue: (name) =>
      new Queue(name, { connection: connection(), streams }, createPostgresBackend) as unknown as BullQueue,
    openWorker: (name, work, options) =>
      new Worker(
        name,
        (job, token = '') => work(job, token),
        { ...options, connection: connection() },
        pausedAfterFailure(createPostgresBackend),
      ) as unknown as BullWorker,
    ping: async () => void (await pool.query('select 1')),
    tally: () => tallyPostgres(pool),
    close: () => pool.end(),
  };
}

/** A worker asks for its next job again at once when asking failed. This keeps it from doing so without a breath while the backend is away. */
function pausedAfterFailure<Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
): BackendFactory<Backend, Connection> {
  return (name, options, extra) => {
    const backend = factory(name, options, extra);
    const claim = backend.moveToActive.bind(backend);
    backend.moveToActive = async (...args: Parameters<typeof claim>) => {
      try {
        return await claim(...args);
      } catch (error) {
        await pause(500);
        throw error;
      }
    };
    return backend;
  };
}
