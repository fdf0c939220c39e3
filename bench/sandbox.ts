// A thousand tasks of 5 ms in processes apart against the same work in one thread, and what the caller's event loop notices of it
import { enableCompileCache } from 'node:module';
import { availableParallelism } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { taskOf } from '@portal/platform/sandbox/task';
import { median, report } from './measure.ts';
import { run } from './work-of-five-ms.ts';

// As `npm start` does.
enableCompileCache();

const tasks = 1_000;
const rounds = 3;
const cores = Math.min(availableParallelism(), 2);
const task = taskOf<typeof run>(new URL('work-of-five-ms.ts', import.meta.url), {
  timeoutMs: 60_000,
  maxMemoryMb: 500,
  maxOutputBytes: 32 * 1024 * 1024,
});
const apart = openSandbox({ processes: cores, queueLimit: tasks, tenantQueueLimit: tasks });
const loop = monitorEventLoopDelay({ resolution: 1 });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};
const runAll = (input: Uint8Array, count = tasks) =>
  timed(() =>
    Promise.all(Array.from({ length: count }, (_, n) => apart.run(task, input, { tenantId: `${n % cores}` }))),
  );
const allHere = (input: Uint8Array) =>
  timed(async () => {
    for (let n = 0; n < tasks; n += 1) run(input);
  });

const small = Buffer.alloc(1_000);
await runAll(small, 20);
const times: { apart: number[]; here: number[] } = { apart: [], here: [] };
const delays: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  times.here.push(await allHere(small));
  loop.reset();
  loop.enable();
  times.apart.push(await runAll(small));
  loop.disable();
  delays.push(loop.percentile(99) / 1e6);
}
report(`${tasks} tasks of 5 ms, times ${cores} cores`, {
  ours: median(times.apart) * cores,
  limit: median(times.here),
  unit: 'ms',
  goal: 'at most 1.5',
});
console.log(`event loop of the caller, p99: ${median(delays).toFixed(1)} ms (at most 20)`);

// The same with messages of 20 MB, each way.
const large = Buffer.alloc(20 * 1024 * 1024);
await runAll(large, 2);
loop.reset();
loop.enable();
await runAll(large, 20);
loop.disable();
console.log(`the same with messages of 20 MB, p99: ${(loop.percentile(99) / 1e6).toFixed(1)} ms (at most 20)`);
await apart.close();
