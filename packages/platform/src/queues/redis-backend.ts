import { setTimeout as pause } from 'node:timers/promises';
import { createRedisBackend, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { TimeoutError } from '../timeout.ts';
import { type BackendOptions, type BullQueue, pausedAfterFailure, type QueueBackend, streams } from './backend.ts';
import { tallyRedis } from './tally.ts';

/** Redis: one connection to add jobs, one to finish them, and one per worked queue that waits for the next job. */
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
  // Adding a job fails at once while Redis is away, instead of waiting for its return.
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
