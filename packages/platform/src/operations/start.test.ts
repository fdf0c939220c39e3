import { setTimeout as pause } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { runs } from '@portal/db/schema/platform/operations';
import { upstream } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { startTestWorker, type TestWorker } from '@portal/testing/worker';
import { getRun } from '@portal/usecases/operations/get-run';
import { handle, type Handler } from '../jobs/handler.ts';
import { defineTenantJob } from '../jobs/job.ts';
import { startOperation } from './start.ts';
import { beginOperation, endOperation } from './state.ts';
import { handOverIdleOperations } from './sweep.ts';

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
    const { runId } = await startOperation(ctx, syncJob, { tenantId: ctx.tenantId, force: true });
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
      handle(syncJob, async (_ctx, given, { progress }) => {
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

  it('that fails says why in one sentence, after as many tries as its job has', async () => {
    const ctx = await signedIn(await make.user());
    let tries = 0;
    work(
      handle(syncJob, async () => {
        tries += 1;
        throw upstream('DIRECTORY_UNAVAILABLE', 'The directory did not answer.');
      }),
    );
    const { runId } = await startOperation(ctx, syncJob, { tenantId: ctx.tenantId, force: true });
    await vi.waitFor(
      async () =>
        expect(await getRun(ctx, runId)).toMatchObject({ state: 'failed', error: 'The directory did not answer.' }),
      soon,
    );
    expect(tries).toBe(3);
  });

  it('shows nothing of an error that is not meant for people', async () => {
    const ctx = await signedIn(await make.user());
    work(
      handle(syncJob, async () => {
        throw new Error('select secret from nowhere');
      }),
    );
    const { runId } = await startOperation(ctx, syncJob, { tenantId: ctx.tenantId, force: true });
    await vi.waitFor(async () => expect(await getRun(ctx, runId)).toMatchObject({ state: 'failed' }), soon);
    expect((await getRun(ctx, runId)).error).not.toContain('secret');
  });

  it('is seen by who started it and by administrators of the tenant, by nobody else', async () => {
    const { id: tenantId } = await make.tenant();
    const [owner, colleague, admin] = [
      await make.user({ tenantId }),
      await make.user({ tenantId }),
      await make.user({ tenantId, role: 'ADMIN' }),
    ];
    const stranger = await make.user({ role: 'ADMIN' });
    const { runId } = await startOperation(await signedIn(owner), syncJob, { tenantId, force: true });
    await expect(getRun(await signedIn(owner), runId)).resolves.toMatchObject({ id: runId });
    await expect(getRun(await signedIn(admin), runId)).resolves.toMatchObject({ id: runId });
    await expect(getRun(await signedIn(colleague), runId)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(getRun(await signedIn(stranger), runId)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(getRun(await signedIn(owner), newId())).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('the sweep over runs', () => {
  it('hands over a run whose job was lost, once, and leaves young ones alone', async () => {
    const ctx = await signedIn(await make.user());
    const lost = await startOperation({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    const young = await startOperation({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: false,
    });
    await letTimePass(lost.runId);
    const done: boolean[] = [];
    work(handle(syncJob, async ({ tenantId }, { force }) => void (tenantId === ctx.tenantId && done.push(force))));
    await handOverIdleOperations(system(), [syncJob]);
    await handOverIdleOperations(system(), [syncJob]);
    await vi.waitFor(async () => expect(await getRun(ctx, lost.runId)).toMatchObject({ state: 'succeeded' }), soon);
    await pause(100);
    expect(done).toEqual([true]);
    expect(await getRun(ctx, young.runId)).toMatchObject({ state: 'queued' });
  });

  it('hands over a run whose worker is gone, and ends one that loses its worker again and again', async () => {
    const ctx = await signedIn(await make.user());
    const { runId } = await startOperation({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    for (let n = 1; n <= 20; n++) expect(await beginOperation(ctx, runId)).toEqual({ id: runId, attempt: n });
    await letTimePass(runId);
    let ran = false;
    work(handle(syncJob, async () => void (ran = true)));
    await handOverIdleOperations(system(), [syncJob]);
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

  it('does a run that is over not again', async () => {
    const ctx = await signedIn(await make.user());
    const { runId } = await startOperation({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    await endOperation(ctx, { id: runId }, { error: null });
    let ran = false;
    const { lines } = work(handle(syncJob, async () => void (ran = true)));
    await ctx.enqueue(syncJob, { tenantId: ctx.tenantId, force: true }, { runId });
    await vi.waitFor(() => expect(lines.find(({ outcome }) => outcome === 'rested')).toBeDefined(), soon);
    expect(ran).toBe(false);
  });

  it('ends a run of a kind this release does not know', async () => {
    const ctx = await signedIn(await make.user());
    const { runId } = await startOperation(
      { ...ctx, enqueue: async () => undefined },
      { ...syncJob, name: 'test.forgotten' },
      { tenantId: ctx.tenantId, force: true },
    );
    await letTimePass(runId);
    await handOverIdleOperations(system(), [syncJob]);
    expect(await getRun(ctx, runId)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('does not know'),
    });
  });

  it('leaves the runs of inactive tenants alone', async () => {
    const tenant = await make.tenant();
    const ctx = await signedIn(await make.user({ tenantId: tenant.id }));
    const { runId } = await startOperation({ ...ctx, enqueue: async () => undefined }, syncJob, {
      tenantId: ctx.tenantId,
      force: true,
    });
    await letTimePass(runId);
    await runtime.database.acrossTenants('a test deactivates', (tx) =>
      tx.execute(sql`update tenants set is_active = false where id = ${tenant.id}`),
    );
    const handed: unknown[] = [];
    await handOverIdleOperations(
      { ...system(), enqueue: async (_job, _payload, options) => void handed.push(options?.runId) },
      [syncJob],
    );
    expect(handed).not.toContain(runId);
  });
});
