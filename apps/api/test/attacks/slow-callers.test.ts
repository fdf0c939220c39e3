import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const isLong = process.env['LONG_FORM'] !== undefined;
/** `pnpm soak slow-callers` uses all connections that the API accepts, except those of the other callers. */
const callers = isLong ? 1_980 : 120;

const { runtime, make, url: databaseUrl, cookieOf } = await testApp();
const api = await startApi(databaseUrl);

/** Median duration of an ordinary call, milliseconds. */
async function ordinary(cookie: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 60; n += 1) {
    const startedAt = performance.now();
    const answer = await fetch(`${api.url}/auth/me`, { headers: { cookie } });
    await answer.arrayBuffer();
    expect(answer.status).toBe(200);
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b)[30] ?? 0;
}

it(
  'callers that write and read one byte per second do not slow down others, and are disconnected',
  { timeout: 120_000 },
  async () => {
    const user = await make.user();
    const cookie = await cookieOf(user);
    await runtime.database.acrossTenants('a test makes a long list', (tx) =>
      tx.insert(reminders).values(
        Array.from({ length: 500 }, () => ({
          id: newId(),
          tenantId: user.tenantId,
          userId: user.id,
          title: 'A reminder',
          note: 'ä'.repeat(10_000),
          dueAt: new Date(),
          occurrenceId: newId(),
        })),
      ),
    );
    // An account with too many concurrent requests is refused; this test measures other accounts.
    const other = await cookieOf(await make.user());
    await ordinary(other);
    const idle = await ordinary(other);

    // Slow headers, slow bodies, and readers that do not read an answer larger than the kernel's buffers.
    const begins = [
      'GET /auth/me HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      `PATCH /users/me HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`,
      // `Connection: close` ends the connection after a refusal.
      `GET /reminders HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${cookie}\r\n\r\n`,
    ];
    const closed = new Set<Socket>();
    const startedAt = performance.now();
    /** When the last slow writer was disconnected. */
    let lastMs = 0;
    /** The received answer of each reader. */
    const answers = new Map<Socket, string>();
    const sockets = Array.from({ length: callers }, (_, n) => {
      const kind = n % begins.length;
      const socket = api.connect();
      socket.once('close', () => {
        closed.add(socket);
        if (kind < 2) lastMs = performance.now() - startedAt;
      });
      socket.write(begins[kind] ?? '');
      // A reader that does not read never notices the disconnect, so it reads at the end.
      if (kind < 2) socket.resume();
      else socket.setEncoding('latin1');
      return { socket, kind };
    });
    const dripping = setInterval(() => {
      for (const { socket, kind } of sockets) if (kind < 2 && !socket.destroyed) socket.write('a');
    }, 1_000);
    // Accepting two thousand connections takes a while and is over by then.
    await pause(isLong ? 12_000 : 2_000);
    const meanwhile = await ordinary(other);
    expect(api.ended()).toBeNull();
    // A short run on a busy machine gives no reliable timing.
    if (isLong) expect(meanwhile).toBeLessThanOrEqual(idle * 2);
    if (isLong) console.log(`an ordinary call: ${idle.toFixed(1)} ms idle, ${meanwhile.toFixed(1)} ms meanwhile`);

    // Writers are disconnected although they never stop.
    const writers = sockets.filter(({ kind }) => kind < 2);
    await expect.poll(() => writers.every(({ socket }) => closed.has(socket)), { timeout: 60_000 }).toBe(true);
    clearInterval(dripping);
    await pause(Math.max(0, 32_000 - (performance.now() - startedAt)));
    for (const { socket, kind } of sockets) {
      if (kind === 2) socket.on('data', (text) => answers.set(socket, (answers.get(socket) ?? '') + String(text)));
      socket.resume();
    }
    // Readers may take long on a busy machine; those that are still connected get the whole answer.
    await expect.poll(() => closed.size).toBe(sockets.length);
    if (isLong) expect(lastMs).toBeLessThan(37_000);
    if (isLong) console.log(`the last slow writer was disconnected after ${(lastMs / 1_000).toFixed(1)} s`);
    // A reader that did not read gets only the part of the long answer in the kernel's buffers; a refusal is short.
    const long = [...answers.values()].filter((answer) => answer.startsWith('HTTP/1.1 200'));
    expect(long.length).toBeGreaterThan(0);
    for (const answer of long) expect(answer.length).toBeLessThan(Number(/content-length: (\d+)/i.exec(answer)?.[1]));
    expect(await api.health()).toBe(200);
  },
);
