import { setTimeout as pause } from 'node:timers/promises';
import { UnrecoverableError } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { Instant } from '@portal/domain/time';
import { testDatabase } from '@portal/testing/database';
import { describeOnEachKindOfQueue } from '@portal/testing/queue-backends';
import { startRedis } from '@portal/testing/servers/redis';
import { openTcpGate } from '@portal/testing/servers/tcp-gate';
import { serviceBinary } from '@portal/testing/services';
import { defineTenantJob } from '../jobs/job.ts';
import { openLog } from '../log.ts';
import type { BullJob } from './backend.ts';
import { type Consumer, Envelope, openQueues, type Queues } from './queues.ts';
import { RedisAddress } from './redis-address.ts';

const log = openLog('silent', 'script');

const countJob = defineTenantJob({
  name: 'test.count',
  queue: 'upkeep',
  payload: z.object({ tenantId: z.uuid(), n: z.number(), at: Instant.optional() }),
  attempts: 3,
  backoffMs: 20,
  key: ({ tenantId }) => tenantId,
  timeoutMs: 10_000,
});

const payloadOf = (bull: BullJob) => countJob.payload.parse(Envelope.parse(bull.data).payload);

const workOn = (queues: Queues, process: (bull: BullJob) => Promise<void>): Consumer =>
  queues.consume('upkeep', {
    process,
    onLockLost: () => undefined,
    onAbandoned: () => undefined,
    concurrency: 10,
    lockDuration: 5_000,
    stalledInterval: 2_000,
    runRetryDelay: 200,
  });

