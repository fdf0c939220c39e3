import { setTimeout as pause } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { users } from '@portal/db/schema/accounts/users';
import { runs } from '@portal/db/schema/platform/operations';
import { upstream } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { startTestWorker, type TestWorker } from '@portal/testing/worker';
import { getRun } from '@portal/usecases/operations/get-run';
import { handle, type Handler } from '../jobs/handler.ts';
import { definePlatformJob, defineTenantJob } from '../jobs/job.ts';
import { runScope } from './scope.ts';
import { addRuns, startRun } from './start.ts';
import { beginRun, endRun } from './state.ts';
import { handOverIdleRuns } from './sweep.ts';
import { waitForRun } from './wait.ts';

const { url, make, runtime, signedIn, system } = await testRuntime();

const syncJob = defineTenantJob({
  name: 'test.sync',
  queue: 'directory',
  payload: z.object({ tenantId: z.uuid(), force: z.boolean() }),
  attempts: 3,
  backoffMs: 50,
  key: ({ tenantId }) => tenantId,
  timeoutMs: 10_000,
});

const pollJob = defineTenantJob({
  ...syncJob,
  name: 'test.poll',
  payload: z.object({ tenantId: z.uuid(), server: z.string() }),
  key: ({ tenantId, server }) => `${tenantId}/${server}`,
  runsAlone: true,
});

const ingestJob = definePlatformJob({
  ...syncJob,
  name: 'test.ingest',
  payload: z.object({ source: z.string() }),
  key: ({ source }) => source,
  runsAlone: true,
});

const soon = { timeout: 20_000, interval: 25 };
const workers: TestWorker[] = [];
const work = (handler: Handler): TestWorker => {
  const worker = startTestWorker(url, { handlers: [handler] });
  workers.push(worker);
  return worker;
};
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
});

const letTimePass = (id: string) =>
  runtime.database.acrossTenants('a test lets time pass', (tx) =>
    tx
      .update(runs)
      .set({ dueAt: sql`now() - interval '1 second'` })
      .where(eq(runs.id, id)),
  );

