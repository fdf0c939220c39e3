import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { ldapConfigs } from '@portal/db/schema/directory';
import { runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import { LdapConfigInput } from '@portal/domain/directory/config';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { beginRun, endRun } from '@portal/platform/runs/state';
import { waitForRun } from '@portal/platform/runs/wait';
import { testRuntime } from '@portal/testing/runtime';
import { putLdapConfig } from './ldap-config.ts';
import { getSyncRun, listSyncRuns } from './list-sync-runs.ts';
import { startDueDirectorySyncs } from './start-due-syncs.ts';
import { startSync } from './start-sync.ts';

const { make, signedIn, runtime, system } = await testRuntime();

const adminOf = async (settings: object = {}): Promise<UserContext> => {
  const ctx = await signedIn(await make.user({ role: 'ADMIN' }));
  await configure(ctx, settings);
  return ctx;
};
const configure = (ctx: UserContext, settings: object) =>
  putLdapConfig(
    ctx,
    LdapConfigInput.parse({ serverUrl: 'ldap://127.0.0.1', baseDn: 'dc=example,dc=org', ...settings }),
  );
const quietly = (ctx: UserContext): UserContext => ({ ...ctx, enqueue: async () => undefined });
const isDueIn = async (ctx: UserContext): Promise<number | null> => {
  const [row] = await ctx.read((db) =>
    db
      .select({ minutes: sql<number | null>`round(extract(epoch from ${ldapConfigs.nextSyncAt} - now()) / 60)::int` })
      .from(ldapConfigs),
  );
  return row?.minutes ?? null;
};
const letTimePass = (ctx: UserContext) =>
  ctx.tx((tx) => tx.update(ldapConfigs).set({ nextSyncAt: sql`now() - interval '1 second'` }));
const runsOf = async (ctx: UserContext) => (await listSyncRuns(ctx, { limit: 50 })).items;

describe('a synchronization is started', () => {
  it('by an administrator, one at a time, and only with a directory', async () => {
    const bare = await signedIn(await make.user({ role: 'ADMIN' }));
    await expect(startSync(bare, {})).rejects.toMatchObject({ code: 'DIRECTORY_NOT_CONFIGURED' });
    const ctx = quietly(await adminOf());
    const begun = await Promise.allSettled([startSync(ctx, {}), startSync(ctx, {}), startSync(ctx, { force: true })]);
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(startSync(ctx, {})).rejects.toMatchObject({ kind: 'conflict', code: 'SYNC_RUNNING' });
    const [run] = await runsOf(ctx);
    expect(run).toMatchObject({
      trigger: 'manual',
      state: 'queued',
      progress: null,
      counts: { read: 0 },
      warnings: [],
    });
    await endRun(ctx, { id: run?.id ?? '' }, { error: null });
    await expect(startSync(ctx, {})).resolves.toMatchObject({ runId: expect.any(String) });
  });

  it('one at a time, even next to the previous release, which sets no subject', async () => {
    const ctx = quietly(await adminOf());
    const startAsBefore = () =>
      ctx.tx(async (tx) => {
        const id = newId();
        await tx.execute(sql`insert into runs (id, tenant_id, kind, payload, started_by, due_at)
          values (${id}, ${ctx.tenantId}, 'directory.sync', '{}', ${ctx.actor.id}, now() + interval '30 seconds')`);
        return id;
      });
    const { runId } = await startSync(ctx, {});
    // The previous release recognizes a running one by this name.
    await expect(startAsBefore()).rejects.toMatchObject({ cause: { constraint: 'runs_directory_sync_unique' } });
    await endRun(ctx, { id: runId }, { error: null });
    const theirs = await startAsBefore();
    await expect(startSync(ctx, {})).rejects.toMatchObject({ code: 'SYNC_RUNNING' });
    await endRun(ctx, { id: theirs }, { error: null });
    await expect(startSync(ctx, {})).resolves.toBeDefined();
  });

  it('by the schedule when due, once even with several workers', async () => {
    const ctx = await adminOf({ syncIntervalMin: 30 });
    expect(await isDueIn(ctx)).toBe(30);
    await startDueDirectorySyncs(system());
    expect(await runsOf(ctx)).toEqual([]);
    await letTimePass(ctx);
    await Promise.all([
      startDueDirectorySyncs(system()),
      startDueDirectorySyncs(system()),
      startDueDirectorySyncs(system()),
    ]);
    const [run, ...others] = await runsOf(ctx);
    expect(run).toMatchObject({ trigger: 'schedule', state: 'queued' });
    expect(others).toEqual([]);
    expect(await isDueIn(ctx)).toBe(30);
  });

  it('not while one is running, nor while the directory or the tenant is switched off', async () => {
    const busy = quietly(await adminOf());
    await startSync(busy, {});
    const off = await adminOf({ isActive: false });
    expect(await isDueIn(off)).toBeNull();
    const resting = await adminOf();
    await runtime.database.acrossTenants('a test deactivates', (tx) =>
      tx.update(tenants).set({ isActive: false }).where(eq(tenants.id, resting.tenantId)),
    );
    for (const ctx of [busy, off, resting]) await letTimePass(ctx);
    await startDueDirectorySyncs(system());
    expect(await runsOf(busy)).toHaveLength(1);
    expect(await runsOf(off)).toEqual([]);
    expect(await runsOf(resting)).toEqual([]);
    expect(await isDueIn(busy)).toBe(60);
  });

  it('at once after a new interval or switch', async () => {
    const ctx = quietly(await adminOf({ syncIntervalMin: 600 }));
    const { runId } = await startSync(ctx, {});
    await endRun(ctx, { id: runId }, { error: null });
    await ctx.tx((tx) => tx.execute(sql`update ldap_sync_runs set created_at = now() - interval '50 minutes'`));
    await configure(ctx, { syncIntervalMin: 60 });
    expect(await isDueIn(ctx)).toBe(10);
    await configure(ctx, { syncIntervalMin: 30 });
    expect(await isDueIn(ctx)).toBe(0);
    await configure(ctx, { isActive: false });
    expect(await isDueIn(ctx)).toBeNull();
  });
});

it('lists runs newest first, page by page, and none of another tenant', async () => {
  const ctx = quietly(await adminOf());
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { runId } = await startSync(ctx, {});
    await endRun(ctx, { id: runId }, { error: n === 4 ? 'It failed.' : null });
    ids.unshift(runId);
  }
  const first = await listSyncRuns(ctx, { limit: 3 });
  expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  expect(first.items[0]).toMatchObject({ state: 'failed', error: 'It failed.' });
  const second = await listSyncRuns(ctx, { limit: 3, after: first.next ?? '' });
  expect(second).toMatchObject({ items: [{ id: ids[3] }, { id: ids[4] }], next: null });
  const stranger = await adminOf();
  expect(await listSyncRuns(stranger, { limit: 3 })).toEqual({ items: [], next: null });
  await expect(getSyncRun(stranger, ids[0] ?? '')).rejects.toMatchObject({ kind: 'not_found' });
  await expect(getSyncRun(ctx, newId())).rejects.toMatchObject({ kind: 'not_found' });
});

it('waits for the end of a run as long as requested', async () => {
  const ctx = quietly(await adminOf());
  const { runId } = await startSync(ctx, {});
  expect(await waitForRun(ctx, runId, 0)).toBe(false);
  const waiting = waitForRun(ctx, runId, 25);
  await endRun(ctx, { id: runId }, { error: null });
  expect(await waiting).toBe(true);
});

it('ignores an attempt that another worker has overtaken', async () => {
  const ctx = quietly(await adminOf());
  const { runId } = await startSync(ctx, {});
  const first = await beginRun(ctx, runId);
  expect(await beginRun(ctx, runId)).toEqual({ id: runId, attempt: 2 });
  await endRun(ctx, first ?? { id: '' }, { error: 'too late' });
  const [row] = await ctx.read((db) => db.select({ state: runs.state }).from(runs).where(eq(runs.id, runId)));
  expect(row).toEqual({ state: 'running' });
});
