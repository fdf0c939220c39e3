import { eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { monitoredServers, pollPlans, serverStatuses } from '@portal/db/schema/monitoring/servers';
import { rateWindows, runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { waitForRun } from '@portal/platform/runs/wait';
import { addServer, addServers, deadForm, pollNow, serverForm } from '@portal/testing/monitoring';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { testRuntime } from '@portal/testing/runtime';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { the } from '@portal/testing/the';
import { jobOrigin, startTestWorker, type TestWorker } from '@portal/testing/worker';
import { setModuleEnabled } from '../modules/modules.ts';
import { getRun } from '../operations/get-run.ts';
import { monitoring } from './area.ts';
import { monitoringHandlers } from './handlers.ts';
import { createServer, deleteServer, listServers, putServer } from './servers.ts';
import { startDueServerPolls } from './start-due-polls.ts';
import { startPoll } from './start-poll.ts';

const { url, make, signedIn, system } = await testRuntime();
const admin = async () => signedIn(await make.user({ role: 'ADMIN' }));
const adminWithoutQueue = async (): Promise<UserContext> => ({ ...(await admin()), enqueue: async () => undefined });

const started: ProductServer[] = [];
afterAll(() => Promise.all(started.map((server) => server.switchOff())));
async function server(): Promise<ProductServer> {
  const one = await startVirtualizationServer();
  started.push(one);
  return one;
}

const soon = { timeout: 30_000, interval: 50 };
const workers: TestWorker[] = [];
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.stop())));
function startWorker(env: Record<string, string> = {}, withSchedules = false): TestWorker {
  const worker = startTestWorker(
    url,
    {
      handlers: monitoringHandlers,
      concurrency: monitoring.concurrency ?? {},
      ...(withSchedules && { schedules: monitoring.schedules ?? [] }),
    },
    { env },
  );
  workers.push(worker);
  return worker;
}
/** Enqueues to the queue of this worker. */
const through = ({ runtime }: TestWorker, ctx: UserContext): UserContext => ({
  ...ctx,
  enqueue: runtime.system(jobOrigin()).enqueue,
});
const stateOf = async (ctx: UserContext) => (await listServers(ctx)).map(({ status }) => status.state);
const runsOf = (ctx: UserContext) =>
  ctx.read((db) =>
    db
      .select({ id: runs.id, state: runs.state, startedBy: runs.startedBy })
      .from(runs)
      .where(eq(runs.tenantId, ctx.tenantId)),
  );
/** Resets the rate limit of polls. */
const resetRateLimit = () => system().acrossTenants('a test lets time pass', (tx) => tx.delete(rateWindows));
const becomeDue = (ctx: UserContext) => ctx.tx((tx) => tx.update(pollPlans).set({ nextPollAt: sql`now()` }));
const runsEnd = (ctx: UserContext) =>
  ctx.tx((tx) =>
    tx
      .update(runs)
      .set({ state: 'succeeded', finishedAt: sql`now()` })
      .where(isUnfinished),
  );
/** The same server under another host name, because polls of one host wait for each other. */
const atAnotherHost = ({ port }: ProductServer) => ({ address: `https://127.0.0.1:${port}`, verifyTls: false });
const nextPollOf = async (ctx: UserContext) =>
  the(the((await ctx.read((db) => db.select().from(pollPlans)))[0]).nextPollAt).getTime();