describe('a run', () => {
  it('is queued, running with its progress, then succeeded', async () => {
    const ctx = await signedIn(await make.user());
    const reported = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { runId } = await startRun(ctx, syncJob, { tenantId: ctx.tenantId, force: true });
    expect(await getRun(ctx, runId)).toEqual({
      id: runId,
      kind: 'test.sync',
      state: 'queued',
      startedAt: null,
      finishedAt: null,
      progress: null,
      error: null,
    });
    let payload: unknown;
    work(
      handle(syncJob, async ({ tenantId }, given, { progress }) => {
        // The queue may also hold jobs that other tests left
        if (tenantId !== ctx.tenantId) return;
        payload = given;
        progress(10, 40);
        reported.resolve();
        await goOn.promise;
        progress(40, 40);
      }),
    );
    await reported.promise;
    await vi.waitFor(
      async () =>
        expect(await getRun(ctx, runId)).toMatchObject({ state: 'running', progress: { done: 10, total: 40 } }),
      soon,
    );
    goOn.resolve();
    await vi.waitFor(async () => expect(await getRun(ctx, runId)).toMatchObject({ state: 'succeeded' }), soon);
    const run = await getRun(ctx, runId);
    expect(run).toMatchObject({
      progress: { done: 40, total: 40 },
      error: null,
      startedAt: expect.any(Date),
      finishedAt: expect.any(Date),
    });
    expect(payload).toEqual({ tenantId: ctx.tenantId, force: true });
  });

  it('that fails gives the reason in one sentence, after all attempts of its job', async () => {
    const ctx = await signedIn(await make.user());
    let tries = 0;
    work(
      handle(syncJob, async ({ tenantId }) => {
        // The queue may also hold jobs that other tests left
        if (tenantId === ctx.tenantId) tries += 1;
        throw upstream('DIRECTORY_UNAVAILABLE', 'The directory did not answer.');
      }),
    );
    const { runId } = await startRun(ctx, syncJob, { tenantId: ctx.tenantId, force: true });
    await vi.waitFor(
      async () =>
        expect(await getRun(ctx, runId)).toMatchObject({ state: 'failed', error: 'The directory did not answer.' }),
      soon,
    );
    expect(tries).toBe(3);
  });

  it('hides errors that are not meant for users', async () => {
    const ctx = await signedIn(await make.user());
    work(
      handle(syncJob, async () => {
        throw new Error('select secret from nowhere');
      }),
    );
    const { runId } = await startRun(ctx, syncJob, { tenantId: ctx.tenantId, force: true });
    await vi.waitFor(async () => expect(await getRun(ctx, runId)).toMatchObject({ state: 'failed' }), soon);
    expect((await getRun(ctx, runId)).error).not.toContain('secret');
  });

  it('is visible only to its starter and to administrators of the tenant', async () => {
    const { id: tenantId } = await make.tenant();
    const [owner, colleague, admin] = [
      await make.user({ tenantId }),
      await make.user({ tenantId }),
      await make.user({ tenantId, role: 'ADMIN' }),
    ];
    const stranger = await make.user({ role: 'ADMIN' });
    const { runId } = await startRun(await signedIn(owner), syncJob, { tenantId, force: true });
    await expect(getRun(await signedIn(owner), runId)).resolves.toMatchObject({ id: runId });
    await expect(getRun(await signedIn(admin), runId)).resolves.toMatchObject({ id: runId });
    await expect(getRun(await signedIn(colleague), runId)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(getRun(await signedIn(stranger), runId)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(getRun(await signedIn(owner), newId())).rejects.toMatchObject({ kind: 'not_found' });
  });
});

it('a run belongs to the tenant: it continues after its starter is deleted', async () => {
  const { id: tenantId } = await make.tenant();
  const [owner, admin] = [await make.user({ tenantId }), await signedIn(await make.user({ tenantId, role: 'ADMIN' }))];
  const ctx = { ...(await signedIn(owner)), enqueue: async () => undefined };
  const { runId } = await startRun(ctx, syncJob, { tenantId, force: true });
  await admin.tx((tx) => tx.delete(users).where(eq(users.id, owner.id)));
  expect(await getRun(admin, runId)).toMatchObject({ state: 'queued' });
  const run = await beginRun(admin, runId);
  expect(run).not.toBeNull();
  await endRun(admin, { id: runId }, { error: null });
  expect(await getRun(admin, runId)).toMatchObject({ state: 'succeeded' });
});

describe('a run that runs alone', () => {
  const quietly = async (tenantId?: string) => ({
    ...(await signedIn(await make.user(tenantId === undefined ? {} : { tenantId }))),
    enqueue: async () => undefined,
  });

  it('is the only unfinished one of its subject, even after concurrent starts', async () => {
    const ctx = await quietly();
    const { tenantId } = ctx;
    const start = () => startRun(ctx, pollJob, { tenantId, server: 'one' });
    const started = await Promise.allSettled([start(), start(), start()]);
    const [first] = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(started.filter(({ status }) => status === 'rejected')).toMatchObject(
      Array.from({ length: 2 }, () => ({ reason: { kind: 'conflict', code: 'CONFLICT' } })),
    );
    const runId = first?.runId ?? '';
    await beginRun(ctx, runId);
    await expect(start()).rejects.toMatchObject({ kind: 'conflict' });
    await endRun(ctx, { id: runId }, { error: null });
    await expect(start()).resolves.toMatchObject({ runId: expect.any(String) });
  });

  it('does not block other subjects, kinds or tenants; jobs without it block nothing', async () => {
    const [ctx, other] = [await quietly(), await quietly()];
    const { tenantId } = ctx;
    const started = await Promise.all([
      startRun(ctx, pollJob, { tenantId, server: 'one' }),
      startRun(ctx, pollJob, { tenantId, server: 'two' }),
      startRun(ctx, { ...pollJob, name: 'test.check' }, { tenantId, server: 'one' }),
      startRun(other, { ...pollJob, key: ({ server }) => server }, { tenantId: other.tenantId, server: 'same' }),
      startRun(ctx, { ...pollJob, key: ({ server }) => server }, { tenantId, server: 'same' }),
      startRun(ctx, syncJob, { tenantId, force: true }),
      startRun(ctx, syncJob, { tenantId, force: true }),
    ]);
    expect(new Set(started.map(({ runId }) => runId)).size).toBe(7);
  });

  it('is skipped by a scheduled start', async () => {
    const ctx = await quietly();
    const { tenantId } = ctx;
    await startRun(ctx, pollJob, { tenantId, server: 'one' });
    const payloads = ['one', 'two', 'two'].map((server) => ({ tenantId, server }));
    const added = await runtime.database.acrossTenants('a test starts', (tx) => addRuns(tx, pollJob, payloads));
    expect(added).toEqual([{ id: expect.any(String), payload: { tenantId, server: 'two' } }]);
  });
});

describe('a run of the platform', () => {
  const operator = async () => signedIn(await make.user({ role: 'SUPER_ADMIN' }));
  const lost = async () => ({ ...(await operator()), enqueue: async () => undefined });

  it('is carried out by a platform job, and may be waited for', async () => {
    const ctx = await operator();
    const done: string[] = [];
    work(
      handle(ingestJob, async (_system, { source }, { progress, run }) => {
        progress(3, 3);
        done.push(`${source} ${run?.attempt}`);
      }),
    );
    const { runId } = await startRun(ctx, ingestJob, { source: 'ted' });
    expect(await waitForRun(runScope(ctx, null), runId, 20)).toBe(true);
    expect(done).toEqual(['ted 1']);
    expect(await getRun(ctx, runId)).toMatchObject({
      kind: 'test.ingest',
      state: 'succeeded',
      progress: { done: 3, total: 3 },
      error: null,
    });
  });

  it('that fails gives the reason', async () => {
    const ctx = await operator();
    work(
      handle({ ...ingestJob, attempts: 1 }, async () => {
        throw upstream('DIRECTORY_UNAVAILABLE', 'The source did not answer.');
      }),
    );
    const { runId } = await startRun(ctx, ingestJob, { source: 'failing' });
    await waitForRun(runScope(ctx, null), runId, 20);
    expect(await getRun(ctx, runId)).toMatchObject({ state: 'failed', error: 'The source did not answer.' });
  });

  it('is visible only to SUPER_ADMIN, not even to the starter’s tenant', async () => {
    const ctx = await lost();
    const { tenantId } = ctx;
    const { runId } = await startRun(ctx, ingestJob, { source: 'seen' });
    for (const seer of [ctx, await operator()]) {
      await expect(getRun(seer, runId)).resolves.toMatchObject({ id: runId });
    }
    const others = [await make.user({ tenantId, role: 'ADMIN' }), await make.user({ tenantId }), await make.user()];
    for (const other of others) {
      await expect(getRun(await signedIn(other), runId)).rejects.toMatchObject({ kind: 'not_found' });
    }
  });

  it('does not open the runs of other tenants to SUPER_ADMIN', async () => {
    const theirs = await signedIn(await make.user());
    const { runId } = await startRun(theirs, syncJob, { tenantId: theirs.tenantId, force: true });
    await expect(getRun(await operator(), runId)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('cannot be reached from a tenant’s scope by any statement', async () => {
    const ctx = await lost();
    const { runId } = await startRun(ctx, ingestJob, { source: 'hidden' });
    expect(await ctx.read((db) => db.select().from(runs).where(eq(runs.id, runId)))).toEqual([]);
    const changed = await ctx.tx((tx) =>
      tx.update(runs).set({ error: 'mine' }).where(eq(runs.id, runId)).returning({ id: runs.id }),
    );
    expect(changed).toEqual([]);
    await expect(
      ctx.tx((tx) =>
        tx.insert(runs).values({ id: newId(), tenantId: null, kind: 'x', payload: {}, dueAt: sql`now()` }),
      ),
    ).rejects.toMatchObject({ cause: { message: expect.stringContaining('row-level security') } });
  });

  it('is one per subject for all starters', async () => {
    const [one, other] = [await lost(), await lost()];
    const started = await Promise.allSettled(
      [one, other, one].map((ctx) => startRun(ctx, ingestJob, { source: 'twice' })),
    );
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(startRun(other, ingestJob, { source: 'twice' })).rejects.toMatchObject({ kind: 'conflict' });
    await expect(startRun(other, ingestJob, { source: 'another' })).resolves.toBeDefined();
  });

  it('is enqueued again if its job was lost, and ended if this release does not know its kind', async () => {
    const ctx = await lost();
    const { runId } = await startRun(ctx, ingestJob, { source: 'swept' });
    const forgotten = await startRun(ctx, { ...ingestJob, name: 'test.gone' }, { source: 'swept' });
    for (const id of [runId, forgotten.runId]) await letTimePass(id);
    const done: string[] = [];
    work(handle(ingestJob, async (_system, { source }) => void done.push(source)));
    await handOverIdleRuns(system(), [ingestJob]);
    expect(await waitForRun(runScope(ctx, null), runId, 20)).toBe(true);
    expect(done).toEqual(['swept']);
    expect(await getRun(ctx, forgotten.runId)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('no longer knows'),
    });
  });
});

describe('the sweep over runs', () => {
  it('takes the tenants in turn, however many runs one tenant has', async () => {
    const [many, few] = [await make.tenant(), await make.tenant()];
    await runtime.database.acrossTenants('a test makes runs', async (tx) => {
      for (const [{ id: tenantId }, count, minutes] of [
        [many, 600, 60],
        [few, 1, 1],
      ] as const)
        await tx.insert(runs).values(
          Array.from({ length: count }, () => ({
            id: newId(),
            tenantId,
            kind: syncJob.name,
            payload: { tenantId, force: false },
            dueAt: sql`now() - make_interval(mins => ${minutes}::int)`,
          })),
        );
    });
    const handedOver: string[] = [];
    const looking = {
      ...system(),
      enqueue: async (_job: unknown, payload: unknown) =>
        void handedOver.push((payload as { tenantId: string }).tenantId),
    };
    await handOverIdleRuns(looking, [syncJob]);
    expect(handedOver).toHaveLength(500);
    expect(handedOver).toContain(few.id);
    await runtime.database.acrossTenants('a test ends', (tx) => tx.delete(runs).where(eq(runs.tenantId, many.id)));
  });

  it('enqueues a run whose job was lost once, and leaves new ones alone', async () => {
    const ctx = await signedIn(await make.user());
    const lost = await startRun({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    const young = await startRun({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: false,
    });
    await letTimePass(lost.runId);
    const done: boolean[] = [];
    work(handle(syncJob, async ({ tenantId }, { force }) => void (tenantId === ctx.tenantId && done.push(force))));
    await handOverIdleRuns(system(), [syncJob]);
    await handOverIdleRuns(system(), [syncJob]);
    await vi.waitFor(async () => expect(await getRun(ctx, lost.runId)).toMatchObject({ state: 'succeeded' }), soon);
    await pause(100);
    expect(done).toEqual([true]);
    expect(await getRun(ctx, young.runId)).toMatchObject({ state: 'queued' });
  });

  it('enqueues a run whose worker died, and ends one that loses its worker again and again', async () => {
    const ctx = await signedIn(await make.user());
    const { runId } = await startRun({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    for (let n = 1; n <= 20; n++) expect(await beginRun(ctx, runId)).toEqual({ id: runId, attempt: n });
    await letTimePass(runId);
    let ran = false;
    work(handle(syncJob, async ({ tenantId }) => void (ran ||= tenantId === ctx.tenantId)));
    await handOverIdleRuns(system(), [syncJob]);
    await vi.waitFor(
      async () =>
        expect(await getRun(ctx, runId)).toMatchObject({
          state: 'failed',
          error: expect.stringContaining('too often'),
        }),
      soon,
    );
    expect(ran).toBe(false);
  });

  it('does not repeat a finished run', async () => {
    const ctx = await signedIn(await make.user());
    const { runId } = await startRun({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    await endRun(ctx, { id: runId }, { error: null });
    let ran = false;
    const { lines } = work(handle(syncJob, async ({ tenantId }) => void (ran ||= tenantId === ctx.tenantId)));
    await ctx.enqueue(syncJob, { tenantId: ctx.tenantId, force: true }, { runId });
    const isSkipped = (line: (typeof lines)[number]) => line['runId'] === runId && line['outcome'] === 'skipped';
    await vi.waitFor(() => expect(lines.some(isSkipped)).toBe(true), soon);
    expect(ran).toBe(false);
  });

  it('ends a run of a kind this release does not know', async () => {
    const ctx = await signedIn(await make.user());
    const { runId } = await startRun(
      { ...ctx, enqueue: async () => undefined },
      { ...syncJob, name: 'test.forgotten' },
      { tenantId: ctx.tenantId, force: true },
    );
    await letTimePass(runId);
    await handOverIdleRuns(system(), [syncJob]);
    expect(await getRun(ctx, runId)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('no longer knows'),
    });
  });

  it('leaves the runs of inactive tenants alone', async () => {
    const tenant = await make.tenant();
    const ctx = await signedIn(await make.user({ tenantId: tenant.id }));
    const { runId } = await startRun({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    await letTimePass(runId);
    await runtime.database.acrossTenants('a test deactivates', (tx) =>
      tx.execute(sql`update tenants set is_active = false where id = ${tenant.id}`),
    );
    const handed: unknown[] = [];
    await handOverIdleRuns(
      { ...system(), enqueue: async (_job, _payload, options) => void handed.push(options?.runId) },
      [syncJob],
    );
    expect(handed).not.toContain(runId);
  });
});