describeOnEachKindOfQueue('a queue', (env) => {
  const database = testDatabase();
  const open: { close(): Promise<void> }[] = [];
  const openHere = async (): Promise<Queues> => {
    const { url } = await database;
    const queues = openQueues({
      redis: RedisAddress.optional().parse(env['REDIS_URL']) ?? null,
      databaseUrl: url,
      log,
      process: 'worker',
    });
    open.push(queues);
    return queues;
  };
  const work = (queues: Queues, process: (bull: BullJob) => Promise<void>) => {
    const consumer = workOn(queues, process);
    open.push(consumer);
    return consumer;
  };
  // Every test finds the queue empty, in whichever order they run.
  beforeEach(async () => {
    const queue = await (await openHere()).queue('upkeep');
    await queue.drain(true);
    await queue.clean(0, 1_000, 'failed');
  });
  // On a cluster, BullMQ now and then waits for a connection that is gone already; a worker ends without it.
  const isCluster = () => env['REDIS_URL']?.includes('+cluster:') ?? false;
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) {
      if (isCluster()) await Promise.race([each.close(), pause(3_000)]);
      else await each.close();
    }
  });

  it('carries payload and origin to the worker', async () => {
    const queues = await openHere();
    const tenantId = newId();
    const actorId = newId();
    const at = new Date('2026-11-20T08:30:00Z');
    await queues.enqueue(countJob, { tenantId, n: 1, at }, { origin: { requestId: 'request-1', actorId } });
    const seen: BullJob[] = [];
    work(queues, async (bull) => void seen.push(bull));
    await vi.waitFor(() => expect(seen).toHaveLength(1), 20_000);
    const [bull] = seen;
    expect(Envelope.parse(bull?.data)).toMatchObject({ tenantId, actorId, requestId: 'request-1', runId: null });
    expect(bull && payloadOf(bull)).toEqual({ tenantId, n: 1, at });
  });

  it('runs one job per key at a time across workers, and exactly one more for all nudges meanwhile', async () => {
    const [queues, elsewhere] = [await openHere(), await openHere()];
    const tenantId = newId();
    const seen: number[] = [];
    let running = 0;
    let maxAtOnce = 0;
    const gate = Promise.withResolvers<void>();
    for (const each of [queues, elsewhere]) {
      work(each, async (bull) => {
        running += 1;
        maxAtOnce = Math.max(maxAtOnce, running);
        seen.push(payloadOf(bull).n);
        await gate.promise;
        running -= 1;
      });
    }
    await queues.enqueue(countJob, { tenantId, n: 1 });
    await vi.waitFor(() => expect(seen).toEqual([1]), 20_000);
    await Promise.all([2, 3, 4, 5].map((n) => (n % 2 ? queues : elsewhere).enqueue(countJob, { tenantId, n })));
    await queues.enqueue(countJob, { tenantId, n: 6 });
    gate.resolve();
    // The payload of the last nudge counts.
    await vi.waitFor(() => expect(seen).toEqual([1, 6]), 20_000);
    await vi.waitFor(
      async () => expect(await queues.counts()).toMatchObject({ upkeep: { waiting: 0, active: 0, delayed: 0 } }),
      20_000,
    );
    expect(maxAtOnce).toBe(1);
    expect(seen).toEqual([1, 6]);
  });

  it('merges many nudges into one waiting job', async () => {
    const queues = await openHere();
    const tenantId = newId();
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => queues.enqueue(countJob, { tenantId, n })));
    expect((await queues.counts()).upkeep.waiting).toBe(1);
    const seen: number[] = [];
    work(queues, async (bull) => void seen.push(payloadOf(bull).n));
    await vi.waitFor(
      async () => expect((await queues.counts()).upkeep).toMatchObject({ waiting: 0, active: 0 }),
      20_000,
    );
    expect(seen).toHaveLength(1);
  });

  it('loses no nudge that arrives while the previous job ends', async () => {
    const queues = await openHere();
    const tenantId = newId();
    let written = 0;
    let found = 0;
    work(queues, async () => {
      found = written;
    });
    for (let n = 1; n <= 100; n++) {
      written = n;
      await queues.enqueue(countJob, { tenantId, n });
      if (n % 10 === 0) await pause(n % 7);
    }
    await vi.waitFor(() => expect(found).toBe(100), 20_000);
  });

  it('works jobs of different keys side by side', async () => {
    const queues = await openHere();
    let running = 0;
    const together = Promise.withResolvers<void>();
    work(queues, async () => {
      running += 1;
      if (running === 3) together.resolve();
      await together.promise;
    });
    await Promise.all([1, 2, 3].map((n) => queues.enqueue(countJob, { tenantId: newId(), n })));
    await together.promise;
    expect(running).toBe(3);
  });

  it('retries a failed job after a pause, as often as its definition says, and an unrecoverable one never', async () => {
    const queues = await openHere();
    const [again, never] = [newId(), newId()];
    const tries: string[] = [];
    work(queues, async (bull) => {
      const { tenantId } = payloadOf(bull);
      tries.push(tenantId);
      throw tenantId === never ? new UnrecoverableError('no') : new Error('not now');
    });
    await queues.enqueue(countJob, { tenantId: again, n: 1 });
    await queues.enqueue(countJob, { tenantId: never, n: 1 });
    await vi.waitFor(async () => expect((await queues.counts()).upkeep.failed).toBe(2), 20_000);
    expect(tries.filter((id) => id === again)).toHaveLength(3);
    expect(tries.filter((id) => id === never)).toHaveLength(1);
    await queues.enqueue(countJob, { tenantId: never, n: 2 });
    await vi.waitFor(() => expect(tries.filter((id) => id === never)).toHaveLength(2), 20_000);
  });

  it('keeps a bounded number of finished jobs', async () => {
    const queues = await openHere();
    // A job that loses its lock on a busy machine runs twice.
    const done = new Set<string>();
    work(queues, async (bull) => void done.add(payloadOf(bull).tenantId));
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => queues.push(countJob, { tenantId: newId(), n })));
    }
    await vi.waitFor(() => expect(done.size).toBe(250), 20_000);
    // Two hundred, plus a few that end at the same time.
    await vi.waitFor(
      async () => expect(await (await queues.queue('upkeep')).getCompletedCount()).toBeLessThanOrEqual(210),
      20_000,
    );
  });

  it('tells how many jobs of each name wait', async () => {
    const queues = await openHere();
    for (const n of [1, 2, 3]) await queues.enqueue(countJob, { tenantId: newId(), n });
    expect(await queues.tally()).toContainEqual({
      queue: 'upkeep',
      name: countJob.name,
      state: 'waiting',
      count: 3,
    });
  });

  it('answers a ping', async () => {
    const queues = await openHere();
    await expect(queues.ping()).resolves.toBeUndefined();
  });

  it('refuses a payload that is not the job’s without throwing, and counts it', async () => {
    const queues = await openHere();
    await queues.enqueue(countJob, { tenantId: 'nobody', n: 1 });
    expect(queues.lostNudges()).toBe(1);
  });
});

