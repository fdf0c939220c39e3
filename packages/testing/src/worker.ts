import { createPostgresBackend, Queue } from 'bullmq';
import { queueSchema } from '@portal/db/roles';
import { newId } from '@portal/domain/ids';
import type { QueueName } from '@portal/platform/jobs/job';
import { type WorkerTimings, type RunningWorker, startWorker, usualTimings } from '@portal/platform/jobs/worker';
import type { WorkerParts } from '@portal/platform/jobs/worker-parts';
import { openLog } from '@portal/platform/log';
import { openRuntime, type Runtime } from '@portal/platform/runtime';
import { testConfig } from './runtime.ts';
import { testMatrix } from './test-matrix.ts';

export interface TestWorker {
  runtime: Runtime;
  worker: RunningWorker;
  /** The log of the worker, one object for each line. */
  lines: Record<string, unknown>[];
  /** The metrics of all workers together, as a scraper reads them. */
  figures(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a worker on the database at `url`, as its process would. `stop` also stops the additional workers. */
export function startTestWorker(
  url: string,
  parts: Partial<WorkerParts> & Pick<WorkerParts, 'handlers'>,
  {
    env = {},
    timings = {},
    workers = testMatrix.workers,
  }: { env?: Record<string, string>; timings?: Partial<WorkerTimings>; workers?: number } = {},
): TestWorker {
  const lines: Record<string, unknown>[] = [];
  const log = openLog('debug', 'worker', { write: (line: string) => void lines.push(JSON.parse(line)) });
  const start = () => {
    const runtime = openRuntime(testConfig(url, env), { process: 'worker', log });
    const worker = startWorker(runtime, { schedules: [], ...parts }, { ...usualTimings, ...timings });
    return { runtime, worker, stop: () => worker.stop().then(() => runtime.close()) };
  };
  const { runtime, worker } = start();
  const others = Array.from({ length: workers - 1 }, start);
  const metrics = [runtime, ...others.map((other) => other.runtime)].map((each) => each.metrics);
  const stopAll = async () => void (await Promise.all([worker.stop(), ...others.splice(0).map(({ stop }) => stop())]));
  return {
    runtime,
    worker: { stop: stopAll },
    lines,
    figures: async () => (await Promise.all(metrics.map((each) => each.render()))).map(({ body }) => body).join('\n'),
    async stop() {
      await stopAll();
      await runtime.close();
    },
  };
}

export const jobOrigin = () => ({ requestId: newId(), ip: null, userAgent: null });

/** Empties a queue, as if Redis had lost its data. On PostgreSQL only the owner has the rights for that. */
export async function emptyQueue(ownerUrl: string, env: Record<string, string>, name: QueueName): Promise<void> {
  const redis = env['REDIS_URL'];
  const queue =
    redis === undefined
      ? new Queue(name, { connection: { connectionString: ownerUrl, schema: queueSchema } }, createPostgresBackend)
      : new Queue(name, { connection: { url: redis } });
  await queue.obliterate({ force: true });
  await queue.close();
}
