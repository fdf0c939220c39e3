import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { DAY, HOUR } from '@portal/domain/time';
import { testDatabase } from '@portal/testing/database';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { emptyQueue, startTestWorker, type TestWorker } from '@portal/testing/worker';
import { handle } from './handler.ts';
import { definePlatformJob, type PlatformJob } from './job.ts';
import { describeRhythm, type Rhythm, schedule, type Schedule, scheduleId } from './schedules.ts';

/** The scheduled time, which is part of the job's request id. */
const timeIn = (requestId: string): number => Number(requestId.slice(requestId.lastIndexOf(':') + 1));

// Ids never go back behind the latest time they have seen; the next file starts anew.
afterAll(() => void vi.resetModules());

const soon = { timeout: 20_000, interval: 25 };

describeOnEachQueue('schedules', (env) => {
  const database = testDatabase();
  const open: TestWorker[] = [];
  afterEach(async () => {
    for (const worker of open.splice(0)) await worker.stop();
  });

  const newJob = () =>
    definePlatformJob({
      name: `test.tick-${newId().slice(-8)}`,
      queue: 'monitoring',
      payload: z.object({ area: z.string() }),
      attempts: 1,
      backoffMs: 20,
      key: () => 'all',
      timeoutMs: 10_000,
    });

  async function start(
    job: PlatformJob<{ area: string }>,
    schedules: Schedule[],
    work: (requestId: string) => Promise<void> = async () => {},
  ): Promise<TestWorker> {
    const handlers = [handle(job, ({ requestId }) => work(requestId))];
    const worker = startTestWorker(
      (await database).url,
      { handlers, schedules },
      { env, timings: { ensureSchedulesMs: 300 } },
    );
    open.push(worker);
    return worker;
  }
  const plan = (job: PlatformJob<{ area: string }>, rhythm: Rhythm) => [schedule(job, { area: 'north' }, rhythm)];
  const keysOf = async ({ runtime }: TestWorker) =>
    (await (await runtime.queues.queue('monitoring')).getJobSchedulers()).map(({ key }) => key);

  it('fire once across several workers', async () => {
    const job = newJob();
    const schedules = plan(job, { everyMs: 400 });
    const times: number[] = [];
    for (let n = 0; n < 3; n++) await start(job, schedules, async (requestId) => void times.push(timeIn(requestId)));
    await vi.waitFor(() => expect(times.length).toBeGreaterThanOrEqual(6), soon);
    const inOrder = times.toSorted((a, b) => a - b);
    const pauses = inOrder.slice(1).map((time, index) => time - (inOrder[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(400);
  });

  it('run one job at a time even if it takes longer than the interval', async () => {
    const job = newJob();
    let running = 0;
    let most = 0;
    let runs = 0;
    await start(job, plan(job, { everyMs: 100 }), async () => {
      running += 1;
      most = Math.max(most, running);
      await pause(350);
      running -= 1;
      runs += 1;
    });
    await vi.waitFor(() => expect(runs).toBeGreaterThanOrEqual(3), soon);
    expect(most).toBe(1);
  });

  it('keep their next time over a restart of all workers', async () => {
    const job = newJob();
    const schedules = plan(job, { everyMs: 3_600_000 });
    let runs = 0;
    const first = await start(job, schedules, async () => void (runs += 1));
    await vi.waitFor(() => expect(runs).toBe(1), soon);
    const next = (await (await first.runtime.queues.queue('monitoring')).getJobSchedulers())[0]?.next;
    await first.stop();
    open.splice(0);
    const second = await start(job, schedules, async () => void (runs += 1));
    await pause(700);
    expect((await (await second.runtime.queues.queue('monitoring')).getJobSchedulers())[0]?.next).toBe(next);
    expect(runs).toBe(1);
  });

  it('make up once for times missed while no worker ran', async () => {
    const job = newJob();
    const schedules = plan(job, { cron: '*/2 * * * * *', timeZone: 'Europe/Berlin' });
    const first = await start(job, schedules);
    await vi.waitFor(async () => expect(await keysOf(first)).toEqual(schedules.map(scheduleId)), soon);
    await first.stop();
    open.splice(0);
    await pause(5_000);
    const startedAt = Date.now();
    const times: number[] = [];
    await start(job, schedules, async (requestId) => void times.push(timeIn(requestId)));
    await vi.waitFor(() => expect(times.length).toBeGreaterThanOrEqual(2), soon);
    expect(times.filter((time) => time < startedAt)).toHaveLength(1);
  });

  it.each<Rhythm>([{ everyMs: 400 }, { cron: '15 3 * * *', timeZone: 'Europe/Berlin' }])(
    'go on when the clock goes back: %o',
    async (rhythm) => {
      const job = newJob();
      const times: number[] = [];
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * DAY });
      onTestFinished(() => void vi.useRealTimers());
      const worker = await start(job, plan(job, rhythm), async (requestId) => void times.push(timeIn(requestId)));
      const next = async () => (await (await worker.runtime.queues.queue('monitoring')).getJobSchedulers())[0]?.next;
      await vi.waitFor(async () => expect(await next()).toBeGreaterThan(Date.now()), soon);
      vi.useRealTimers();
      await vi.waitFor(async () => expect(await next()).toBeLessThan(Date.now() + DAY + HOUR), soon);
      if ('cron' in rhythm) return;
      const startedAt = Date.now();
      await vi.waitFor(() => {
        const since = times.filter((time) => time > startedAt && time < startedAt + HOUR);
        expect(since.length).toBeGreaterThanOrEqual(2);
      }, soon);
    },
  );

  it('let a worker stop right after its start', async () => {
    const job = newJob();
    const worker = await start(job, plan(job, { everyMs: 3_600_000 }));
    await worker.stop();
    open.splice(0);
    expect(worker.lines.at(-1)).toMatchObject({ msg: 'the worker has stopped' });
  });

  it('are restored in an emptied queue', async () => {
    const job = newJob();
    let runs = 0;
    await start(job, plan(job, { everyMs: 500 }), async () => void (runs += 1));
    await vi.waitFor(() => expect(runs).toBeGreaterThan(0), soon);
    await emptyQueue((await database).ownerUrl, env, 'monitoring');
    const before = runs;
    await vi.waitFor(() => expect(runs).toBeGreaterThan(before + 1), soon);
  });

  it('of an older release are removed, and changed ones are updated', async () => {
    const [old, job] = [newJob(), newJob()];
    const hourly = plan(old, { everyMs: 3_600_000 });
    const before = await start(old, hourly);
    await vi.waitFor(async () => expect(await keysOf(before)).toEqual(hourly.map(scheduleId)), soon);
    await before.stop();
    open.splice(0);
    const nightly = plan(job, { cron: '15 3 * * *', timeZone: 'Europe/Berlin' });
    const after = await start(job, nightly);
    await vi.waitFor(async () => expect(await keysOf(after)).toEqual(nightly.map(scheduleId)), soon);
    const [found] = await (await after.runtime.queues.queue('monitoring')).getJobSchedulers();
    expect(found && describeRhythm(found)).toBe('15 3 * * * (Europe/Berlin)');
    const next = new Date(found?.next ?? 0).toLocaleTimeString('de-DE', { timeZone: 'Europe/Berlin' });
    expect(next).toBe('03:15:00');
  });
});