describe('an unreachable queue', () => {
  /** Runs an outage; the arguments cut and restore the connection to the queue. */
  async function goThroughOutage(
    queues: Queues,
    cut: () => Promise<void>,
    restore: () => Promise<void>,
  ): Promise<void> {
    const seen: number[] = [];
    const consumer = workOn(queues, async (bull) => void seen.push(payloadOf(bull).n));
    try {
      await queues.enqueue(countJob, { tenantId: newId(), n: 1 });
      await vi.waitFor(() => expect(seen).toEqual([1]), 20_000);
      await cut();
      await pause(300);
      for (const n of [2, 3]) await queues.enqueue(countJob, { tenantId: newId(), n });
      expect(queues.lostNudges()).toBe(2);
      await expect(queues.ping()).rejects.toThrow();
      await restore();
      await vi.waitFor(() => queues.push(countJob, { tenantId: newId(), n: 4 }), { timeout: 20_000, interval: 200 });
      await vi.waitFor(() => expect(seen).toEqual([1, 4]), 20_000);
    } finally {
      await consumer.close();
      await queues.close();
    }
  }

  const database = testDatabase();

  it('in PostgreSQL loses nudges, ends no process, and recovers', async () => {
    const gate = await openTcpGate((await database).url);
    onTestFinished(gate.shut);
    await goThroughOutage(
      openQueues({ redis: null, databaseUrl: gate.url, log, process: 'worker' }),
      gate.shut,
      gate.open,
    );
  });

  it('in PostgreSQL is found as soon as it can be reached', async () => {
    const gate = await openTcpGate((await database).url);
    onTestFinished(gate.shut);
    await gate.shut();
    const queues = openQueues({ redis: null, databaseUrl: gate.url, log, process: 'worker' });
    const seen: number[] = [];
    const consumer = workOn(queues, async (bull) => void seen.push(payloadOf(bull).n));
    await queues.enqueue(countJob, { tenantId: newId(), n: 1 });
    expect(queues.lostNudges()).toBe(1);
    await gate.open();
    await vi.waitFor(() => queues.push(countJob, { tenantId: newId(), n: 2 }), { timeout: 20_000, interval: 200 });
    await vi.waitFor(() => expect(seen).toEqual([2]), 20_000);
    await consumer.close();
    await queues.close();
  });

  describe.skipIf(!serviceBinary('redis-server'))('in Redis', () => {
    it('loses nudges, ends no process, and recovers', async () => {
      const redis = await startRedis();
      const queues = openQueues({
        redis: RedisAddress.parse(redis.url),
        databaseUrl: 'postgres://127.0.0.1:1/none',
        log,
        process: 'worker',
      });
      await goThroughOutage(queues, redis.halt, redis.resume);
      await redis.stop();
    });

    it('is found as soon as it can be reached', async () => {
      const redis = await startRedis();
      await redis.halt();
      const queues = openQueues({
        redis: RedisAddress.parse(redis.url),
        databaseUrl: 'postgres://127.0.0.1:1/none',
        log,
        process: 'api',
      });
      await queues.enqueue(countJob, { tenantId: newId(), n: 1 });
      expect(queues.lostNudges()).toBe(1);
      await redis.resume();
      await vi.waitFor(() => queues.push(countJob, { tenantId: newId(), n: 2 }), { timeout: 20_000, interval: 200 });
      expect((await queues.counts()).upkeep.waiting).toBe(1);
      await queues.close();
      await redis.stop();
    });
  });
});
