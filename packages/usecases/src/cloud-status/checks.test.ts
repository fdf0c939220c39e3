import { and, asc, eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { cloudTransitions } from '@portal/db/schema/cloud-status/outages';
import { runs } from '@portal/db/schema/platform/operations';
import type { CloudReading } from '@portal/domain/cloud-status/reading';
import { newId } from '@portal/domain/ids';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import type { TenantContext, UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { brokenCloud, type CloudServer, startCloudServer, statusDocument } from '@portal/testing/servers/cloud-server';
import { jobOrigin } from '@portal/testing/worker';
import { setModuleEnabled } from '../modules/modules.ts';
import { checkCloudInstance, startCheckOfAll } from './check-by-hand.ts';
import { checkAllCloudInstances, checkDueCloudInstances, startDueCloudChecks } from './check-by-job.ts';
import { checkInstances } from './check-instances.ts';
import { type Claim, claimDue, claimOne } from './claims.ts';
import {
  createCloudInstance,
  deleteCloudInstance,
  getCloudInstance,
  listCloudInstances,
  updateCloudInstance,
} from './instances.ts';
import { checkDueInstances } from './jobs.ts';
import { settleChecks } from './settle-checks.ts';
import { listTransitions } from './transitions.ts';

const { runtime, make, signedIn, system } = await testRuntime();
const { signal } = new AbortController();

const servers: CloudServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function cloud(options: Parameters<typeof startCloudServer>[0] = {}): Promise<CloudServer> {
  const server = await startCloudServer(options);
  servers.push(server);
  return server;
}

const admin = async () => signedIn(await make.user({ role: 'ADMIN' }));
const jobOf = ({ tenantId }: { tenantId: string }): TenantContext => runtime.tenant(jobOrigin(), tenantId);
const due = { nextCheckAt: new Date(0) };

const rowOf = async (ctx: TenantContext, id: string) => {
  const [row] = await ctx.read((db) =>
    db
      .select({
        state: cloudInstances.lastCheckState,
        reported: cloudInstances.reportedState,
        failures: cloudInstances.consecutiveFailures,
        leaseId: cloudInstances.leaseId,
        inSec: sql<number>`extract(epoch from ${cloudInstances.nextCheckAt} - now())::float8`,
        secondOfHour: sql<number>`(extract(epoch from ${cloudInstances.nextCheckAt})::bigint % 3600)::int`,
      })
      .from(cloudInstances)
      .where(eq(cloudInstances.id, id)),
  );
  if (!row) throw new Error('there is no such instance');
  return row;
};

const makeDue = (ctx: TenantContext, id?: string) =>
  ctx.tx((tx) =>
    tx
      .update(cloudInstances)
      .set(due)
      .where(id === undefined ? undefined : eq(cloudInstances.id, id)),
  );

const reached: CloudReading = {
  isReached: true,
  isMaintenance: false,
  needsDbUpgrade: false,
  version: { shown: '35.0.0', release: '35.0.0', hasExtendedSupport: false, productName: 'A' },
  message: null,
};
const failed: CloudReading = { isReached: false, failure: 'server', message: 'It has a fault.' };

async function check(ctx: TenantContext, id: string, reading: CloudReading): Promise<boolean> {
  const claim = await claimOne(ctx, id);
  if (!claim) throw new Error('another check holds the lease');
  const [isOurs] = await settleChecks(ctx, [{ claim, reading }]);
  return isOurs === true;
}

const transitionsOf = async (ctx: TenantContext, instanceId: string) =>
  (
    await ctx.read((db) =>
      db
        .select({ from: cloudTransitions.from, to: cloudTransitions.to })
        .from(cloudTransitions)
        .where(eq(cloudTransitions.instanceId, instanceId))
        .orderBy(asc(cloudTransitions.at)),
    )
  ).map(({ from, to }) => `${from} ${to}`);

/** Successful checks according to the metrics. */
async function checksCounted(): Promise<number> {
  const { body } = await runtime.metrics.render();
  return Number(/^portal_checks_total\{.*outcome="ok".*\} (\d+)$/m.exec(body)?.[1] ?? 0);
}

describe('a check', () => {
  it('shows the answer of the cloud', async () => {
    const countedBefore = await checksCounted();
    const ctx = await admin();
    const server = await cloud();
    const { id, light } = await createCloudInstance(ctx, {
      customerName: 'Nordheim',
      statusUrl: `${server.origin}/login`,
      isActive: true,
    });
    expect(light).toBe('grey');
    expect(await checkCloudInstance(ctx, id)).toEqual({
      id,
      customerName: 'Nordheim',
      statusUrl: `${server.origin}/login`,
      hasLogo: false,
      isActive: true,
      light: 'green',
      versionAssessment: 'current',
      version: '35.0.0',
      productName: 'Testcloud',
      latestVersion: '35.0.0',
      supportEndsAt: new Date('2027-09-15'),
      isMaintenance: false,
      needsDbUpgrade: false,
      lastCheckState: 'ok',
      reportedState: 'ok',
      consecutiveFailures: 0,
      failure: null,
      message: null,
      checkedAt: expect.any(Date),
      lastOkAt: expect.any(Date),
      subscribed: false,
    });
    expect(await transitionsOf(ctx, id)).toEqual([]);
    expect(await checksCounted()).toBe(countedBefore + 1);
  });

  it.each([
    ['maintenance', statusDocument({ maintenance: true }), { light: 'yellow', isMaintenance: true }],
    ['an unfinished update', statusDocument({ needsDbUpgrade: true }), { light: 'yellow', needsDbUpgrade: true }],
    ['a hidden version', statusDocument({ version: '', versionstring: '' }), { light: 'grey', version: null }],
    ['an old version', statusDocument({ version: '30.0.1.1', versionstring: '30.0.1' }), { light: 'red' }],
    ['a version of a related product', statusDocument({ product: 'ownCloud', version: '30.0.1.1' }), { light: 'grey' }],
  ])('of %s is no failure', async (_what, answer, expected) => {
    const ctx = await admin();
    const server = await cloud();
    server.answer = () => answer;
    const { id } = await make.cloudInstance(ctx.tenantId, { statusUrl: server.origin });
    expect(await checkCloudInstance(ctx, id)).toMatchObject({ ...expected, lastCheckState: 'ok', failure: null });
  });

  it('keeps the known values if it learns nothing new', async () => {
    const ctx = await admin();
    const { id } = await make.cloudInstance(ctx.tenantId);
    await check(ctx, id, reached);
    const { lastOkAt } = await getCloudInstance(ctx, id);
    await check(ctx, id, failed);
    expect(await getCloudInstance(ctx, id)).toMatchObject({
      light: 'yellow',
      version: '35.0.0',
      productName: 'A',
      versionAssessment: 'current',
      lastCheckState: 'failed',
      failure: 'server',
      message: 'It has a fault.',
      lastOkAt,
    });
    await check(ctx, id, { ...reached, isMaintenance: true, version: null });
    expect(await getCloudInstance(ctx, id)).toMatchObject({ version: '35.0.0', isMaintenance: true, failure: null });
  });

  it('of a switched-off instance leaves its light grey and reports nothing', async () => {
    const ctx = await admin();
    const server = await cloud();
    const { id } = await make.cloudInstance(ctx.tenantId, { statusUrl: server.origin, isActive: false });
    expect(await checkCloudInstance(ctx, id)).toMatchObject({ light: 'grey', lastCheckState: 'ok', version: '35.0.0' });
    for (let n = 0; n < 3; n += 1) await check(ctx, id, failed);
    expect(await getCloudInstance(ctx, id)).toMatchObject({
      light: 'grey',
      reportedState: 'ok',
      consecutiveFailures: 3,
    });
    expect(await transitionsOf(ctx, id)).toEqual([]);
  });

  it('is reported on the second failure in a row, and on recovery', async () => {
    const ctx = await admin();
    const { id } = await make.cloudInstance(ctx.tenantId);
    const seen: unknown[] = [];
    for (const reading of [reached, failed, reached, failed, failed, failed, reached, reached]) {
      await check(ctx, id, reading);
      const { light, reportedState, consecutiveFailures } = await getCloudInstance(ctx, id);
      seen.push([light, reportedState, consecutiveFailures]);
    }
    expect(seen).toEqual([
      ['green', 'ok', 0],
      ['yellow', 'ok', 1],
      ['green', 'ok', 0],
      ['yellow', 'ok', 1],
      ['red', 'failed', 2],
      ['red', 'failed', 3],
      ['green', 'ok', 0],
      ['green', 'ok', 0],
    ]);
    expect(await transitionsOf(ctx, id)).toEqual(['ok failed', 'failed ok']);
    const { items } = await listTransitions(ctx, { limit: 10 });
    expect(items).toMatchObject([
      { instanceId: id, from: 'failed', to: 'ok' },
      { instanceId: id, from: 'ok', to: 'failed', reason: 'It has a fault.' },
    ]);
  });
});

describe('the next check', () => {
  it('of a new instance is due within the hour, spread over it', async () => {
    const ctx = await admin();
    const input = { customerName: 'Nordheim', statusUrl: 'https://cloud.example.org', isActive: true };
    const made = await Promise.all(Array.from({ length: 40 }, () => createCloudInstance(ctx, input)));
    const rows = await Promise.all(made.map(({ id }) => rowOf(ctx, id)));
    const minutes = rows.map(({ inSec }) => inSec / 60);
    expect(Math.min(...minutes)).toBeGreaterThan(-1);
    expect(Math.max(...minutes)).toBeLessThanOrEqual(60);
    expect(new Set(minutes.map((minute) => Math.floor(minute / 15))).size).toBe(4);
  });

  it.each([0, 1, 1_800, 3_599])('after a good one is due again at second %i of an hour', async (slotSec) => {
    const ctx = await admin();
    const { id } = await make.cloudInstance(ctx.tenantId, { slotSec });
    await check(ctx, id, reached);
    const { inSec, secondOfHour } = await rowOf(ctx, id);
    expect(secondOfHour).toBe(slotSec);
    expect(inSec).toBeGreaterThan(-5);
    expect(inSec).toBeLessThanOrEqual(HOUR / SECOND);
  });

  it('after a failed one is due five minutes later', async () => {
    const ctx = await admin();
    const { id } = await make.cloudInstance(ctx.tenantId);
    for (let n = 0; n < 3; n += 1) {
      await check(ctx, id, failed);
      const { inSec } = await rowOf(ctx, id);
      expect(inSec).toBeGreaterThan(295);
      expect(inSec).toBeLessThanOrEqual(300);
    }
  });

  it('is enqueued only for active tenants with the module on and a due instance', async () => {
    const [ctx, other, resting, off] = [await admin(), await admin(), await admin(), await admin()];
    await setModuleEnabled(off, 'cloud-status', false);
    await make.cloudInstance(off.tenantId, due);
    await runtime.database.acrossTenants('a test deactivates a tenant', (tx) =>
      tx.execute(sql`update tenants set is_active = false where id = ${resting.tenantId}`),
    );
    await make.cloudInstance(ctx.tenantId, due);
    await make.cloudInstance(ctx.tenantId, due);
    await make.cloudInstance(other.tenantId, { nextCheckAt: new Date(Date.now() + MINUTE) });
    await make.cloudInstance(other.tenantId, { ...due, isActive: false });
    await make.cloudInstance(resting.tenantId, due);
    const asked: string[] = [];
    await startDueCloudChecks({
      ...system(),
      enqueue: async (job, payload) => {
        expect(job).toBe(checkDueInstances);
        asked.push((payload as { tenantId: string }).tenantId);
      },
    });
    expect(asked).toContain(ctx.tenantId);
    expect(asked).toEqual([...new Set(asked)]);
    expect(asked).not.toContain(other.tenantId);
    expect(asked).not.toContain(resting.tenantId);
    expect(asked).not.toContain(off.tenantId);
  });

  it('queued before the module was switched off makes no call', async () => {
    const ctx = await admin();
    const server = await cloud();
    await make.cloudInstance(ctx.tenantId, { ...due, statusUrl: `${server.origin}/status.php` });
    const { runId } = await startCheckOfAll({ ...ctx, enqueue: async () => undefined });
    await setModuleEnabled(ctx, 'cloud-status', false);
    await checkDueCloudInstances(jobOf(ctx), { signal });
    await checkAllCloudInstances(jobOf(ctx), { signal, run: { id: runId, attempt: 1 }, progress: () => undefined });
    expect(server.requests()).toBe(0);
    await setModuleEnabled(ctx, 'cloud-status', true);
    await checkDueCloudInstances(jobOf(ctx), { signal });
    expect(server.requests()).toBe(1);
  });
});

describe('checks at the same time', () => {
  it('fifty by hand call the cloud once', async () => {
    const ctx = await admin();
    const server = await cloud({ latencyMs: 100 });
    const { id } = await make.cloudInstance(ctx.tenantId, { statusUrl: server.origin });
    const answers = await Promise.allSettled(Array.from({ length: 50 }, () => checkCloudInstance(ctx, id)));
    const refused = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason as unknown);
    expect(refused).toHaveLength(49);
    for (const reason of refused)
      expect(reason).toMatchObject({ code: 'POLL_LOCKED', retryAfterSec: expect.any(Number) });
    expect(server.requests()).toBe(1);
    // Other instances are not locked.
    const other = await make.cloudInstance(ctx.tenantId, { statusUrl: server.origin });
    await checkCloudInstance(ctx, other.id);
  });

  it('by hand, by a run and by schedule count once', async () => {
    const ctx = await admin();
    const server = await cloud({ latencyMs: 1_000 });
    server.answer = () => brokenCloud;
    const { id } = await make.cloudInstance(ctx.tenantId, { statusUrl: server.origin, ...due });
    const { runId } = await startCheckOfAll(ctx);
    const [shown] = await Promise.all([
      checkCloudInstance(ctx, id),
      checkDueCloudInstances(jobOf(ctx), { signal }),
      checkAllCloudInstances(jobOf(ctx), { signal, run: { id: runId, attempt: 1 }, progress: () => undefined }),
    ]);
    expect(shown).toMatchObject({ lastCheckState: 'failed', consecutiveFailures: 1 });
    expect(server.requests()).toBe(1);
  });

  it('an earlier one never overwrites a later one, and one of an old address is discarded', async () => {
    const ctx = await admin();
    const { id } = await make.cloudInstance(ctx.tenantId);
    const early = (await claimOne(ctx, id)) as Claim;
    expect(await claimOne(ctx, id)).toBeNull();
    await ctx.tx((tx) =>
      tx
        .update(cloudInstances)
        .set({ leasedUntil: sql`now() - interval '1 second'` })
        .where(eq(cloudInstances.id, id)),
    );
    expect(await check(ctx, id, reached)).toBe(true);
    expect(await settleChecks(ctx, [{ claim: early, reading: failed }])).toEqual([false]);
    expect(await rowOf(ctx, id)).toMatchObject({ state: 'ok', failures: 0 });

    const before = (await claimOne(ctx, id)) as Claim;
    await updateCloudInstance(ctx, id, { statusUrl: 'https://other.example.org' });
    expect((await rowOf(ctx, id)).inSec).toBeLessThanOrEqual(0);
    expect(await settleChecks(ctx, [{ claim: before, reading: failed }])).toEqual([false]);
    expect(await rowOf(ctx, id)).toMatchObject({ state: 'ok', failures: 0, leaseId: null });

    const gone = (await claimOne(ctx, id)) as Claim;
    await deleteCloudInstance(ctx, id);
    expect(await settleChecks(ctx, [{ claim: gone, reading: failed }])).toEqual([false]);
  });

  it('that end with their process are repeated soon, the second time at the usual time', async () => {
    const ctx = await admin();
    const secondOfHour = Math.floor(Date.now() / SECOND) % 3_600;
    const { id } = await make.cloudInstance(ctx.tenantId, { ...due, slotSec: (secondOfHour + 1_800) % 3_600 });
    // A process that is killed leaves its lease behind.
    const processEnds = () =>
      ctx.tx((tx) =>
        tx
          .update(cloudInstances)
          .set({ leasedUntil: sql`now() - interval '1 second'` })
          .where(eq(cloudInstances.id, id)),
      );
    expect(await claimDue(ctx, 10)).toHaveLength(1);
    await processEnds();
    const [again] = await claimDue(ctx, 10);
    expect(again?.id).toBe(id);
    await processEnds();
    expect(await claimDue(ctx, 10)).toEqual([]);
    expect((await rowOf(ctx, id)).inSec).toBeGreaterThan(1_700);
    await makeDue(ctx, id);
    const [usual] = await claimDue(ctx, 10);
    expect(usual?.id).toBe(id);
    if (usual) await settleChecks(ctx, [{ claim: usual, reading: failed }]);
    // A finished check counts as usual.
    expect((await rowOf(ctx, id)).inSec).toBeLessThan(301);
  });

  it('by hand answer 503 within 15 s if another check lost its process', async () => {
    const ctx = await admin();
    const server = await cloud();
    const { id } = await make.cloudInstance(ctx.tenantId, { statusUrl: server.origin });
    const left = await claimOne(ctx, id);
    expect(left).not.toBeNull();
    const beganAt = performance.now();
    await expect(checkCloudInstance(ctx, id)).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSec: 5 });
    expect(performance.now() - beganAt).toBeLessThan(20 * SECOND);
    expect(server.requests()).toBe(0);
    expect((await rowOf(ctx, id)).leaseId).toBe(left?.leaseId);
  }, 60_000);

  it('in parallel jobs check each instance once', async () => {
    const ctx = await admin();
    const server = await cloud({ latencyMs: 20 });
    for (let n = 0; n < 60; n += 1)
      await make.cloudInstance(ctx.tenantId, { ...due, statusUrl: `${server.origin}/${n}` });
    await Promise.all([1, 2, 3].map(() => checkDueCloudInstances(jobOf(ctx), { signal })));
    for (let n = 0; n < 60; n += 1) expect(server.requests(String(n))).toBe(1);
    expect(await claimDue(ctx, 10)).toEqual([]);
  });

  it('run a hundred at a time, and a slow cloud delays no other', async () => {
    const ctx = await admin();
    const server = await cloud({ latencyMs: 150 });
    const doneAt = new Map<string, number>();
    const startedAt = performance.now();
    server.answer = (folder) => {
      doneAt.set(folder, performance.now() - startedAt);
      return folder === 'slow' ? 'silence' : statusDocument();
    };
    await make.cloudInstance(ctx.tenantId, { ...due, statusUrl: `${server.origin}/slow` });
    for (let n = 0; n < 250; n += 1)
      await make.cloudInstance(ctx.tenantId, { ...due, statusUrl: `${server.origin}/${n}` });
    await checkDueCloudInstances(jobOf(ctx), { signal });
    expect(server.maxAtOnce()).toBeLessThanOrEqual(100);
    expect(server.maxAtOnce()).toBeGreaterThan(60);
    expect(Math.max(...doneAt.values())).toBeLessThan(8_000);
    expect((await listCloudInstances(ctx)).filter(({ lastCheckState }) => lastCheckState === 'failed')).toHaveLength(1);
  }, 40_000);

  it('of many tenants share five hundred slots of a process and end within their leases', async () => {
    const server = await cloud({ latencyMs: 700 });
    const contexts: UserContext[] = [];
    for (let tenant = 0; tenant < 7; tenant += 1) {
      const ctx = await admin();
      contexts.push(ctx);
      for (let n = 0; n < 130; n += 1)
        await make.cloudInstance(ctx.tenantId, { ...due, statusUrl: `${server.origin}/${tenant}-${n}` });
    }
    await Promise.all(contexts.map((ctx) => checkDueCloudInstances(jobOf(ctx), { signal })));
    expect(server.maxAtOnce()).toBeLessThanOrEqual(500);
    expect(server.maxAtOnce()).toBeGreaterThan(300);
    expect(server.requests()).toBe(7 * 130);
    for (const ctx of contexts) expect(await claimDue(ctx, 1)).toEqual([]);
  }, 60_000);

  it('by hand wait for each other beyond the limit of a tenant', async () => {
    const ctx = await admin();
    const server = await cloud({ latencyMs: 300 });
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1)
      ids.push((await make.cloudInstance(ctx.tenantId, { statusUrl: `${server.origin}/${n}` })).id);
    await Promise.all(ids.map((id) => checkCloudInstance(ctx, id)));
    expect(server.requests()).toBe(30);
    expect(server.maxAtOnce()).toBeLessThanOrEqual(20);
  }, 20_000);

  it('that are stopped release their unchecked claims', async () => {
    const ctx = await admin();
    const server = await cloud();
    server.answer = () => 'silence';
    for (let n = 0; n < 150; n += 1) await make.cloudInstance(ctx.tenantId, { ...due, statusUrl: server.origin });
    const stop = new AbortController();
    const checking = checkInstances(ctx, { claim: (limit) => claimDue(ctx, limit), signal: stop.signal });
    await expect.poll(() => server.requests(), { timeout: 10_000 }).toBe(100);
    stop.abort(new Error('stop'));
    await expect(checking).rejects.toThrow('stop');
    expect(await claimDue(ctx, 200)).toHaveLength(150);
  });

  it('end after their turn and say that some are left', async () => {
    const ctx = await admin();
    const server = await cloud({ latencyMs: 300 });
    for (let n = 0; n < 250; n += 1) await make.cloudInstance(ctx.tenantId, { ...due, statusUrl: server.origin });
    const turn = () => checkInstances(ctx, { claim: (limit) => claimDue(ctx, limit), signal, turnMs: 200 });
    expect(await turn()).toEqual({ isMoreLeft: true });
    while ((await turn()).isMoreLeft);
    expect(server.requests()).toBe(250);
  });
});

