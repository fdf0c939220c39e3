import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { newId } from '@portal/domain/ids';
import { HOUR } from '@portal/domain/time';
import { jobsOf } from '@portal/platform/area';
import { handle } from '@portal/platform/jobs/handler';
import { schedule } from '@portal/platform/jobs/schedules';
import { deliverMails, sweepMails } from '@portal/platform/outbox/jobs';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { testRuntime } from '@portal/testing/runtime';
import { the } from '@portal/testing/the';
import { startTestWorker } from '@portal/testing/worker';
import { areas } from '../areas.ts';
import { listJobs } from './list-jobs.ts';

const { url, make, signedIn } = await testRuntime();
const soon = { timeout: 20_000, interval: 50 };

describeOnEachQueue('the list of jobs', (env) => {
  it('lists each with its schedule, its last run and its counts', async () => {
    const tenant = await make.tenant();
    const working = Promise.withResolvers<void>();
    const worker = startTestWorker(
      url,
      {
        handlers: [handle(sweepMails, async () => undefined), handle(deliverMails, () => working.promise)],
        schedules: [schedule(sweepMails, {}, { everyMs: 10_000 })],
      },
      { env: { ...env, WORKER_CONCURRENCY: '2' }, workers: 1 },
    );
    const ctx = {
      ...(await signedIn(await make.user({ role: 'SUPER_ADMIN' }))),
      ...worker.runtime.system({ requestId: newId(), ip: null, userAgent: null }),
    };
    await vi.waitFor(
      async () => expect((await listJobs(ctx)).find(({ name }) => name === 'mails.sweep')?.lastState).toBe('succeeded'),
      soon,
    );
    for (let n = 0; n < 3; n++)
      await ctx.enqueue(deliverMails, { tenantId: n === 0 ? tenant.id : (await make.tenant()).id });
    await vi.waitFor(
      async () => expect((await listJobs(ctx)).find(({ name }) => name === 'mails.deliver')?.active).toBe(2),
      soon,
    );
    const jobs = await listJobs(ctx);
    expect(jobs.map(({ name }) => name)).toEqual(jobsOf(areas).map(({ name }) => name));
    expect(jobs.find(({ name }) => name === 'mails.sweep')).toMatchObject({
      queue: 'upkeep',
      schedule: 'every 10 s',
      lastRunAt: expect.any(Date),
      lastDurationMs: expect.any(Number),
      nextRunAt: expect.any(Date),
      active: 0,
    });
    expect(jobs.find(({ name }) => name === 'mails.deliver')).toMatchObject({
      schedule: null,
      nextRunAt: null,
      waiting: 1,
      active: 2,
      failed: 0,
    });
    // Deliveries that occupy all their slots do not delay a sweep.
    const { lastRunAt: before } = the(jobs.find(({ name }) => name === 'mails.sweep'));
    await ctx.enqueue(sweepMails, {});
    await vi.waitFor(
      async () =>
        expect((await listJobs(ctx)).find(({ name }) => name === 'mails.sweep')?.lastRunAt).not.toEqual(before),
      { timeout: 5_000, interval: 50 },
    );
    working.resolve();
    await pause(50);
    await worker.stop();
  });
});

describeOnEachQueue('figures of jobs', (env) => {
  it('count every job by name, also if there are many, and no pending entry of a schedule', async () => {
    const { runtime, stop } = startTestWorker(url, { handlers: [] }, { env });
    const queue = await runtime.queues.queue('tenders');
    await queue.upsertJobScheduler('a', { every: HOUR }, { name: 'a.tick', data: {} });
    for (const [name, count] of [
      ['a', 1_150],
      ['b', 40],
    ] as const)
      await Promise.all(
        Array.from({ length: count }, (_, n) =>
          queue.add(name, {}, { jobId: newId(), delay: n % 100 === 0 ? HOUR : 0 }),
        ),
      );
    const figures = await runtime.system({ requestId: newId(), ip: null, userAgent: null }).jobFigures();
    expect(figures.get('a')).toMatchObject({ queue: 'tenders', waiting: 1_150, active: 0, failed: 0 });
    expect(figures.get('b')).toMatchObject({ waiting: 40 });
    expect(figures.has('a.tick')).toBe(false);
    await stop();
  });

  it('say why the newest failed job of each kind failed', async () => {
    let attempts = 0;
    const sweep = handle(sweepMails, () => {
      attempts += 1;
      return Promise.reject(new Error(`Attempt ${attempts} failed. ${'x'.repeat(2_000)}`));
    });
    const worker = startTestWorker(url, { handlers: [sweep] }, { env, workers: 1 });
    const ctx = worker.runtime.system({ requestId: newId(), ip: null, userAgent: null });
    await ctx.enqueue(sweepMails, {});
    await vi.waitFor(async () => {
      const failure = (await ctx.jobFigures()).get('mails.sweep')?.lastFailure;
      expect(failure).toEqual({ at: expect.any(Date), reason: expect.any(String) });
      expect(the(failure).reason.length).toBeLessThanOrEqual(500);
    }, soon);
    expect((await ctx.jobFigures()).get('mails.deliver')?.lastFailure ?? null).toBeNull();
    await worker.stop();
  });

  it('are read once for all callers at about the same time', async () => {
    const { runtime, stop } = startTestWorker(url, { handlers: [] }, { env });
    const { jobFigures } = runtime.system({ requestId: newId(), ip: null, userAgent: null });
    const [first, second] = await Promise.all([jobFigures(), jobFigures()]);
    expect(second).toBe(first);
    await stop();
  });
});

it('answers 503 while the queue is unavailable', async () => {
  const { runtime, stop } = startTestWorker(url, { handlers: [] }, { env: { REDIS_URL: 'redis://127.0.0.1:1' } });
  const ctx = {
    ...(await signedIn(await make.user())),
    ...runtime.system({ requestId: newId(), ip: null, userAgent: null }),
  };
  await expect(listJobs(ctx)).rejects.toMatchObject({ kind: 'unavailable' });
  await stop();
});
