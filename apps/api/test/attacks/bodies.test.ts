import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const { app, make, url: databaseUrl, cookieOf, request } = await testApp();
const api = await startApi(databaseUrl);

const oneByteChunks = (count: number): Buffer => Buffer.from('1\r\nx\r\n'.repeat(count));

/** Sends the parts, as far as the server accepts them, and returns the status; 0 if the server closes without one. */
async function send(socket: Socket, ...parts: (string | Buffer)[]): Promise<number> {
  let received = '';
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk.toString();
      if (received.includes('\r\n')) resolve();
    });
    socket.on('close', resolve);
  });
  for (const part of parts) socket.write(part);
  socket.resume();
  await answered;
  socket.destroy();
  return Number(received.split(' ')[1] ?? 0);
}

const head = (line: string, ...headers: string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`;
const chunked = 'Transfer-Encoding: chunked';
const json = 'Content-Type: application/json';

describe('a body of a million one-byte chunks', () => {
  it('without a session is refused, and the process continues', async () => {
    const status = await send(api.connect(), head('POST /auth/login', json, chunked), oneByteChunks(1_050_000));
    expect([413, 0]).toContain(status);
    expect(await api.health()).toBe(200);
    expect(await api.memoryMiB()).toBeLessThan(350);
  });

  it('from an account takes only the memory of its bytes', async () => {
    const cookie = `Cookie: ${await cookieOf(await make.user())}`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        send(api.connect(), head('PATCH /users/me', json, chunked, cookie), oneByteChunks(250_000), '0\r\n\r\n'),
      ),
    );
    // On a busy machine the session check may time out, but every sender gets an answer.
    for (const status of answers) expect([400, 503]).toContain(status);
    expect(await api.health()).toBe(200);
    expect(await api.memoryMiB()).toBeLessThan(350);
  });

  it('as an upload takes only the memory of its bytes', async () => {
    const cookie = `Cookie: ${await cookieOf(await make.user())}`;
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        send(
          api.connect(),
          head('POST /users/me/avatar', 'Content-Type: multipart/form-data; boundary=b', chunked, cookie),
          `${part.length.toString(16)}\r\n${part}\r\n`,
          oneByteChunks(250_000),
          '7\r\n\r\n--b--\r\n0\r\n\r\n',
        ),
      ),
    );
    // On a busy machine the session check may time out, but every sender gets an answer.
    for (const status of answers) expect([400, 503]).toContain(status);
    expect(await api.health()).toBe(200);
    expect(await api.memoryMiB()).toBeLessThan(350);
  });
});

it('320 connections with a body of 1 MiB each stay below the common memory limit', async () => {
  const cookies = await Promise.all(Array.from({ length: 20 }, async () => cookieOf(await make.user())));
  const body = Buffer.alloc(1024 * 1024, '[');
  const sockets = Array.from({ length: 320 }, (_, index) => {
    const socket = api.connect();
    const cookie = `Cookie: ${cookies[index % cookies.length]}`;
    // Without the last byte, so that the server keeps waiting.
    socket.write(head('PATCH /users/me', json, `Content-Length: ${body.length + 1}`, cookie));
    socket.write(body);
    return socket;
  });
  let peak = 0;
  for (let round = 0; round < 30; round += 1) {
    await pause(100);
    peak = Math.max(peak, await api.memoryMiB());
  }
  expect(peak).toBeLessThan(400);
  expect(await api.health()).toBe(200);
  const closed = sockets.map(async (socket) => {
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
  });
  await Promise.all(closed);
  // Their memory is free again.
  await expect
    .poll(async () => {
      const payload = '{"accentColor":"#0f766e"}';
      const headers = { cookie: cookies[0] ?? '', 'content-type': 'application/json' };
      return (await fetch(`${api.url}/users/me`, { method: 'PATCH', headers, body: payload })).status;
    })
    .toBe(200);
});

describe('an open route', () => {
  const open = app.routeList.filter(({ method, config }) => method === 'POST' && config.access.kind === 'open');

  it('accepts a body of 16 KiB', async () => {
    expect(open.length).toBeGreaterThan(2);
    for (const { url } of open) {
      const post = (size: number) =>
        request({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload: '"'.padEnd(size) });
      const [most, more] = [await post(16 * 1024), await post(16 * 1024 + 1)];
      expect([url, most.statusCode === 413, more.statusCode]).toEqual([url, false, 413]);
    }
  });

  it('accepts no larger body without Content-Length', async () => {
    const chunk = `4001\r\n${'x'.repeat(0x4001)}\r\n`;
    expect(await send(api.connect(), head('POST /auth/login', json, chunked), chunk)).toBe(413);
  });
});
