import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify from 'fastify';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { useZod } from '../zod-app.ts';
import { answerErrors } from './errors.ts';
import { limitLoad } from './load.ts';

const bounds: string[] = [];
beforeEach(() => void bounds.splice(0));
const app = useZod(Fastify({ connectionTimeout: 1_000 }));
limitLoad(app, { countLoad: (bound) => void bounds.push(bound) });
answerErrors(app);
let openedStreams = 0;
let destroyedStreams = 0;
app.get('/large', async () => 'x'.repeat(20 * 1024 * 1024));
app.get('/small', async () => 'x');
let waiting = 0;
app.get('/wait', async () => {
  waiting += 1;
  await pause(1_500);
  waiting -= 1;
  return 'late';
});
let held = Promise.withResolvers<string>();
app.get('/held', () => held.promise);
app.get('/health/ready', () => pause(1_500, 'late'));
app.get('/endless', (_request, reply) => {
  const stream = new Readable({
    read() {
      this.push(Buffer.alloc(64 * 1024));
    },
  });
  openedStreams += 1;
  stream.on('close', () => (destroyedStreams += 1));
  return reply.send(stream);
});
await app.listen({ port: 0, host: '127.0.0.1' });
afterAll(() => app.close());

const { port } = app.server.address() as AddressInfo;
const ask = (...paths: string[]) => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  return socket;
};
const statusOf = async (path: string): Promise<number> => {
  const { status, body } = await fetch(`http://127.0.0.1:${port}${path}`);
  // Left unread, it would count as a stopped reader of a later test.
  await body?.cancel();
  return status;
};

it('disconnects a reader that stops reading an answer or a stream', async () => {
  for (const path of ['/large', '/endless']) {
    const socket = ask(path).pause();
    await expect.poll(() => bounds.includes('reader')).toBe(true);
    bounds.length = 0;
    socket.resume();
    await expect.poll(() => socket.closed).toBe(true);
  }
});

it('waits for a slow handler', async () => {
  // Requests that another test disconnected may still count.
  await expect.poll(() => fetch(`http://127.0.0.1:${port}/wait`).then((answer) => answer.text())).toBe('late');
});

it('limits the unread answers of an address, and frees them afterwards', async () => {
  const sockets = Array.from({ length: 8 }, () => ask('/large').pause());
  await expect.poll(() => bounds.includes('address')).toBe(true);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => statusOf('/large')).toBe(200);
});

it('closes pipelined answers when the connection is lost', async () => {
  const [opened, destroyed] = [openedStreams, destroyedStreams];
  const socket = ask('/wait', '/endless', '/endless');
  await expect.poll(() => openedStreams - opened).toBe(2);
  socket.destroy();
  await expect.poll(() => destroyedStreams - destroyed).toBe(2);
});

it('counts handlers that still work for disconnected callers', async () => {
  held = Promise.withResolvers();
  // What another test left would count at first, and no longer at the end.
  await expect.poll(() => waiting).toBe(0);
  await expect.poll(() => statusOf('/small')).toBe(200);
  bounds.length = 0;
  const sockets = Array.from({ length: 9 }, () => ask(...Array<string>(30).fill('/held')));
  await expect.poll(() => bounds.includes('address')).toBe(true);
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.map((socket) => once(socket, 'close')));
  // The API notices a moment later.
  await pause(200);
  expect(await statusOf('/small')).toBe(429);
  expect(await statusOf('/health')).toBe(404);
  held.resolve('over');
  await expect.poll(() => statusOf('/small')).toBe(200);
});

it('counts health checks separately from all other requests', async () => {
  const sockets = Array.from({ length: 10 }, () => ask(...Array<string>(30).fill('/health/ready')).resume());
  await pause(100);
  expect(await statusOf('/small')).toBe(200);
  for (const socket of sockets) socket.destroy();
});

it('disconnects a caller that pipelines too many requests', async () => {
  const socket = ask(...Array<string>(33).fill('/wait')).resume();
  await expect.poll(() => socket.closed).toBe(true);
  expect(bounds).toContain('pipeline');
});
