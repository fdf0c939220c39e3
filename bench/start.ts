// Seconds from `npm start`, npm included, to its first answer, in an empty checkout and warm, and which modules each process loads and why.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { LoadedModule, LoadedProcess } from './loaded-modules.ts';
import { freePort, median } from './measure.ts';

const rounds = Number(process.argv[2] ?? 5);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = await mkdtemp(join(tmpdir(), 'portal-bench-start-'));
const running = new Set<ChildProcess>();

/** Starts everything and stops it again. Returns the times of the start and of the first answer. */
async function start(env: Record<string, string> = {}, cwd = root): Promise<{ from: number; until: number }> {
  const port = await freePort();
  const from = performance.timeOrigin + performance.now();
  const child = spawn('npm', ['start'], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  child.stdout.resume();
  // A signal ends npm at once, but its output closes only when every process behind it has ended.
  const ended = once(child, 'close').then(() => running.delete(child));
  while (!(await answers(port))) {
    if (!running.has(child)) throw new Error('npm start ended unexpectedly');
    await pause(5);
  }
  const until = performance.timeOrigin + performance.now();
  // The worker starts after the API.
  if (env['BENCH_MODULES']) await pause(4_000);
  child.kill('SIGTERM');
  await ended;
  return { from, until };
}

/** Seconds of the first start in an empty checkout of the last commit; fetches what the machine's caches lack. */
async function startCold(): Promise<number> {
  const cwd = join(folder, 'checkout');
  execFileSync('git', ['clone', '--quiet', root, cwd]);
  // Without the Node and the pnpm of this checkout
  const path = process.env['PATH']?.split(delimiter).filter((each) => !each.includes('node_modules'));
  const { from, until } = await start({ PATH: path?.join(delimiter) ?? '', DATA_DIR: join(cwd, '.data') }, cwd);
  return (until - from) / 1_000;
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

/** The package of a module, or our folder. */
function ownerOf(url: string): string {
  if (!url.startsWith('file:')) return 'node';
  const foreign = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return foreign ?? relative(root, fileURLToPath(url)).split('/').slice(0, 2).join('/');
}

/** The nearest file of ours that imports a module, directly or through packages. */
function reasonFor(module: LoadedModule, byUrl: Map<string, LoadedModule>): string {
  let { parent } = module;
  for (let steps = 0; steps < 200 && parent.includes('/node_modules/'); steps += 1)
    parent = byUrl.get(parent)?.parent ?? '';
  return parent.startsWith('file:') ? relative(root, fileURLToPath(parent)) : 'the command line';
}

async function printLoaded(file: string, from: number, until: number): Promise<void> {
  const parts = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LoadedProcess);
  for (const [startedAt, own] of Map.groupBy(parts, (part) => part.startedAt)) {
    const modules = own.flatMap((part) => part.modules);
    const byUrl = new Map(modules.map((module) => [module.url, module]));
    const sinceStart = (at: number) => `${((at - from) / 1_000).toFixed(2)} s`;
    const early = modules.filter(({ at }) => at <= until).length;
    console.log(
      `\n${relative(root, own[0]?.program ?? '')}: started at ${sinceStart(startedAt)}, ${modules.length} modules, ${early} of them before the first answer`,
    );
    const owners = [...Map.groupBy(modules, ({ url }) => ownerOf(url))].map(([owner, theirs]) => ({
      owner,
      count: theirs.length,
      readMs: theirs.reduce((sum, { readMs }) => sum + readMs, 0),
      firstAt: Math.min(...theirs.map(({ at }) => at)),
      lastAt: Math.max(...theirs.map(({ at, readMs }) => at + readMs)),
      reason: theirs[0] ? reasonFor(theirs[0], byUrl) : '',
    }));
    for (const { owner, count, readMs, firstAt, lastAt, reason } of owners
      .toSorted((a, b) => b.readMs - a.readMs)
      .slice(0, 20)) {
      console.log(
        `  ${owner.padEnd(28)} ${String(count).padStart(4)} modules ${readMs.toFixed(0).padStart(5)} ms read, ${sinceStart(firstAt)} to ${sinceStart(lastAt)}, for ${reason}`,
      );
    }
  }
}

try {
  console.log(`cold start to the first answer: ${(await startCold()).toFixed(1)} s (at most 20)`);

  // Twice: the first start creates the database, and the compile cache serves the next one.
  await start();
  await start();
  const modules = join(folder, 'modules.jsonl');
  const loader = pathToFileURL(join(root, 'bench', 'loaded-modules.ts')).href;
  const watched = await start({ BENCH_MODULES: modules, NODE_OPTIONS: `--import ${loader}` });
  await printLoaded(modules, watched.from, watched.until);

  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { from, until } = await start();
    seconds.push((until - from) / 1_000);
  }
  console.log(
    `\nwarm start to the first answer: ${median(seconds).toFixed(2)} s (at most 2.00, aim 1.50) of ${seconds.map((value) => value.toFixed(2)).join(', ')}`,
  );
} finally {
  for (const child of running) child.kill('SIGTERM');
  await Promise.all([...running].map((child) => once(child, 'close')));
  await rm(folder, { recursive: true, force: true });
}