describe('a run over all', () => {
  const runOf = (ctx: UserContext) =>
    ctx.read((db) => db.select({ id: runs.id }).from(runs).where(eq(runs.kind, 'cloud-status.check-all')));

  it('checks every active instance once, due or not, and can be resumed', async () => {
    const ctx = await admin();
    const server = await cloud();
    for (let n = 0; n < 5; n += 1) await make.cloudInstance(ctx.tenantId, { statusUrl: `${server.origin}/${n}` });
    await make.cloudInstance(ctx.tenantId, { statusUrl: `${server.origin}/off`, isActive: false });
    const { runId } = await startCheckOfAll(ctx);
    await expect(startCheckOfAll(ctx)).rejects.toMatchObject({ code: 'POLL_LOCKED' });
    const reported: number[][] = [];
    const work = {
      signal,
      run: { id: runId, attempt: 1 },
      progress: (done: number, total: number) => void reported.push([done, total]),
    };
    await checkAllCloudInstances(jobOf(ctx), work);
    expect(reported.at(-1)).toEqual([5, 5]);
    expect(server.requests()).toBe(5);
    await checkAllCloudInstances(jobOf(ctx), work);
    expect(server.requests()).toBe(5);
  });

  it('that is under way is returned again, and other tenants have their own', async () => {
    const [ctx, other] = [await admin(), await admin()];
    const { runId } = await startCheckOfAll(ctx);
    await startCheckOfAll(other);
    await runtime.database.acrossTenants('a test lets time pass', (tx) => tx.execute(sql`delete from rate_windows`));
    expect(await startCheckOfAll(ctx)).toEqual({ runId });
    expect(await runOf(ctx)).toEqual([{ id: runId }]);
    await ctx.tx((tx) =>
      tx
        .update(runs)
        .set({ state: 'succeeded', finishedAt: sql`now()` })
        .where(and(eq(runs.id, runId))),
    );
    await runtime.database.acrossTenants('a test lets time pass', (tx) => tx.execute(sql`delete from rate_windows`));
    expect((await startCheckOfAll(ctx)).runId).not.toBe(runId);
  });
});

