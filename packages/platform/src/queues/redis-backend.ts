import { setTimeout as pause } from 'node:timers/promises';
import { createRedisBackend, Queue, Worker } from 'bullmq';
import { SECOND } from '@portal/domain/time';
import type { QueueName } from '../jobs/job.ts';
import { TimeoutError } from '../timeout.ts';
import { type BackendOptions, type BullQueue, pausedAfterFailure, type QueueBackend, streams } from './backend.ts';
import type { RedisAddress } from './redis-address.ts';
import { type ClientOptions, openRedis, type RedisClient } from './redis-client.ts';
import { tallyRedis } from './tally.ts';

/** Redis: one connection to add jobs, one to finish them, and one per worked queue that waits for the next job. */
export function openRedisBackend(address: RedisAddress, { process, outage }: BackendOptions): QueueBackend {
  const clients: RedisClient[] = [];
  const connect = (options: ClientOptions): RedisClient => {
    const client = openRedis(address, { connectionName: `portal-${process}`, ...options }, outage);
    clients.push(client);
    return client;
  };
  let producing: RedisClient | undefined;
  // Adding a job fails at once while Redis is away, instead of waiting for its return.
  const producer = () =>
    (producing ??= connect({
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      commandTimeout: 2 * SECOND,
      socketTimeout: 4 * SECOND,
    }));
  let consuming: RedisClient | undefined;
  // A connection that waits for the next job is silent for up to ten seconds.
  const consumer = () => (consuming ??= connect({ maxRetriesPerRequest: null, socketTimeout: 15 * SECOND }));
  const placeOf = (name: QueueName) => (address.kind === 'cluster' ? { prefix: clusterPrefix(name) } : {});

  return {
    openQueue: (name) => new Queue(name, { connection: producer(), streams, ...placeOf(name) }) as BullQueue,
    openWorker: (name, work, options) =>
      new Worker(
        name,
        (job, token = '') => work(job, token),
        { ...options, connection: consumer(), ...placeOf(name) },
        pausedAfterFailure(createRedisBackend),
      ),
    async ping() {
      const client = producer();
      if (client.status !== 'ready') await readyWithin(client, 2 * SECOND);
      await client.ping();
    },
    tally: (queues) => tallyRedis(producer(), queues),
    async close() {
      for (const client of clients) client.disconnect();
    },
  };
}

/** A cluster keeps the keys of a queue together, as its scripts need it, by what stands in braces, and spreads the queues over its nodes. */
const clusterPrefix = (name: QueueName): string => `{portal:${name}}`;

const readyWithin = async (client: RedisClient, ms: number): Promise<void> => {
  const until = Date.now() + ms;
  while (client.status !== 'ready') {
    if (Date.now() > until) throw new TimeoutError(ms);
    await pause(25);
  }
};
