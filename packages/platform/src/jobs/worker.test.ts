import { setTimeout as pause } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { jobOutcomes } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import { conflict, upstream } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { testRuntime } from '@portal/testing/runtime';
import { emptyQueue, startTestWorker, type TestWorker } from '@portal/testing/worker';
import { handle, type Handler } from './handler.ts';
import { definePlatformJob, defineTenantJob } from './job.ts';
import { schedule } from './schedules.ts';
import type { WorkerTimings } from './worker.ts';

const { url, make, runtime, ownerUrl } = await testRuntime();

const tenantJob = (name: string, overrides: { attempts?: number; timeoutMs?: number } = {}) =>
  defineTenantJob({
    name,
    queue: 'upkeep',
    payload: z.object({ tenantId: z.uuid(), n: z.number().default(0) }),
    attempts: 3,
    backoffMs: 20,
    key: ({ tenantId }) => tenantId,
    timeoutMs: 10_000,
    ...overrides,
  });

const soon = { timeout: 20_000, interval: 25 };

describeOnEachQueue('a worker', (env) => {
  const open: TestWorker[] = [];
  const start = (handlers: Handler[], timings: Partial<WorkerTimings> = {}): TestWorker => {
    const worker = startTestWorker(url, { handlers }, { env, timings: { graceMs: 300, ...timings } });
    open.push(worker);
    return worker;
  };
  afterEach(async () => {
    for (const worker of open.splice(0).toReversed()) await worker.stop();
  });

  it('gives a tenant job a context that reaches only that tenant', async () => {
    const [ours] = [await make.tenant(), await make.tenant()];
    const job = tenantJob('test.scope');
    const seen = Promise.withResolvers<string[]>();
    const { runtime: own } = start([
      handle(job, async (ctx) => {
        const rows = await ctx.read((db) => db.select({ id: tenants.id }).from(tenants));
        seen.resolve(rows.map(({ id }) => id));
      }),
    ]);
    await own.queues.push(job, { tenantId: ours.id, n: 1 });
    expect(await seen.promise).toEqual([ours.id]);
  });

  it('gives a platform job a system context that names the requester', async () => {
    const job = definePlatformJob({
      ...tenantJob('test.system'),
      payload: z.object({ n: z.number() }),
      key: () => 'all',
    });
    const seen = Promise.withResolvers<string>();
    const { runtime: own } = start([handle(job, async (system) => seen.resolve(system.requestId))]);
    await own.queues.push(job, { n: 1 }, { origin: { requestId: 'request-7' } });
    expect(await seen.promise).toBe('request-7');
  });

  it('skips the jobs of an inactive or deleted tenant', async () => {
    const inactive = await make.tenant({ isActive: false });
    const job = tenantJob('test.rest');
    let runs = 0;
    const { runtime: own, lines } = start([handle(job, async () => void (runs += 1))]);
    await own.queues.push(job, { tenantId: inactive.id, n: 1 });
    await own.queues.push(job, { tenantId: newId(), n: 1 });
    await vi.waitFor(() => expect(lines.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(2), soon);
    expect(runs).toBe(0);
  });

  it('logs start and end, counts the outcome and stores the last one for operators', async () => {
    const tenant = await make.tenant();
    const job = tenantJob(`test.lines-${newId()}`);
    const { runtime: own, lines } = start([handle(job, async () => undefined)]);
    await own.queues.push(job, { tenantId: tenant.id, n: 1 }, { origin: { requestId: 'request-8' } });
    await vi.waitFor(() => expect(lines.find(({ msg }) => msg === 'job ended')).toBeDefined(), soon);
    const about = { job: job.name, tenantId: tenant.id, requestId: 'request-8', jobId: expect.any(String), attempt: 1 };
    expect(lines.filter(({ job: name }) => name === job.name)).toMatchObject([
      { msg: 'job started', level: 'info', ...about },
      { msg: 'job ended', level: 'info', outcome: 'succeeded', ms: expect.any(Number), ...about },
    ]);
    const { body } = await own.metrics.render();
    const counted = body
      .split('\n')
      .find((line) => line.startsWith('portal_job_seconds_count') && line.includes(job.name));
    expect(counted).toMatch(/outcome="succeeded"} 1$/);
    await vi.waitFor(async () => {
      const rows = await runtime.database.acrossTenants('a test looks', (tx) =>
        tx.select().from(jobOutcomes).where(eq(jobOutcomes.name, job.name)),
      );
      expect(rows).toMatchObject([{ lastState: 'succeeded', runs: 1 }]);
    }, soon);
  });

  it('retries after failures of other systems, but not after our refusals and errors', async () => {
    const tenant = await make.tenant();
    const [away, refused, broken] = [tenantJob('test.away'), tenantJob('test.refused'), tenantJob('test.broken')];
    const tries: string[] = [];
    const { runtime: own, lines } = start([
      handle(away, async () => {
        tries.push('away');
        if (tries.filter((name) => name === 'away').length < 3) throw upstream('DIRECTORY_UNAVAILABLE', 'It is away.');
      }),
      handle(refused, async () => {
        tries.push('refused');
        throw conflict('USERNAME_TAKEN', 'It is taken.');
      }),
      handle(broken, async () => {
        tries.push('broken');
        throw new TypeError('a slip of ours with params: [secret]');
      }),
    ]);
    for (const job of [away, refused, broken]) await own.queues.push(job, { tenantId: tenant.id, n: 1 });
    const outcomes = (name: string) =>
      lines.filter(({ job, msg }) => job === name && msg === 'job ended').map(({ outcome }) => outcome);
    await vi.waitFor(() => expect(outcomes('test.away')).toEqual(['retried', 'retried', 'succeeded']), soon);
    await vi.waitFor(() => expect(outcomes('test.refused')).toEqual(['failed']), soon);
    await vi.waitFor(() => expect(outcomes('test.broken')).toEqual(['failed']), soon);
    expect(lines.find(({ job, outcome }) => job === 'test.broken' && outcome === 'failed')?.['level']).toBe('error');
    const failed = await (await own.queues.queue('upkeep')).getFailed();
    expect(failed.map(({ failedReason }) => failedReason).join()).not.toContain('secret');
  });

  it('fails a payload of another release on the first attempt', async () => {
    const job = tenantJob('test.release');
    const { runtime: own, lines } = start([handle(job, async () => undefined)]);
    await (await own.queues.queue('upkeep')).add(job.name, { payload: { old: true } }, { attempts: 5, jobId: newId() });
    await (await own.queues.queue('upkeep')).add('test.unheard-of', {}, { attempts: 5, jobId: newId() });
    await vi.waitFor(() => expect(lines.filter(({ msg }) => msg === 'a job is not understood')).toHaveLength(2), soon);
    await vi.waitFor(
      async () => expect(await own.queues.counts()).toMatchObject({ upkeep: { delayed: 0, waiting: 0, active: 0 } }),
      soon,
    );
  });

  it('stops a job that takes too long and retries it', async () => {
    const tenant = await make.tenant();
    const job = tenantJob('test.slow', { timeoutMs: 2_000, attempts: 2 });
    let heeded = 0;
    let tries = 0;
    const { runtime: own, lines } = start([
      handle(job, async (_ctx, _payload, { signal }) => {
        tries += 1;
        // The first attempt obeys the signal, the second one hangs for ever.
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            heeded += 1;
            if (tries === 1) reject(signal.reason as Error);
          });
        });
      }),
    ]);
    await own.queues.push(job, { tenantId: tenant.id, n: 1 });
    await vi.waitFor(
      () =>
        expect(lines.filter(({ msg }) => msg === 'job ended')).toMatchObject([
          { outcome: 'retried' },
          { outcome: 'failed' },
        ]),
      soon,
    );
    expect({ heeded, tries }).toEqual({ heeded: 2, tries: 2 });
  });

  it('runs the configured number of jobs per queue, even while jobs of another queue hang', async () => {
    const hanging = definePlatformJob({
      ...tenantJob('test.hanging'),
      queue: 'monitoring',
      payload: z.object({ n: z.number() }),
      key: ({ n }) => `${n}`,
    });
    const plain = { ...hanging, name: 'test.plain', queue: 'cloud-status' } as const;
    const atWork: Record<string, number> = { [hanging.name]: 0, [plain.name]: 0 };
    const letGo = Promise.withResolvers<void>();
    const work = [hanging, plain].map((job) =>
      handle(job, async () => {
        atWork[job.name] = (atWork[job.name] ?? 0) + 1;
        await letGo.promise;
      }),
    );
    const worker = startTestWorker(
      url,
      { handlers: work, concurrency: { monitoring: 12 } },
      { env: { ...env, WORKER_CONCURRENCY: '2' }, timings: { lockMs: 1_000, stalledCheckMs: 500 } },
    );
    open.push(worker);
    const { queues } = worker.runtime;
    for (let n = 0; n < 15; n += 1) await queues.push(hanging, { n });
    await vi.waitFor(() => expect(atWork[hanging.name]).toBe(12), soon);
    for (let n = 0; n < 4; n += 1) await queues.push(plain, { n });
    await vi.waitFor(() => expect(atWork[plain.name]).toBe(2), soon);
    // Longer than a lock and the interval of the stalled check: none of the hanging jobs is taken for dead.
    await pause(2_500);
    expect(atWork).toEqual({ [hanging.name]: 12, [plain.name]: 2 });
    expect(await queues.counts()).toMatchObject({
      monitoring: { active: 12, waiting: 3 },
      'cloud-status': { active: 2, waiting: 2 },
    });
    letGo.resolve();
    await vi.waitFor(() => expect(atWork).toEqual({ [hanging.name]: 15, [plain.name]: 4 }), soon);
    expect(worker.lines.filter(({ outcome }) => outcome === 'released')).toEqual([]);
  });

  it('defers jobs beyond a tenant’s share without counting an attempt, and starts other tenants’ jobs at once', async () => {
    const [greedy, other] = [await make.tenant(), await make.tenant()];
    const job = defineTenantJob({
      ...tenantJob('test.shared', { attempts: 1 }),
      queue: 'mailboxes',
      key: ({ tenantId, n }) => `${tenantId}/${n}`,
    });
    // A platform job with a share key.
    const feed = definePlatformJob({
      ...tenantJob('test.shared-feed', { attempts: 1 }),
      queue: 'mailboxes',
      payload: z.object({ n: z.number() }),
      key: ({ n }) => `${n}`,
      shareKey: () => 'a host',
    });
    const sweep = definePlatformJob({ ...feed, name: 'test.shared-sweep', shareKey: () => null });
    const atWork: Record<string, number> = {};
    const letGo = Promise.withResolvers<void>();
    const holding = async (key: string) => {
      atWork[key] = (atWork[key] ?? 0) + 1;
      await letGo.promise;
    };
    const worker = startTestWorker(
      url,
      {
        handlers: [
          handle(job, (_ctx, { tenantId }) => holding(tenantId)),
          handle(feed, () => holding('a host')),
          handle(sweep, () => holding('sweep')),
        ],
        concurrency: { mailboxes: { places: 8, perTenant: 2 } },
      },
      { env, workers: 1, timings: { lockMs: 4_000, stalledCheckMs: 500 } },
    );
    open.push(worker);
    const { queues } = worker.runtime;
    for (let n = 0; n < 12; n += 1) await queues.push(job, { tenantId: greedy.id, n });
    for (let n = 0; n < 4; n += 1) await queues.push(feed, { n });
    await vi.waitFor(() => expect(atWork).toEqual({ [greedy.id]: 2, 'a host': 2 }), soon);
    await queues.push(job, { tenantId: other.id, n: 1 });
    for (let n = 0; n < 3; n += 1) await queues.push(sweep, { n });
    await vi.waitFor(() => expect(atWork).toMatchObject({ [other.id]: 1, sweep: 3 }), soon);
    // Long enough for each job to return once.
    await pause(5_000);
    expect(atWork).toEqual({ [greedy.id]: 2, 'a host': 2, [other.id]: 1, sweep: 3 });
    letGo.resolve();
    await vi.waitFor(() => expect(atWork).toMatchObject({ [greedy.id]: 12, 'a host': 4 }), soon);
    await vi.waitFor(
      () => expect(worker.lines.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(20),
      soon,
    );
    const started = worker.lines.filter(({ msg }) => msg === 'job started');
    expect(started.map(({ attempt }) => attempt)).toEqual(Array<number>(20).fill(1));
    expect(worker.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('stops cleanly: short jobs finish, long ones are returned to another worker', async () => {
    const [short, long] = [await make.tenant(), await make.tenant()];
    const job = tenantJob('test.stop');
    const done: string[] = [];
    const begun: string[] = [];
    const work = handle(job, async (_ctx, { tenantId }, { signal }) => {
      begun.push(tenantId);
      if (tenantId === short.id) await pause(200);
      else if (begun.filter((id) => id === long.id).length === 1) await pause(60_000, null, { signal });
      done.push(tenantId);
    });
    const first = start([work], { interruptAfterMs: 500 });
    for (const { id } of [short, long]) await first.runtime.queues.push(job, { tenantId: id, n: 1 });
    await vi.waitFor(() => expect(begun).toHaveLength(2), soon);
    await first.stop();
    open.splice(0);
    expect(done).toEqual([short.id]);
    expect(first.lines.filter(({ outcome }) => outcome === 'released')).toMatchObject([{ tenantId: long.id }]);
    start([work]);
    await vi.waitFor(() => expect(done).toEqual([short.id, long.id]), soon);
    expect(begun).toHaveLength(3);
  });

  it('stops a handler whose job lock was lost', async () => {
    const tenant = await make.tenant();
    const job = tenantJob('test.lost');
    const stopped = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { runtime: own, lines } = start(
      [
        handle(job, async (_ctx, _payload, { signal }) => {
          begun.resolve();
          await pause(60_000, null, { signal }).finally(stopped.resolve);
        }),
      ],
      { lockMs: 1_000 },
    );
    await own.queues.push(job, { tenantId: tenant.id, n: 1 });
    await begun.promise;
    await emptyQueue(ownerUrl, env, 'upkeep');
    await stopped.promise;
    await vi.waitFor(() => expect(lines.find(({ outcome }) => outcome === 'released')).toBeDefined(), soon);
  });

  it('abandons a handler that ignores the signal', async () => {
    const tenant = await make.tenant();
    const job = tenantJob('test.deaf');
    let begun = 0;
    const deaf = handle(job, async () => {
      begun += 1;
      if (begun === 1) await new Promise(() => undefined);
    });
    const first = start([deaf], { interruptAfterMs: 100, graceMs: 200 });
    await first.runtime.queues.push(job, { tenantId: tenant.id, n: 1 });
    await vi.waitFor(() => expect(begun).toBe(1), soon);
    await first.stop();
    open.splice(0);
    const second = start([deaf]);
    await vi.waitFor(() => expect(second.lines.find(({ outcome }) => outcome === 'succeeded')).toBeDefined(), soon);
    expect(begun).toBe(2);
  });
});

describe('the parts of a worker', () => {
  const [one, two] = [tenantJob('test.one'), tenantJob('test.two')];
  const handlers = [handle(one, async () => undefined)];
  const refusal = (parts: Parameters<typeof startTestWorker>[1]) => () => startTestWorker(url, parts);

  it.each([
    [
      'two jobs of one name',
      { handlers: [...handlers, handle(tenantJob('test.one'), async () => undefined)] },
      'test.one has two handlers',
    ],
    ['two handlers of one job', { handlers: [...handlers, ...handlers] }, 'test.one has two handlers'],
    [
      'a schedule without a handler',
      { handlers, schedules: [schedule(two, { tenantId: newId(), n: 1 }, { everyMs: 1_000 })] },
      'test.two has a schedule but no handler',
    ],
    ['a concurrency of a queue without jobs', { handlers, concurrency: { tenders: 3 } }, 'tenders has a concurrency'],
    [
      'a share of no slot',
      { handlers, concurrency: { upkeep: { places: 3, perTenant: 0 } } },
      'upkeep gives a tenant no slot',
    ],
  ])('refuse to start with %s', (_, parts, message) => {
    expect(refusal(parts)).toThrow(message);
  });
});