it('refuses more than ten thousand instances', async () => {
  const ctx = await admin();
  await ctx.tx((tx) =>
    tx.execute(sql`insert into cloud_instances (id, tenant_id, customer_name, status_url, slot_sec, next_check_at)
      select gen_random_uuid(), ${ctx.tenantId}, 'K', 'https://cloud.example.org', 0, now() + interval '1 hour' from generate_series(1, 9999)`),
  );
  const input = { customerName: 'Nordheim', statusUrl: 'https://cloud.example.org', isActive: false };
  const both = await Promise.allSettled([createCloudInstance(ctx, input), createCloudInstance(ctx, input)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'LIMIT_REACHED' } });
});

it('answers 404 for an unknown instance', async () => {
  const ctx = await admin();
  for (const call of [
    () => checkCloudInstance(ctx, newId()),
    () => updateCloudInstance(ctx, newId(), {}),
    () => deleteCloudInstance(ctx, newId()),
    () => listTransitions(ctx, { limit: 1, instanceId: newId() }),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('pages through transitions of all instances or of one', async () => {
  const ctx = await admin();
  const [one, other] = [await make.cloudInstance(ctx.tenantId), await make.cloudInstance(ctx.tenantId)];
  for (const { id } of [one, other, one])
    for (const reading of [failed, failed, reached]) await check(ctx, id, reading);
  await makeDue(ctx);
  const { items } = await listTransitions(ctx, { limit: 200 });
  expect(items).toHaveLength(6);
  const first = await listTransitions(ctx, { limit: 4 });
  expect(first.items).toEqual(items.slice(0, 4));
  const [at, id] = first.next ?? ['', ''];
  const second = await listTransitions(ctx, { limit: 4, after: [new Date(at), id] });
  expect(second).toEqual({ items: items.slice(4), next: null });
  expect((await listTransitions(ctx, { limit: 200, instanceId: other.id })).items).toHaveLength(2);
});
