// 50 downloads of a desktop package of 300 MB at once against a bare Node server piping the same file, and what others notice of it
import { truncate, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeManifest } from '@portal/usecases/desktop/write-manifest';
import {
  alternate,
  benchDatabase,
  benchSettings,
  median,
  memoryMb,
  percentile,
  report,
  startServer,
  stopAll,
} from './measure.ts';

const downloads = 50;
const sizeBytes = 300_000_000;
const rounds = 2;

/** Takes a file without looking at it and answers how many bytes there were. */
const download = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      let bytes = 0;
      if (answer.statusCode !== 200) return reject(new Error(`${url} answered ${answer.statusCode}`));
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length)).once('end', () => resolve(bytes));
      return answer.once('error', reject);
    }).once('error', reject);
  });

const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const timedHealth = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    get(`${url}/health`, { agent }, (answer) => {
      answer.resume().once('end', () => resolve(performance.now() - startedAt));
    }).once('error', reject);
  });

interface Target {
  url: string;
  path: string;
  pid: number | undefined;
  health: number[];
  peakMb: number;
}

/** All downloads at once, GET /health twenty times a second beside them; answers megabytes a second. */
async function round(target: Target): Promise<number> {
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      target.health.push(await timedHealth(target.url));
      target.peakMb = Math.max(target.peakMb, await memoryMb(target.pid));
      await pause(50);
    }
  })();
  const startedAt = performance.now();
  const bytes = await Promise.all(Array.from({ length: downloads }, () => download(target.url + target.path)));
  const seconds = (performance.now() - startedAt) / 1000;
  isOver = true;
  await watching;
  if (bytes.some((one) => one !== sizeBytes)) throw new Error('a download was not whole');
  return (downloads * sizeBytes) / 1e6 / seconds;
}

try {
  const { url, folder } = await benchDatabase();
  const name = 'Portal_1.4.2_amd64.AppImage';
  await writeFile(join(folder, name), '');
  await truncate(join(folder, name), sizeBytes);
  await writeManifest(folder, { version: '1.4.2', channel: 'live', commit: 'bench' }, new Date());
  const settings = { ...benchSettings(url, join(folder, 'data')), DESKTOP_DIR: folder };
  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const bare = await startServer(
    'bench/bare-file-server.ts',
    { BENCH_FILE: join(folder, name) },
    join(folder, 'bare.log'),
  );
  const targetOf = ({ url: base, child }: typeof api, path: string): Target => ({
    url: base,
    path,
    pid: child.pid,
    health: [],
    peakMb: 0,
  });
  const ours = targetOf(api, '/desktop/download/linux-x86_64');
  const limit = targetOf(bare, '/');
  // Once each, so that code and buffers are there before memory is looked at.
  for (const target of [ours, limit]) await download(target.url + target.path);
  const before = await memoryMb(ours.pid);
  const results = await alternate(rounds, { ours: () => round(ours), limit: () => round(limit) });
  report('50 downloads at once', {
    ours: median(results.ours),
    limit: median(results.limit),
    unit: 'MB/s',
    goal: 'at least 0.80',
  });
  report('GET /health meanwhile, p99', {
    ours: percentile(ours.health, 0.99),
    limit: percentile(limit.health, 0.99),
    unit: 'ms',
    goal: 'at most 1.5',
  });
  console.log(
    `memory: from ${before.toFixed(0)} to at most ${ours.peakMb.toFixed(0)} MB, ${(ours.peakMb - before).toFixed(0)} more (at most 32)`,
  );
} finally {
  agent.destroy();
  await stopAll();
}
