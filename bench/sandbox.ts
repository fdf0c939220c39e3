// A thousand tasks of 5 ms in sandbox processes against the same work in one thread, and the delay of the caller's event loop
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
const sandbox = openSandbox({ processes: cores, queueLimit: tasks, tenantQueueLimit: tasks });
const loop = monitorEventLoopDelay({ resolution: 1 });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};
const runAll = (input: Uint8Array, count = tasks) =>
  timed(() =>
    Promise.all(Array.from({ length: count }, (_, n) => sandbox.run(task, input, { tenantId: `${n % cores}` }))),
  );
const runInThread = (input: Uint8Array) =>
  timed(async () => {
    for (let n = 0; n < tasks; n += 1) run(input);
  });

const small = Buffer.alloc(1_000);
await runAll(small, 20);
const times: { sandbox: number[]; thread: number[] } = { sandbox: [], thread: [] };
const delays: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  times.thread.push(await runInThread(small));
  loop.reset();
  loop.enable();
  times.sandbox.push(await runAll(small));
  loop.disable();
  delays.push(loop.percentile(99) / 1e6);
}
report(`${tasks} tasks of 5 ms, times ${cores} cores`, {
  ours: median(times.sandbox) * cores,
  limit: median(times.thread),
  unit: 'ms',
  goal: 'at most 1.5',
});
console.log(`event loop of the caller, p99: ${median(delays).toFixed(1)} ms (at most 20)`);

// Repeats it with messages of 20 MB in each direction.
const large = Buffer.alloc(20 * 1024 * 1024);
await runAll(large, 2);
loop.reset();
loop.enable();
await runAll(large, 20);
loop.disable();
console.log(`the same with messages of 20 MB, p99: ${(loop.percentile(99) / 1e6).toFixed(1)} ms (at most 20)`);
await sandbox.close();
