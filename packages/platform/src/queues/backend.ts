import { setTimeout as pause } from 'node:timers/promises';
import type { BackendFactory, IQueueBackend, Job, Queue, Worker, WorkerOptions } from 'bullmq';
import type { QueueName } from '../jobs/job.ts';
import type { Outage } from './outage.ts';
import type { Tally } from './tally.ts';

export type BullJob = Job<unknown, void>;
export type BullQueue = Queue<BullJob>;
export type BullWorker = Worker<unknown, void>;
export type Process = (job: BullJob, token: string) => Promise<void>;
export type ConsumerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>;

/** One process's connections to the queue backend, shared by all queues. */
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

// The product does not read the queues' event streams; this keeps them short.
export const streams = { events: { maxLen: 100 } };

/** BullMQ retries a failed claim of the next job at once. This adds a pause, so that it does not loop while the backend is away. */
export function pausedAfterFailure<Backend extends IQueueBackend, Connection>(
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
