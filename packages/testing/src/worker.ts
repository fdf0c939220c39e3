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
  /** What the worker has logged, one object a line. */
  lines: Record<string, unknown>[];
  /** What all workers together have counted, as a scraper reads it. */
  figures(): Promise<string>;
  stop(): Promise<void>;
}

/** A worker as its own process would run one, on the database at `url`; further ones beside it end with it. */
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

/** Empties a queue, as a Redis that lost its data would. On PostgreSQL that takes what only the owner may do. */
export async function emptyQueue(ownerUrl: string, env: Record<string, string>, name: QueueName): Promise<void> {
  const redis = env['REDIS_URL'];
  const queue =
    redis === undefined
      ? new Queue(name, { connection: { connectionString: ownerUrl, schema: queueSchema } }, createPostgresBackend)
      : new Queue(name, { connection: { url: redis } });
  await queue.obliterate({ force: true });
  await queue.close();
}
