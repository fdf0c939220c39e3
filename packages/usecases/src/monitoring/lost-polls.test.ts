import { eq, sql } from 'drizzle-orm';
import { afterAll, expect, it, vi } from 'vitest';
import { monitoredServers } from '@portal/db/schema/monitoring/servers';
import type { UserContext } from '@portal/platform/context';
import { addRun } from '@portal/platform/runs/start';
import { beginRun, endRun, type RunAtWork } from '@portal/platform/runs/state';
import { addServer, pollNow, serverForm } from '@portal/testing/monitoring';
import { testRuntime } from '@portal/testing/runtime';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { the } from '@portal/testing/the';
import { pollServers } from './jobs.ts';
import { pollTenantServers } from './run/poll-tenant-servers.ts';
import { listServers, putServer } from './servers.ts';

const { make, signedIn } = await testRuntime();
const started: ProductServer[] = [];
const processes = new AbortController();
afterAll(async () => {
  processes.abort();
  await Promise.all(started.map((server) => server.switchOff()));
});

const server = async () => {
  const product = await startVirtualizationServer();
  started.push(product);
  return product;
};
const admin = async () => signedIn(await make.user({ role: 'ADMIN' }));
const statusOf = async (ctx: UserContext, id: string) =>
  the((await listServers(ctx)).find((one) => one.id === id)).status;
const versions = ({ calls }: ProductServer) => calls.filter(({ path }) => path === '/version').length;

/** A server that ends the process that polls it: the process stops, and its connections are gone. */
async function deadly() {
  const product = await server();
  let asked = 0;
  const kills = () => (asked += 1) > 0;
  product.intercept = kills;
  return { product, asked: () => asked, kills };
}

/** A run in a separate process, with its own memory. */
const work = (ctx: UserContext, run: RunAtWork, signal: AbortSignal = processes.signal) =>
  pollTenantServers({ ...ctx, resources: new Map() }, { run, signal, actorId: null, progress: () => undefined });

const newRun = (ctx: UserContext) =>
  ctx.tx((tx) => addRun(tx, pollServers, { tenantId: ctx.tenantId }, { startedBy: null }));
const begin = async (ctx: UserContext, id: string) => the((await beginRun(ctx, id)) ?? undefined);

/** Begins an attempt of the run. It ends with its process once the deadly server is polled. */
async function dies(ctx: UserContext, id: string, asked: () => number): Promise<void> {
  const before = asked();
  void work(ctx, await begin(ctx, id)).catch(() => undefined);
  await vi.waitFor(() => expect(asked()).toBe(before + 1), { timeout: 5_000 });
}

async function ends(ctx: UserContext, id: string): Promise<void> {
  const run = await begin(ctx, id);
  await work(ctx, run);
  await endRun(ctx, run, { error: null });
}

const hourPasses = (ctx: UserContext, id: string) =>
  ctx.tx((tx) =>
    tx
      .update(monitoredServers)
      .set({ restsUntil: sql`${monitoredServers.restsUntil} - interval '1 hour'` })
      .where(eq(monitoredServers.id, id)),
  );

it('a server that ended two processes in a row rests for an hour, and again after every further one', async () => {
  const ctx = await admin();
  const { product, asked } = await deadly();
  const id = await addServer(ctx, product);
  const run = await newRun(ctx);
  await dies(ctx, run, asked);
  await dies(ctx, run, asked);
  await ends(ctx, run);
  const status = await statusOf(ctx, id);
  expect(status).toMatchObject({
    state: 'unknown',
    failure: 'antwortform',
    message: expect.stringContaining('in an hour'),
  });
  await pollNow(ctx);
  expect(await statusOf(ctx, id)).toEqual(status);
  expect(asked()).toBe(2);

  await hourPasses(ctx, id);
  const later = await newRun(ctx);
  await dies(ctx, later, asked);
  await ends(ctx, later);
  await pollNow(ctx);
  expect(asked()).toBe(3);
  expect(await statusOf(ctx, id)).toMatchObject({ state: 'critical', failure: 'antwortform' });
});

it('a resting server is polled at once after a change, and a finished poll resets the count', async () => {
  const ctx = await admin();
  const { product, asked, kills } = await deadly();
  const id = await addServer(ctx, product);
  const run = await newRun(ctx);
  await dies(ctx, run, asked);
  await dies(ctx, run, asked);
  await ends(ctx, run);
  await putServer(ctx, id, serverForm(product, { name: 'mended' }));
  const again = await newRun(ctx);
  await dies(ctx, again, asked);
  product.intercept = () => false;
  await ends(ctx, again);
  expect(await statusOf(ctx, id)).toMatchObject({ state: 'ok' });
  product.intercept = kills;
  const last = await newRun(ctx);
  await dies(ctx, last, asked);
  await dies(ctx, last, asked);
  expect(asked()).toBe(5);
});

it('other servers polled by the same process are polled again first and keep their state', async () => {
  const ctx = await admin();
  const [good, { product, asked }] = [await server(), await deadly()];
  const ids = [await addServer(ctx, good), await addServer(ctx, good)];
  const bad = await addServer(ctx, product);
  let isHeld = true;
  good.intercept = () => isHeld;
  const run = await newRun(ctx);
  await dies(ctx, run, asked);
  await vi.waitFor(() => expect(versions(good)).toBe(2), { timeout: 5_000 });
  isHeld = false;
  await dies(ctx, run, asked);
  await ends(ctx, run);
  await pollNow(ctx);
  for (const id of ids) expect(await statusOf(ctx, id)).toMatchObject({ state: 'ok', changes: [] });
  expect(await statusOf(ctx, bad)).toMatchObject({ failure: 'antwortform' });
  expect(asked()).toBe(2);
});

it('a poll stopped with its worker does not count against its server', async () => {
  const ctx = await admin();
  const { product, asked } = await deadly();
  const id = await addServer(ctx, product);
  const run = await newRun(ctx);
  for (let stop = 1; stop <= 3; stop += 1) {
    const worker = new AbortController();
    const working = work(ctx, await begin(ctx, run), worker.signal);
    await vi.waitFor(() => expect(asked()).toBe(stop), { timeout: 5_000 });
    worker.abort(new Error('the worker ends'));
    await expect(working).rejects.toThrow('the worker ends');
  }
  product.intercept = () => false;
  await ends(ctx, run);
  expect(await statusOf(ctx, id)).toMatchObject({ state: 'ok', changes: [] });
});
