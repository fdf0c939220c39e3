import { setTimeout as pause } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { startRedisCluster } from '@portal/testing/servers/redis-cluster';
import { startRedisSentinels } from '@portal/testing/servers/redis-sentinel';
import { trustTestAuthority } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { defineTenantJob, queueNames } from '../jobs/job.ts';
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
    await failOverAtWork(sentinels.url, sentinels[failOver]);
  });

  it('that speaks TLS alone takes jobs once its authority is trusted', { timeout: 60_000 }, async () => {
    const trusted = getCACertificates();
    trustTestAuthority();
    onTestFinished(() => setDefaultCACertificates(trusted));
    const sentinels = await startRedisSentinels({ hasTls: true });
    onTestFinished(sentinels.stop);
    const queues = openHere(sentinels.url, openLog('silent', 'worker'));
    onTestFinished(queues.close);
    await queues.ping();
    await queues.push(nudgeJob, { tenantId: newId() });
    expect((await queues.counts()).upkeep.waiting).toBe(1);

    setDefaultCACertificates(trusted);
    const stranger = openHere(sentinels.url, openLog('silent', 'worker'));
    onTestFinished(stranger.close);
    await expect(stranger.ping()).rejects.toThrow();
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

describe.skipIf(!serviceBinary('redis-server'))('a Redis Cluster', () => {
  it('that loses the primary of a queue costs no work, and nobody waits for it', { timeout: 60_000 }, async () => {
    const cluster = await startRedisCluster();
    onTestFinished(cluster.stop);
    await failOverAtWork(cluster.url, cluster.killPrimary);
  });

  it('keeps the queues apart, so that its nodes share them', { timeout: 60_000 }, async () => {
    const cluster = await startRedisCluster();
    onTestFinished(cluster.stop);
    const queues = openHere(cluster.url, openLog('silent', 'worker'));
    onTestFinished(queues.close);
    for (const name of queueNames) await (await queues.queue(name)).add('test.nudge', {});
    expect((await cluster.keysByPrimary()).filter((keys) => keys > 0).length).toBeGreaterThan(1);
    expect(Object.values(await queues.counts()).map(({ waiting }) => waiting)).toEqual(queueNames.map(() => 1));
  });
});

/** Fails over while jobs are added and worked. Every job is worked once, and adding one takes a bounded time. */
async function failOverAtWork(url: string, failOver: () => Promise<void>): Promise<void> {
  const lines: string[] = [];
  const queues = openHere(url, openLog('info', 'worker', { write: (line: string) => void lines.push(line) }));
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

  await failOver();
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
}