describeOnEachQueue('servers', (env) => {
  it('are polled automatically within a minute', { timeout: 70_000 }, async () => {
    const ctx = await admin();
    await addServer(ctx, await server());
    startWorker(env, true);
    await vi.waitFor(async () => expect(await stateOf(ctx)).toEqual(['ok']), { timeout: 60_000, interval: 200 });
  });

  it('are polled once when ten callers ask two workers', async () => {
    const ctx = await admin();
    const one = await server();
    await addServer(ctx, one);
    startWorker(env);
    const asking = through(startWorker(env), ctx);
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => startPoll(asking)));
    const [first] = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const refused = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused).toHaveLength(9);
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'POLL_LOCKED', kind: 'busy' });
      expect(error.retryAfterSec).toBeGreaterThan(0);
      expect(error.retryAfterSec).toBeLessThanOrEqual(10);
    }
    expect(await waitForRun(ctx, the(first).runId, 25)).toBe(true);
    expect(await getRun(ctx, the(first).runId)).toMatchObject({ state: 'succeeded', progress: { done: 1, total: 1 } });
    expect(await runsOf(ctx)).toHaveLength(1);
    expect(one.calls.filter(({ path }) => path === '/version')).toHaveLength(1);
  });

  it(
    'that hang delay neither the tenant’s other servers nor other tenants, and leave no secret in the log',
    { timeout: 60_000 },
    async () => {
      const [slow, quick] = [await admin(), await admin()];
      const [hanging, good] = [await server(), await server()];
      hanging.intercept = () => true;
      for (let n = 0; n < 30; n += 1) await addServer(slow, hanging, { name: `hanging ${n}` });
      await addServer(slow, good, { name: 'a good one', ...atAnotherHost(good) });
      await addServer(quick, good);
      const worker = startWorker(env);
      await startPoll(through(worker, slow));
      await startPoll(through(worker, quick));
      await vi.waitFor(async () => expect(await stateOf(quick)).toEqual(['ok']), soon);
      await vi.waitFor(async () => expect((await stateOf(slow))[0]).toBe('ok'), soon);
      // Each of the thirty hangs for eight seconds: most of them were not even asked yet.
      expect(hanging.calls.length).toBeLessThan(30);
      expect(JSON.stringify(worker.lines)).not.toContain(good.accounts.token.secret);
      const body = await worker.figures();
      const read = body.matchAll(/portal_polls_total\{.*kind="virtualization",outcome="read".*\} (\d+)/g);
      expect([...read].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(2);
      expect(body).not.toContain(good.accounts.token.secret);
    },
  );
});

