import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { guardedDownload, type OutboundPolicy } from './guarded-fetch.ts';

const routes: Record<string, (...parts: Parameters<RequestListener>) => unknown> = {
  '/hello': (_request, response) => response.end('hello'),
  '/packed': (_request, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('packed')),
  '/bomb': (_request, response) =>
    response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(50_000_000))),
  '/strange': (_request, response) => response.setHeader('content-encoding', 'zstd').end('?'),
  '/missing': (_request, response) => response.writeHead(404).end('not here'),
  '/moved': (_request, response) => response.writeHead(301, { location: '/hello' }).end('moved'),
  '/stalls': (_request, response) => void response.write('beginning'),
  '/breaks-off': (request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => request.socket.destroy());
  },
  '/trickles': (request, response) => {
    const timer = setInterval(() => response.write('x'), 20);
    request.socket.on('close', () => clearInterval(timer));
  },
};
const site = await startHttpServer((request, response) => routes[request.url ?? '']?.(request, response));
const folder = await mkdtemp(join(tmpdir(), 'portal-download-'));
afterAll(() => Promise.all([site.close(), rm(folder, { recursive: true })]));

const policy: OutboundPolicy = { reach: 'private', httpsOnly: false, allowHosts: [] };
const path = join(folder, 'file');
const save = (
  url: string,
  change: { maxBytes?: number; stallMs?: number; timeoutMs?: number; signal?: AbortSignal } = {},
) =>
  guardedDownload(url.startsWith('/') ? `${site.origin}${url}` : url, policy, {
    path,
    maxBytes: 1_000,
    stallMs: 20_000,
    timeoutMs: 60_000,
    ...change,
  });
beforeEach(() => rm(path, { force: true }));

it('a body is saved to a file', async () => {
  expect(await save('/hello')).toMatchObject({ status: 200, sizeBytes: 5 });
  expect(await readFile(path, 'utf8')).toBe('hello');
});

it.each([
  ['/packed', 'packed'],
  ['/moved', 'hello'],
])('the file of %s has the decoded final content', async (url, text) => {
  expect(await save(url)).toMatchObject({ status: 200, sizeBytes: text.length });
  expect(await readFile(path, 'utf8')).toBe(text);
});

it('an answer other than 2xx leaves no file', async () => {
  expect(await save('/missing')).toMatchObject({ status: 404, sizeBytes: null });
  expect(await readdir(folder)).toEqual([]);
});

it.each<[string, Parameters<typeof save>[1], string]>([
  ['/hello', { maxBytes: 4 }, 'too_large'],
  ['/bomb', {}, 'too_large'],
  ['/strange', {}, 'malformed'],
  ['/breaks-off', {}, 'unreachable'],
  ['/stalls', { stallMs: 200 }, 'timeout'],
  ['/trickles', { stallMs: 10_000, timeoutMs: 500 }, 'timeout'],
])('a failure of %s %j leaves no file', async (url, change, reason) => {
  await expect(save(url, change)).rejects.toMatchObject({ name: 'OutboundError', reason });
  expect(await readdir(folder)).toEqual([]);
});

it('the caller can abort the download', async () => {
  const controller = new AbortController();
  const saving = save('/trickles', { signal: controller.signal });
  await expect
    .poll(() =>
      access(path).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  controller.abort(new Error('enough'));
  await expect(saving).rejects.toThrow('enough');
  expect(await readdir(folder)).toEqual([]);
});

it('an existing file stays unchanged', async () => {
  await writeFile(path, 'before');
  await expect(save('/hello')).rejects.toThrow();
  expect(await readFile(path, 'utf8')).toBe('before');
});

it('1 GB takes no more memory than the buffers that V8 lets accumulate, 64 MB', async () => {
  const size = 1024 ** 3;
  // In another process, so that the sender's memory does not count.
  const sender = fork(new URL('../../../testing/src/servers/large-file-server.ts', import.meta.url), [String(size)]);
  const [origin] = (await once(sender, 'message')) as [string];
  // The modules that the first call loads do not count either.
  await save('/hello');
  await rm(path);
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
  try {
    expect(await save(origin, { maxBytes: size, timeoutMs: 300_000 })).toMatchObject({ sizeBytes: size });
    expect((await stat(path)).size).toBe(size);
    expect((peak - before) / 1024 ** 2).toBeLessThan(96);
  } finally {
    clearInterval(watch);
    sender.kill();
  }
}, 300_000);
