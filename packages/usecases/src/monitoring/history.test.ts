import { sql } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import { serverHistory } from '@portal/db/schema/monitoring/servers';
import { newId } from '@portal/domain/ids';
import { DAY, HOUR, MINUTE } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { removeExpiredRows } from '@portal/platform/retention';
import { addServer, deadForm, pollNow, serverForm } from '@portal/testing/monitoring';
import { testRuntime } from '@portal/testing/runtime';
import { startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { the } from '@portal/testing/the';
import { monitoring } from './area.ts';
import { addToHistory, type PastCheck, readServerHistory } from './history.ts';
import { createServer, deleteServer, putServer } from './servers.ts';

const { make, signedIn, system } = await testRuntime();
const admin = async () => signedIn(await make.user({ role: 'ADMIN' }));
const servers = await Promise.all([startVirtualizationServer(), startBackupServer(), startMailGatewayServer()]);
afterAll(() => Promise.all(servers.map((server) => server.switchOff())));
const [virtualization, backup, gateway] = servers;

const rowsOf = (ctx: UserContext) =>
  ctx.read((db) => db.select().from(serverHistory).orderBy(serverHistory.serverId, serverHistory.at));
const add = (ctx: UserContext, ...checks: PastCheck[]) => ctx.tx((tx) => addToHistory(tx, checks));
/** Puts what is in the history into the past. */
const letPass = (ctx: UserContext, interval: string) =>
  ctx.tx((tx) => tx.update(serverHistory).set({ at: sql`${serverHistory.at} - ${interval}::interval` }));

/** A server that no poll reaches, and its checks. */
async function quietServer(ctx: UserContext) {
  const { id } = await createServer(ctx, deadForm());
  const check = (at: number, more: Partial<PastCheck> = {}): PastCheck => ({
    id,
    at: new Date(at),
    state: 'ok',
    failure: null,
    figures: {},
    ...more,
  });
  return { id, check };
}
/** A whole hour. */
const noon = Date.UTC(2026, 10, 20, 12);

describe('the history of a server', () => {
  it.each([
    ['virtualization', virtualization, { cpu: 7, fullest: expect.any(Number), guests: 5 }],
    ['backup', backup, { cpu: 2, memory: expect.any(Number), fullest: 60 }],
    ['mail-gateway', gateway, { memory: expect.any(Number), fullest: expect.any(Number), waiting: expect.any(Number) }],
  ] as const)('of the kind %s has a point for its poll', async (_, server, figures) => {
    const ctx = await admin();
    const id = await addServer(ctx, server);
    expect(await readServerHistory(ctx, id, {})).toMatchObject({ stepSec: 300, points: [], figures: [] });
    await pollNow(ctx);
    const history = await readServerHistory(ctx, id, {});
    expect(history.points).toEqual([{ at: expect.any(Date), state: 'ok', failure: null }]);
    expect(history.points[0]?.at.getTime()).toBeLessThanOrEqual(Date.now());
    const read = Object.fromEntries(history.figures.map(({ key, average }) => [key, average[0]]));
    expect(read).toMatchObject(figures);
    for (const { average, highest } of history.figures) expect(average).toEqual(highest);
  });

  it('has one row for five minutes, which keeps the worst poll, and the last of equally bad ones', async () => {
    const ctx = await admin();
    const { id, check } = await quietServer(ctx);
    await add(ctx, check(noon + MINUTE, { figures: { cpu: 10 } }));
    await add(ctx, check(noon + 2 * MINUTE, { figures: { cpu: 20 } }));
    expect(await rowsOf(ctx)).toMatchObject([{ at: new Date(noon), state: 'ok', cpu: 20 }]);
    await add(ctx, check(noon + 3 * MINUTE, { state: 'critical', failure: 'netz' }));
    await add(ctx, check(noon + 4 * MINUTE, { state: 'warning', figures: { cpu: 30 } }));
    expect(await rowsOf(ctx)).toMatchObject([{ at: new Date(noon), state: 'critical', failure: 'netz', cpu: null }]);
    await add(ctx, check(noon + 5 * MINUTE));
    expect(await rowsOf(ctx)).toHaveLength(2);
    expect((await readServerHistory(ctx, id, { to: new Date(noon + HOUR) })).points).toEqual([
      { at: new Date(noon), state: 'critical', failure: 'netz' },
      { at: new Date(noon + 5 * MINUTE), state: 'ok', failure: null },
    ]);
  });

  it('has a point for a server that was not reached', async () => {
    const ctx = await admin();
    const { id } = await quietServer(ctx);
    await pollNow(ctx);
    expect(await readServerHistory(ctx, id, {})).toMatchObject({
      points: [{ state: 'unknown', failure: 'netz' }],
      figures: [],
    });
  });

  it('joins checks to steps with the worst state, the average and the highest value', async () => {
    const ctx = await admin();
    const { id, check } = await quietServer(ctx);
    const at = (minutes: number) => noon + minutes * MINUTE;
    await add(
      ctx,
      check(at(0), { figures: { cpu: 10, waiting: 3 } }),
      check(at(20), { state: 'warning', figures: { cpu: 25.16, waiting: 4 } }),
      check(at(40), { state: 'unknown', failure: 'netz' }),
      check(at(120), { figures: { cpu: 50 } }),
    );
    const to = new Date(noon + DAY);
    expect(await readServerHistory(ctx, id, { from: new Date(to.getTime() - 31 * DAY), to })).toEqual({
      from: new Date(to.getTime() - 31 * DAY),
      to,
      stepSec: 3_600,
      points: [
        { at: new Date(at(0)), state: 'warning', failure: null },
        { at: new Date(at(120)), state: 'ok', failure: null },
      ],
      figures: [
        { key: 'cpu', unit: 'percent', average: [17.6, 50], highest: [25.2, 50] },
        { key: 'waiting', unit: 'count', average: [3.5, null], highest: [4, null] },
      ],
    });
    // The first step of a window is whole.
    const within = await readServerHistory(ctx, id, { from: new Date(at(23)), to: new Date(at(40)) });
    expect(within).toMatchObject({ from: new Date(at(20)), stepSec: 300, points: [{ at: new Date(at(20)) }] });
  });

  it('is bounded however long the window is', async () => {
    const ctx = await admin();
    const { id, check } = await quietServer(ctx);
    const slots = (31 * DAY) / (5 * MINUTE);
    await add(
      ctx,
      ...Array.from({ length: slots }, (_, n) => check(noon - n * 5 * MINUTE, { figures: { cpu: n % 100 } })),
    );
    for (const days of [31, 20, 10, 5, 3, 1]) {
      const { points, stepSec } = await readServerHistory(ctx, id, {
        from: new Date(noon - days * DAY + MINUTE),
        to: new Date(noon + MINUTE),
      });
      expect(points.length, `${days} days`).toBeLessThanOrEqual(745);
      expect(points.length, `${days} days`).toBeGreaterThanOrEqual((days * DAY) / stepSec / 1_000);
    }
  });

  it('holds what a hostile server answers', async () => {
    const ctx = await admin();
    const { check } = await quietServer(ctx);
    await add(
      ctx,
      check(noon, { figures: { cpu: Infinity, memory: -1, fullest: Number.NaN, guests: 1e300, waiting: 2.6 } }),
    );
    expect(await rowsOf(ctx)).toMatchObject([
      { cpu: 100, memory: 0, fullest: null, guests: 1_000_000_000, waiting: 3 },
    ]);
  });

  it('goes with its server, and with a new kind or address', async () => {
    const ctx = await admin();
    const id = await addServer(ctx, backup);
    const other = await addServer(ctx, gateway);
    await pollNow(ctx);
    await putServer(ctx, id, serverForm(backup, { name: 'renamed' }));
    expect(await rowsOf(ctx)).toHaveLength(2);
    await putServer(ctx, id, serverForm(virtualization));
    expect((await rowsOf(ctx)).map(({ serverId }) => serverId)).toEqual([other]);
    await deleteServer(ctx, other);
    expect(await rowsOf(ctx)).toEqual([]);
  });

  it('is of the own tenant', async () => {
    const [ctx, stranger] = [await admin(), await admin()];
    const { id, check } = await quietServer(ctx);
    await add(stranger, check(Date.now()));
    expect(await rowsOf(ctx)).toEqual([]);
    for (const unknown of [id, newId()])
      await expect(readServerHistory(stranger, unknown, {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('refuses a window that is empty, too long or absurd', async () => {
    const ctx = await admin();
    const { id } = await quietServer(ctx);
    const now = new Date(noon);
    for (const query of [
      { from: now, to: now },
      { from: now, to: new Date(noon - 1) },
      { from: new Date(noon - 31 * DAY - 1), to: now },
      { from: new Date(noon - 40 * DAY * 365) },
      { to: new Date('0000-01-02T00:00:00Z') },
      { from: new Date('9999-12-31T00:00:00-01:00'), to: new Date('9999-12-31T23:59:59-01:00') },
    ])
      await expect(readServerHistory(ctx, id, query)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('goes after 30 days', async () => {
    const ctx = await admin();
    const { check } = await quietServer(ctx);
    await add(ctx, check(Date.now()), check(Date.now() - HOUR));
    const remove = () => removeExpiredRows(system(), the(monitoring.retention), new AbortController().signal);
    await letPass(ctx, '29 days 12 hours');
    await remove();
    expect(await rowsOf(ctx)).toHaveLength(2);
    await letPass(ctx, '12 hours');
    await remove();
    expect(await rowsOf(ctx)).toEqual([]);
  });
});