describe('runs that are due', () => {
  it('start once and repeat on the tenant’s grid', async () => {
    const ctx = await adminWithoutQueue();
    await createServer(ctx, deadForm());
    await putServer(ctx, (await createServer(ctx, { ...deadForm(), pollIntervalMin: 2 })).id, {
      ...deadForm(),
      pollIntervalMin: 2,
    });
    await Promise.all([1, 2, 3].map(() => startDueServerPolls(system())));
    expect(await runsOf(ctx)).toHaveLength(1);
    const next = await nextPollOf(ctx);
    expect(next).toBeGreaterThan(Date.now() - 1_000);
    expect(next).toBeLessThanOrEqual(Date.now() + 121_000);
    await becomeDue(ctx);
    await startDueServerPolls(system());
    expect(await runsOf(ctx)).toHaveLength(1);
    await runsEnd(ctx);
    await startDueServerPolls(system());
    expect(await runsOf(ctx)).toHaveLength(2);
    // The same grid, no matter how late the sweep was.
    expect((await nextPollOf(ctx)) % 120_000).toBe(next % 120_000);
  });

  it('follow the smallest interval of the active servers', async () => {
    const ctx = await adminWithoutQueue();
    await createServer(ctx, { ...deadForm(), pollIntervalMin: 60 });
    const often = { ...deadForm(), pollIntervalMin: 1 };
    const { id } = await createServer(ctx, { ...often, isActive: false });
    await startDueServerPolls(system());
    const spread = sql<number>`(hashtext(${pollPlans.tenantId}::text)::bigint & 2147483647)::float8`;
    const [plan] = await ctx.read((db) => db.select({ spread }).from(pollPlans));
    expect(Math.abs(((await nextPollOf(ctx)) / 1_000 - the(plan).spread) % 3_600)).toBe(0);
    await putServer(ctx, id, often);
    expect(await nextPollOf(ctx)).toBeLessThanOrEqual(Date.now() + 1_000);
    await runsEnd(ctx);
    await startDueServerPolls(system());
    expect(await nextPollOf(ctx)).toBeLessThanOrEqual(Date.now() + 61_000);
  });

  it('follow the run under way when a server was added or changed meanwhile, even if others change too', async () => {
    const ctx = await adminWithoutQueue();
    const hourly = { ...deadForm(), pollIntervalMin: 60 };
    const { id } = await createServer(ctx, hourly);
    await startDueServerPolls(system());
    for (const change of [() => createServer(ctx, hourly), () => putServer(ctx, id, hourly)]) {
      const before = (await runsOf(ctx)).length;
      await change();
      await startDueServerPolls(system());
      const { id: other } = await createServer(ctx, { ...hourly, isActive: false });
      await putServer(ctx, other, { ...hourly, name: 'other', isActive: false });
      await deleteServer(ctx, other);
      await startDueServerPolls(system());
      expect(await runsOf(ctx)).toHaveLength(before);
      await runsEnd(ctx);
      await startDueServerPolls(system());
      expect(await runsOf(ctx)).toHaveLength(before + 1);
      expect(await nextPollOf(ctx)).toBeGreaterThan(Date.now() - 1_000);
    }
  });

  it('are spread over tenants', async () => {
    const offsets = new Set<number>();
    for (let n = 0; n < 8; n += 1) {
      const ctx = await adminWithoutQueue();
      await createServer(ctx, { ...deadForm(), pollIntervalMin: 60 });
      await startDueServerPolls(system());
      offsets.add(Math.floor(((await nextPollOf(ctx)) % 3_600_000) / 60_000));
    }
    expect(offsets.size).toBeGreaterThan(4);
  });

  it('stop while the tenant is inactive or no server is active', async () => {
    const [off, resting] = [await adminWithoutQueue(), await adminWithoutQueue()];
    const { id } = await createServer(off, deadForm());
    await putServer(off, id, { ...deadForm(), isActive: false });
    await createServer(resting, deadForm());
    await system().acrossTenants('a test', (tx) =>
      tx.update(tenants).set({ isActive: false }).where(eq(tenants.id, resting.tenantId)),
    );
    await startDueServerPolls(system());
    expect([await runsOf(off), await runsOf(resting)]).toEqual([[], []]);
  });

  it('stop while the module is switched off, even if already started, and resume when it is on again', async () => {
    const ctx = await adminWithoutQueue();
    const one = await server();
    await addServer(ctx, one);
    await setModuleEnabled(ctx, 'virtualization', false);
    await pollNow(ctx);
    expect(one.calls).toEqual([]);
    const before = await runsOf(ctx);
    await startDueServerPolls(system());
    expect(await runsOf(ctx)).toEqual(before);
    await setModuleEnabled(ctx, 'virtualization', true);
    await startDueServerPolls(system());
    expect(await runsOf(ctx)).toHaveLength(before.length + 1);
  });

  it('follow the tenant’s own interval, regardless of other tenants', async () => {
    await createServer(await adminWithoutQueue(), { ...deadForm(), pollIntervalMin: 1 });
    const waits: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const ctx = await adminWithoutQueue();
      await createServer(ctx, { ...deadForm(), pollIntervalMin: 60 });
      await startDueServerPolls(system());
      waits.push((await nextPollOf(ctx)) - Date.now());
    }
    // Spread over the hour.
    expect(Math.max(...waits)).toBeGreaterThan(2 * 60_000);
  });

  it('are joined by users who start a poll meanwhile, and these users may then watch the run', async () => {
    const ctx = await adminWithoutQueue();
    await createServer(ctx, deadForm());
    const user: UserContext = {
      ...(await signedIn(await make.user({ tenantId: ctx.tenantId }))),
      enqueue: async () => undefined,
    };
    await startDueServerPolls(system());
    const { runId } = await startPoll(user);
    expect(await runsOf(ctx)).toEqual([{ id: runId, state: 'queued', startedBy: user.actor.id }]);
    expect(await getRun(user, runId)).toMatchObject({ id: runId });
    const colleague: UserContext = {
      ...(await signedIn(await make.user({ tenantId: ctx.tenantId }))),
      enqueue: async () => undefined,
    };
    await expect(getRun(colleague, runId)).rejects.toMatchObject({ kind: 'not_found' });
    for (let n = 0; n < 2; n += 1) {
      await resetRateLimit();
      expect(await startPoll(colleague)).toEqual({ runId });
    }
    expect(await getRun(user, runId)).toMatchObject({ id: runId });
    expect(await getRun(colleague, runId)).toMatchObject({ id: runId });
    expect(await ctx.read((db) => db.select({ joinedBy: runs.joinedBy }).from(runs))).toEqual([
      { joinedBy: [colleague.actor.id] },
    ]);
  });
});

/** Stores the status of servers that the last run did not reach. */
async function becameSilent(ctx: UserContext): Promise<void> {
  const status = {
    tenantId: ctx.tenantId,
    runId: newId(),
    state: 'unknown' as const,
    headline: '',
    facts: '[]',
    rules: '[]',
    notExamined: '{"count":0,"items":[]}',
    changes: '[]',
    missed: 1,
    tookMs: 9,
    memory: {},
    checkedAt: new Date(0),
  };
  const all = await ctx.read((db) => db.select({ id: monitoredServers.id }).from(monitoredServers));
  if (all.length > 0) await ctx.tx((tx) => tx.insert(serverStatuses).values(all.map(({ id }) => ({ ...status, id }))));
}

