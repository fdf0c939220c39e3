import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { migrateDatabase } from '@portal/db/migrate';
import { noSources } from '@portal/testing/no-sources';
import { heap } from '@portal/testing/program';
import { startTestServer } from '@portal/testing/server';

export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

export const percentile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/** Growth per value: the slope of the least squares line. */
export function slope(values: number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [rise, run] = values.reduce(
    ([up, along], value, n) => [up + (n - middle) * (value - mean), along + (n - middle) ** 2],
    [0, 0],
  );
  return rise / run;
}

/** Runs the measurements in turn, A B A B …, so that changes in the machine's speed affect all of them. Returns the values of each. */
export async function alternate<Name extends string>(
  rounds: number,
  measurements: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(measurements) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) results[name].push(await measurements[name]());
  }
  return results;
}

/** Prints our figure, the limit measured in the same run, their ratio and its goal. */
export function report(what: string, figures: { ours: number; limit: number; unit: string; goal: string }): void {
  const show = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });
  console.log(
    `${what}: ours ${show(figures.ours)} ${figures.unit}, limit ${show(figures.limit)} ${figures.unit}, ratio ${(figures.ours / figures.limit).toFixed(2)} (${figures.goal})`,
  );
}

const stops: (() => Promise<unknown>)[] = [];

/** Stops everything a benchmark started, last first. */
export async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).toReversed()) await stop();
}

/** Starts a migrated PostgreSQL for this benchmark, with the durability of a deployed one. */
export async function benchDatabase(memory: { sharedBuffers?: string } = {}): Promise<{ url: string; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-bench-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startTestServer({ durable: true, ...memory });
  stops.push(() => postgres.stop());
  await migrateDatabase(postgres.url);
  return { url: postgres.url, folder };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Settings of the apps for a benchmark, with throw-away keys. */
export const benchSettings = (databaseUrl: string, dataDir: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDir,
  SESSION_SECRET: `bench:${Buffer.alloc(32, 7).toString('base64')}`,
  SECRETS_KEYS: `bench:${Buffer.alloc(32, 8).toString('base64')}`,
  ...noSources,
});

/** Starts a program as a process with its output in a file, and waits until it answers on its port. */
export async function startServer(
  program: string,
  env: Record<string, string>,
  logFile: string,
): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [...heap.api, program], {
    env: { PATH: process.env['PATH'], PORT: String(port), ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  stops.push(() => stopProcess(child));
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}; see ${logFile}`);
    const answer = await fetch(`${url}/health`).catch(() => null);
    if (answer?.ok) return { url, child };
    await pause(50);
  }
  throw new Error(`${program} did not answer`);
}

/** Starts the worker as a process with its output in a file, and waits until it is ready. */
export async function startWorker(env: Record<string, string>, logFile: string): Promise<ChildProcess> {
  const log = openSync(logFile, 'a');
  const child = fork('apps/worker/src/main.ts', {
    env: { PATH: process.env['PATH'], ...env },
    execArgv: heap.worker,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  stops.push(() => stopProcess(child));
  await once(child, 'message');
  return child;
}

const agent = new Agent({ keepAlive: true });
stops.push(async () => agent.destroy());

/** Milliseconds a GET of the API takes until its whole answer is received; the answer is discarded. */
export const timed = (url: string, cookie: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    get(url, { agent, headers: { cookie } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url} answered ${answer.statusCode}`));
      answer.resume().once('end', () => resolve(performance.now() - startedAt));
    }).once('error', reject);
  });

/** Pause between two calls of the API. */
const everyMs = 20;

/** Calls the API until `work` ends. Returns the milliseconds of each call. */
export async function during(work: Promise<unknown>, url: string, cookie: string): Promise<number[]> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  const times: number[] = [];
  while (!isOver) {
    times.push(await timed(url, cookie));
    await pause(everyMs);
  }
  await over;
  return times;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([ended, pause(10_000)]);
  child.kill('SIGKILL');
}

/** Resident memory of a process in MB; NaN if it is unknown. */
export async function memoryMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / 1e6;
}

/** Opens the inspector of a process that was started with `--inspect` and this port. */
export async function openInspector(port: number): Promise<{ heapMb(): Promise<number>; close(): void }> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  const ask = async (method: string): Promise<{ usedSize: number }> => {
    const answered = once(socket, 'message');
    socket.send(JSON.stringify({ id: 1, method }));
    const [{ data }] = (await answered) as [{ data: string }];
    return (JSON.parse(data) as { result: { usedSize: number } }).result;
  };
  return {
    /** Used heap after a garbage collection, in MB. */
    async heapMb() {
      await ask('HeapProfiler.collectGarbage');
      return (await ask('Runtime.getHeapUsage')).usedSize / 1e6;
    },
    close: () => socket.close(),
  };
}
