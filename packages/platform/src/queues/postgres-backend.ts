import { createPostgresBackend, type PgPool, Queue, Worker } from 'bullmq';
import { openQueuePool } from '@portal/db/queue-pool';
import { queueNames } from '../jobs/job.ts';
import {
  type BackendOptions,
  type BullQueue,
  type BullWorker,
  pausedAfterFailure,
  type QueueBackend,
  streams,
} from './backend.ts';
import { tallyPostgres } from './tally.ts';

/** PostgreSQL: one pool for everything; each worked queue holds one connection to listen for new jobs. */
export function openPostgresBackend(url: string, { process, outage }: BackendOptions): QueueBackend {
  const pool = openQueuePool({
    url,
    // Without spare connections, listeners could take all of them and wait for each other.
    max: process === 'worker' ? queueNames.length + 3 : 2,
    applicationName: `portal-${process}-queue`,
    onConnectionLost: (error) => outage.failed(error),
  });
  // BullMQ does not get the pool itself: it would add a listener per opened queue and never remove it.
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