describe('a run', () => {
  it('that is resumed skips the servers it has polled', async () => {
    const ctx = await adminWithoutQueue();
    const [one, other] = [await server(), await server()];
    const id = await addServer(ctx, one);
    await addServer(ctx, other);
    await pollNow(ctx);
    const [row] = await ctx.read((db) =>
      db.select({ runId: serverStatuses.runId }).from(serverStatuses).where(eq(serverStatuses.id, id)),
    );
    // The state after a worker was killed between the two polls.
    await ctx.tx((tx) => tx.delete(serverStatuses).where(sql`${serverStatuses.id} <> ${id}`));
    await ctx.tx((tx) =>
      tx
        .update(runs)
        .set({ state: 'running', finishedAt: null, dueAt: sql`now() - interval '1 second'` })
        .where(eq(runs.id, the(row).runId)),
    );
    for (const product of [one, other]) product.calls.length = 0;
    startWorker();
    await startPoll({ ...ctx, enqueue: (await admin()).enqueue });
    expect(await waitForRun(ctx, the(row).runId, 25)).toBe(true);
    expect([one.calls.length, other.calls.length > 5]).toEqual([0, true]);
    expect(await stateOf(ctx)).toEqual(['ok', 'ok']);
  });

  it('polls good servers in time next to two thousand that hang or are dead, in the same and in other tenants', async () => {
    const hanging = await server();
    hanging.intercept = () => true;
    const good = await startMailGatewayServer();
    started.push(good);
    const contexts: UserContext[] = [];
    for (const bad of [490, 490, 490, 490, 40, 0]) {
      const ctx = await adminWithoutQueue();
      contexts.push(ctx);
      await addServers(
        ctx,
        Array.from({ length: bad }, (_, n) => (n % 2 === 0 ? serverForm(hanging) : deadForm())),
      );
      await becameSilent(ctx);
      await addServers(
        ctx,
        Array.from({ length: 10 }, () => serverForm(good, { name: 'good' })),
      );
    }
    const polling = Promise.all(contexts.map((ctx) => pollNow(ctx, { maxWaitMs: 2_000 })));
    const wellOf = (ctx: UserContext) => ctx.read((db) => db.$count(serverStatuses, eq(serverStatuses.state, 'ok')));
    // Behind the hanging servers, eight seconds each, this would take more than a minute.
    await vi.waitFor(async () => expect(await Promise.all(contexts.map(wellOf))).toEqual(contexts.map(() => 10)), {
      timeout: 30_000,
      interval: 200,
    });
    await polling;
  }, 90_000);

  it(
    'over a hundred servers that answer and then stall leaves slots for other tenants',
    { timeout: 30_000 },
    async () => {
      const [stalling, other] = [await adminWithoutQueue(), await adminWithoutQueue()];
      const [slow, good] = [await server(), await server()];
      const stalled: (() => void)[] = [];
      let isOver = false;
      slow.intercept = (path, _request, response) => {
        if (path === '/version') return false;
        if (isOver) response.destroy();
        else stalled.push(() => response.destroy());
        return true;
      };
      await addServers(
        stalling,
        Array.from({ length: 100 }, () => serverForm(slow)),
      );
      await addServer(other, good);
      const polling = pollNow(stalling);
      await vi.waitFor(() => expect(stalled).toHaveLength(4), soon);
      await pollNow(other);
      expect(await stateOf(other)).toEqual(['ok']);
      expect(stalled).toHaveLength(4);
      isOver = true;
      for (const end of stalled) end();
      await polling;
    },
  );

  it(
    'starts with servers that answered, and leaves hanging ones to the next run after its maximum wait',
    { timeout: 60_000 },
    async () => {
      const ctx = await adminWithoutQueue();
      const hanging = await server();
      hanging.intercept = () => true;
      const good = await startMailGatewayServer();
      started.push(good);
      await addServers(
        ctx,
        Array.from({ length: 120 }, () => serverForm(hanging)),
      );
      await becameSilent(ctx);
      const id = await addServer(ctx, good);
      const polling = pollNow(ctx, { maxWaitMs: 3_000 });
      await vi.waitFor(
        async () => expect((await listServers(ctx)).find((one) => one.id === id)?.status.state).toBe('ok'),
        soon,
      );
      await polling;
      // Three of that host hung for eight seconds each. The others wait for the next run, which starts with them.
      expect(hanging.calls).toHaveLength(3);
      const left = (await ctx.read((db) => db.select({ at: serverStatuses.checkedAt }).from(serverStatuses))).filter(
        ({ at }) => at.getTime() === 0,
      );
      expect(left).toHaveLength(117);
    },
  );
});
