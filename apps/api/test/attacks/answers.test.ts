import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const { runtime, make, url: databaseUrl, cookieOf } = await testApp();

/** An account whose list of reminders is this large. */
async function hoarder(noteLength: number) {
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

const asked = (cookie: string): string => `GET /reminders HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`;

describe.each([300, 10_000])(
  '100 connections that ask for 1,000 notes of %i characters and take nothing',
  async (noteLength) => {
    // How many are refused depends on what the process has done before.
    const api = await startApi(databaseUrl);

    it('do not end the process', async () => {
      const cookie = await cookieOf(await hoarder(noteLength));
      const sockets = Array.from({ length: 100 }, () => {
        const socket = api.connect();
        socket.write(asked(cookie).repeat(4));
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
      // Now they are taken: some are whole, the others were refused.
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
      // And there is room again.
      await expect
        .poll(() => fetch(`${api.url}/auth/me`, { headers: { cookie } }).then(({ status }) => status))
        .toBe(200);
    });
  },
);
