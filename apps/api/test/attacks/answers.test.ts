import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const { runtime, make, url: databaseUrl, cookieOf } = await testApp();

/** An account with 1,000 reminders with notes of this length. */
async function userWithLongList(noteLength: number) {
  const user = await make.user();
  await runtime.database.acrossTenants('a test makes a long list', (tx) =>
    tx.insert(reminders).values(
      Array.from({ length: 1_000 }, () => ({
        id: newId(),
        tenantId: user.tenantId,
        userId: user.id,
        title: 'A reminder',
        note: 'ä'.repeat(noteLength),
        dueAt: new Date(),
        occurrenceId: newId(),
      })),
    ),
  );
  return user;
}

const listRequest = (cookie: string): string => `GET /reminders HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`;

describe.each([300, 10_000])(
  '100 connections that request 1,000 notes of %i characters and read nothing',
  async (noteLength) => {
    // A new process, because the number of refusals depends on earlier work.
    const api = await startApi(databaseUrl);

    it('do not end the process', async () => {
      const cookie = await cookieOf(await userWithLongList(noteLength));
      const sockets = Array.from({ length: 100 }, () => {
        const socket = api.connect();
        socket.write(listRequest(cookie).repeat(4));
        return socket;
      });
      let peak = 0;
      for (let round = 0; round < 30; round += 1) {
        await pause(100);
        peak = Math.max(peak, await api.memoryMiB());
      }
      expect(api.ended()).toBeNull();
      expect(peak).toBeLessThan(450);
      expect(await api.health()).toBe(200);
      // Now they read: some answers are complete, the others are refusals.
      const statuses = new Set<string>();
      for (const socket of sockets) {
        socket.setEncoding('latin1').on('data', (chunk: string) => {
          for (const [, status = ''] of chunk.matchAll(/HTTP\/1\.1 (\d+)/g)) statuses.add(status);
        });
        socket.resume();
      }
      await expect.poll(() => statuses.has('200') && (statuses.has('429') || statuses.has('503'))).toBe(true);
      expect(statuses).not.toContain('500');
      for (const socket of sockets) socket.destroy();
      // The capacity is free again.
      await expect
        .poll(() => fetch(`${api.url}/auth/me`, { headers: { cookie } }).then(({ status }) => status))
        .toBe(200);
    });
  },
);
