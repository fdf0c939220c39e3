import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { startRedisSentinels } from '@portal/testing/servers/redis-sentinel';
import { serviceBinary } from '@portal/testing/services';
import { defineTenantJob } from '../jobs/job.ts';
import { type Log, openLog } from '../log.ts';
import { Envelope, openQueues } from './queues.ts';
import { RedisAddress } from './redis-address.ts';

const nudgeJob = defineTenantJob({
  name: 'test.nudge',
  queue: 'upkeep',
  payload: z.object({ tenantId: z.uuid() }),
  attempts: 3,
  backoffMs: 20,
  key: ({ tenantId }) => tenantId,
  timeoutMs: 10_000,
});

const openHere = (url: string, log: Log) =>
  openQueues({ redis: RedisAddress.parse(url), databaseUrl: 'postgres://127.0.0.1:1/none', log, process: 'worker' });

describe.skipIf(!serviceBinary('redis-server'))('a Redis that sentinels watch', () => {
  it.each([
    ['hands over to its replica', 'handOver'],
    ['is killed', 'killPrimary'],
    ['hangs', 'freezePrimary'],
  ] as const)('that %s costs no work, and nobody waits for it', { timeout: 60_000 }, async (_what, failOver) => {
    const sentinels = await startRedisSentinels();
    onTestFinished(sentinels.stop);
    const lines: string[] = [];
    const queues = openHere(
      sentinels.url,
      openLog('info', 'worker', { write: (line: string) => void lines.push(line) }),
    );
    const open = new Set<string>();
    const done: string[] = [];
    const consumer = queues.consume('upkeep', {
      async process(bull) {
        const { tenantId } = nudgeJob.payload.parse(Envelope.parse(bull.data).payload);
        if (open.delete(tenantId)) done.push(tenantId);
      },
      onLockLost: () => undefined,
      onAbandoned: () => undefined,
      concurrency: 10,
      lockDuration: 5_000,
      stalledInterval: 1_000,
      runRetryDelay: 200,
    });
    onTestFinished(async () => {
      await consumer.close();
      await queues.close();
    });
    let written = 0;
    let longestMs = 0;
    const nudge = async (tenantId: string) => {
      const startedAt = performance.now();
      await queues.enqueue(nudgeJob, { tenantId });
      longestMs = Math.max(longestMs, performance.now() - startedAt);
    };
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        const id = newId();
        open.add(id);
        written += 1;
        await nudge(id);
        await pause(10);
      }
    })();
    await vi.waitFor(() => expect(done.length).toBeGreaterThan(10), 10_000);
    // The first call loaded the library.
    longestMs = 0;

    await sentinels[failOver]();
    const doneBefore = done.length;
    // Also without a sweep the workers take what is added to the new primary.
    await vi.waitFor(() => expect(done.length).toBeGreaterThan(doneBefore + 10), { timeout: 20_000, interval: 50 });
    isOver = true;
    await writing;
    // A sweep finds what the former primary did not pass on.
    await vi.waitFor(
      async () => {
        for (const id of open) await nudge(id);
        expect(open.size).toBe(0);
      },
      { timeout: 20_000, interval: 500 },
    );
    expect(done).toHaveLength(written);
    expect(new Set(done).size).toBe(written);
    expect(longestMs).toBeLessThan(2_500);
    expect(lines.filter((line) => line.includes('"error"'))).toEqual([]);
    await expect(queues.ping()).resolves.toBeUndefined();
  });

  it('says in the log what is wrong with a password or the name of the primary', { timeout: 60_000 }, async () => {
    const sentinels = await startRedisSentinels();
    onTestFinished(sentinels.stop);
    for (const [parts, reason] of [
      [{ password: 'wrong' }, 'WRONGPASS'],
      [{ sentinelPassword: 'wrong' }, 'WRONGPASS'],
      [{ primary: 'nobody' }, 'No such master'],
    ] as const) {
      const lines: string[] = [];
      const log = openLog('info', 'worker', { write: (line: string) => void lines.push(line) });
      const queues = openHere(sentinels.urlWith(parts), log);
      await expect(queues.ping()).rejects.toThrow();
      await queues.close();
      expect(lines).toEqual([expect.stringContaining(reason)]);
      expect(lines[0]).toContain('the job queue cannot be reached');
    }
  });
});
