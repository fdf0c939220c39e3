import { eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openServer } from '@portal/connectors/servers/server-session';
import { monitoredServers, serverStatuses } from '@portal/db/schema/monitoring/servers';
import { Server } from '@portal/domain/monitoring/servers';
import { Secret } from '@portal/domain/secret';
import type { UserContext } from '@portal/platform/context';
import { addServer, deadForm, passwordForm, pollNow, serverForm, statusAfter } from '@portal/testing/monitoring';
import { testRuntime } from '@portal/testing/runtime';
import { startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import {
  largeCluster,
  singleHost,
  startVirtualizationServer,
} from '@portal/testing/servers/products/virtualization-server';
import { caCertificatePem } from '@portal/testing/servers/tls';
import { the } from '@portal/testing/the';
import { pollStateOf } from './run/poll-state.ts';
import { openServerPoll } from './run/server-poll.ts';
import { createServer, putServer, deleteServer, listServers, listServersAsJson, serverTile } from './servers.ts';

const { make, signedIn } = await testRuntime();
const tenants: UserContext[] = [];
const admin = async () => {
  const ctx = await signedIn(await make.user({ role: 'ADMIN' }));
  tenants.push(ctx);
  return ctx;
};

const started: ProductServer[] = [];
afterAll(() => Promise.all(started.map((server) => server.switchOff())));
const running = async <Server extends ProductServer>(server: Promise<Server>): Promise<Server> => {
  started.push(await server);
  return server;
};
const virtualization = (cluster?: Parameters<typeof startVirtualizationServer>[0]) =>
  running(startVirtualizationServer(cluster));
const backup = () => running(startBackupServer());
const gateway = () => running(startMailGatewayServer());
/** Advances the clock of this process. */
function advanceTime(ms: number): void {
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  vi.setSystemTime(Date.now() + ms);
}
afterEach(() => vi.useRealTimers());
// Ids never fall behind the latest time they saw, so the next file needs a fresh generator.
afterAll(() => void vi.resetModules());
/** Backdates the settings of a server and its last poll. */
const setLastPoll = (ctx: UserContext, id: string, ago: string) =>
  ctx.tx(async (tx) => {
    await tx
      .update(monitoredServers)
      .set({ updatedAt: sql`now() - interval '1 day'` })
      .where(eq(monitoredServers.id, id));
    const checkedAt = sql`now() - ${ago}::interval`;
    await tx.update(serverStatuses).set({ checkedAt }).where(eq(serverStatuses.id, id));
  });
/** Makes calls to a node and its guest fail, although the cluster reports the node as online. */
function loseNode(server: Awaited<ReturnType<typeof virtualization>>): void {
  Object.assign(the(server.cluster.guests.find(({ vmid }) => vmid === 106)), { node: 'pve2' });
  server.intercept = (path, _request, response) => {
    if (!path.startsWith('/nodes/pve2')) return false;
    response.writeHead(596, 'Connection timed out', { connection: 'close' }).end();
    return true;
  };
}
const paths = ({ calls }: ProductServer) => calls.map(({ path }) => path);
const rule = (status: { rules: { key: string }[] }, key: string) => status.rules.find((one) => one.key === key);

describe('a healthy server', () => {
  it.each([
    ['virtualization', virtualization, '3 of 3 nodes online, 5 of 6 guests running'],
    ['backup', backup, '2 datastores, the fullest at 60 %'],
    ['mail-gateway', gateway, '1840 mails in a day, 7 deferred'],
  ] as const)('of the kind %s is ok, with read requests only', async (_, start, headline) => {
    const ctx = await admin();
    const server = await start();
    const status = await statusAfter(ctx, await addServer(ctx, server), 2);
    expect(status.rules.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(status).toMatchObject({
      state: 'ok',
      failure: null,
      message: null,
      headline,
      changes: [],
      checkedAt: expect.any(Date),
    });
    expect(status.facts.length).toBeGreaterThan(3);
    expect(server.calls.filter(({ method, path }) => method !== 'GET' && path !== '/access/ticket')).toEqual([]);
    expect(server.calls.filter(({ status: code }) => code >= 400)).toEqual([]);
    expect(server.connections()).toBe(2);
  });

  it('may be a single host', async () => {
    const ctx = await admin();
    const id = await addServer(ctx, await virtualization(singleHost()));
    expect(await statusAfter(ctx, id)).toMatchObject({
      state: 'ok',
      headline: '1 of 1 node online, 2 of 2 guests running',
    });
  });
});

describe('a sign-in by password', () => {
  it('happens once for many runs, and again when the ticket has expired', async () => {
    const ctx = await admin();
    const server = await virtualization();
    const { id } = await createServer(ctx, passwordForm(server));
    await statusAfter(ctx, id, 3);
    expect(paths(server).filter((path) => path === '/access/ticket')).toHaveLength(1);
    server.clockMs = 2 * 60 * 60_000 + 1_000;
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'ok' });
    expect(paths(server).filter((path) => path === '/access/ticket')).toHaveLength(2);
  });

  it('that is refused is reported, and is tried again after an interval', async () => {
    const ctx = await admin();
    const [server, good] = [await backup(), await gateway()];
    const wrong = passwordForm(server, { password: 'wrong otters', pollIntervalMin: 5 });
    const { id } = await createServer(ctx, wrong);
    await addServer(ctx, good, { pollIntervalMin: 10 });
    const refused = await statusAfter(ctx, id);
    expect(refused).toMatchObject({ state: 'unknown', failure: 'zugang', facts: [] });
    // As when a user starts polls again and again, or adds another server.
    expect(await statusAfter(ctx, id, 3)).toEqual(refused);
    await setLastPoll(ctx, id, '4 minutes');
    await pollNow(ctx);
    expect(paths(server)).toEqual(['/access/ticket']);
    expect(good.calls.filter(({ path }) => path === '/version')).toHaveLength(5);
    await setLastPoll(ctx, id, '5 minutes');
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'critical', failure: 'zugang' });
    expect(paths(server)).toEqual(['/access/ticket', '/access/ticket']);
  });

  it('that is refused is tried at once with other settings', async () => {
    const ctx = await admin();
    const server = await backup();
    const wrong = passwordForm(server, { password: 'wrong otters' });
    const { id } = await createServer(ctx, wrong);
    await pollNow(ctx);
    await putServer(ctx, id, { ...wrong, password: 'other otters' });
    await statusAfter(ctx, id, 2);
    expect(paths(server)).toEqual(['/access/ticket', '/access/ticket']);
    await putServer(ctx, id, passwordForm(server));
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'ok', failure: null });
  });

  it('that needs a second factor says what to do', async () => {
    const ctx = await admin();
    const server = await virtualization();
    server.signIn = 'second-factor';
    const { id } = await createServer(ctx, passwordForm(server));
    expect(await statusAfter(ctx, id)).toMatchObject({
      failure: 'zugang',
      message: expect.stringContaining('second factor'),
    });
    expect(server.calls).toHaveLength(1);
  });
});

describe('an account without rights', () => {
  it('makes a virtualization server unknown instead of ok', async () => {
    const ctx = await admin();
    const server = await virtualization();
    server.cluster.rights = 'none';
    const status = await statusAfter(ctx, await addServer(ctx, server), 3);
    expect(status).toMatchObject({ state: 'unknown', failure: 'rechte', facts: [], rules: [], lastOkAt: null });
    expect(status.message).toContain('PVEAuditor');
  });

  it('makes a backup server unknown', async () => {
    const ctx = await admin();
    const server = await backup();
    server.host.rights = 'none';
    expect(await statusAfter(ctx, await addServer(ctx, server))).toMatchObject({
      state: 'unknown',
      failure: 'rechte',
      facts: [],
    });
  });

  it('makes a mail gateway unknown', async () => {
    const ctx = await admin();
    const server = await gateway();
    const id = await addServer(ctx, server);
    server.gateway.rights = 'qmanager';
    const partly = await statusAfter(ctx, id);
    expect(partly).toMatchObject({ state: 'unknown', failure: null });
    expect(rule(partly, 'services')).toMatchObject({ state: 'unknown', text: expect.stringContaining('rechte') });
    server.gateway.rights = 'none';
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'unknown', failure: 'rechte' });
  });

  it('that may not see remotes leaves synchronizations unknown', async () => {
    const ctx = await admin();
    const server = await backup();
    const id = await addServer(ctx, server);
    server.host.rights = 'no-remotes';
    const status = await statusAfter(ctx, id);
    expect(status.state).toBe('unknown');
    expect(rule(status, 'sync')).toMatchObject({ state: 'unknown', text: expect.stringContaining('Remote.Audit') });
    server.host.rights = 'audit';
    server.host.syncs = [];
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'ok' });
  });
});

describe('a cluster', () => {
  it('with an offline node is critical, and that node is not asked', async () => {
    const ctx = await admin();
    const server = await virtualization();
    the(server.cluster.nodes[2]).online = false;
    const status = await statusAfter(ctx, await addServer(ctx, server));
    expect(status).toMatchObject({ state: 'critical', failure: null, headline: 'Node pve3 is offline' });
    expect(rule(status, 'node:pve1')).toMatchObject({ state: 'ok' });
    expect(paths(server).filter((path) => path.startsWith('/nodes/pve3'))).toEqual([]);
    expect(paths(server)).toContain('/nodes/pve2/status');
  });

  it('with an unreachable node asks it once a run and still reads the others', async () => {
    const ctx = await admin();
    const server = await virtualization();
    loseNode(server);
    const status = await statusAfter(ctx, await addServer(ctx, server));
    expect(status).toMatchObject({ state: 'unknown', failure: null });
    expect(rule(status, 'node:pve2:swap')).toMatchObject({
      state: 'unknown',
      text: expect.stringContaining('`server`'),
    });
    for (const key of ['node:pve1:swap', 'node:pve1:pool:rpool', 'node:pve3:disk:/dev/nvme0n1'])
      expect(rule(status, key)).toMatchObject({ state: 'ok' });
    expect(paths(server).filter((path) => path.startsWith('/nodes/pve2'))).toEqual(['/nodes/pve2/status']);
    expect(status.notExamined.items).toContainEqual({ what: 'Guest 106', why: 'pve2 does not answer' });
  });

  it('with one failed question keeps asking that node the others', async () => {
    const ctx = await admin();
    const server = await virtualization();
    server.intercept = (path, _request, response) =>
      path === '/nodes/pve2/status' && Boolean(response.writeHead(500, 'no luck', { connection: 'close' }).end());
    const status = await statusAfter(ctx, await addServer(ctx, server));
    expect(rule(status, 'node:pve2:swap')).toMatchObject({ state: 'unknown' });
    expect(rule(status, 'node:pve2:pool:rpool')).toMatchObject({ state: 'ok' });
  });

  it('keeps its cached answers when a poll runs out of time', async () => {
    const server = await virtualization();
    const { token } = server.accounts;
    using session = openServer({
      kind: 'virtualization',
      address: server.address,
      login: { method: 'token', id: token.id, secret: new Secret(token.secret) },
      trust: { caCertificatePem, skipTlsVerify: false },
      policy: { reach: 'private', allowHosts: [] },
    });
    const { signal } = new AbortController();
    const questions = ['pve1', 'pve2', 'pve3'].map((node) => ({
      key: node,
      target: node,
      what: node,
      path: `/nodes/${node}/status`,
      shape: 'row' as const,
      fields: ['uptime'],
      order: 1,
      maxAge: 600,
    }));
    const state = pollStateOf(null);
    const refreshAnswers = (deadline: AbortSignal) =>
      openServerPoll(session, { deadline, signal }).refreshAnswers(state, questions);
    await refreshAnswers(signal);
    const before = structuredClone(state);
    expect(before.parts['pve3']).toMatchObject({ data: { uptime: 864_000 } });
    advanceTime(11 * 60_000);
    const late = new AbortController();
    server.intercept = (_path, _request, response) => {
      late.abort();
      response.destroy();
      return true;
    };
    await refreshAnswers(late.signal);
    expect(state).toEqual(before);
  });

  it('is critical without a quorum, with a fenced service and with stale managers', async () => {
    const ctx = await admin();
    const server = await virtualization();
    Object.assign(server.cluster, { quorate: false, managersReportedAgoSec: 200 });
    the(server.cluster.services[0]).state = 'fence';
    const status = await statusAfter(ctx, await addServer(ctx, server));
    for (const key of ['quorum', 'ha:vm:103', 'ha:lrm:pve1'])
      expect(rule(status, key)).toMatchObject({ state: 'critical' });
  });

  it('warns of a filling storage the second time, and is critical when the storage is gone', async () => {
    const ctx = await admin();
    const server = await virtualization();
    const id = await addServer(ctx, server);
    the(server.cluster.storages[1]).full = 0.85;
    const once = await statusAfter(ctx, id);
    expect(once.state).toBe('ok');
    expect(rule(once, 'storage:nas')).toMatchObject({
      state: 'ok',
      text: expect.stringContaining('2 checks in a row'),
    });
    const twice = await statusAfter(ctx, id);
    expect(twice).toMatchObject({
      state: 'warning',
      headline: 'Storage nas is 85 % full',
      changes: [{ from: 'ok', to: 'warning' }],
    });
    the(server.cluster.storages[1]).available = false;
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'critical' });
  });

  it('is critical when a node certificate ends soon, and reads the certificates once a day', async () => {
    const ctx = await admin();
    const server = await virtualization();
    the(server.cluster.nodes[2]).certificateDays = 5;
    const id = await addServer(ctx, server);
    const asked = () => paths(server).filter((path) => path.endsWith('/certificates/info')).length;
    const status = await statusAfter(ctx, id);
    expect(rule(status, 'node:pve3:certificate')).toMatchObject({
      state: 'critical',
      value: 5,
      text: 'The certificate of pve3 is valid for another 5 days.',
    });
    expect(rule(status, 'node:pve1:certificate')).toMatchObject({ state: 'ok' });
    expect(asked()).toBe(3);
    advanceTime(3_600_000);
    await statusAfter(ctx, id);
    expect(asked()).toBe(3);
    advanceTime(20 * 3_600_000);
    await statusAfter(ctx, id);
    await statusAfter(ctx, id);
    expect(asked()).toBe(6);
  });

  it('reports a guest that should run the second time', async () => {
    const ctx = await admin();
    const server = await virtualization();
    const id = await addServer(ctx, server);
    await statusAfter(ctx, id);
    the(server.cluster.guests[0]).running = false;
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'ok' });
    const status = await statusAfter(ctx, id);
    expect(rule(status, 'guest:101')).toMatchObject({
      state: 'warning',
      text: 'Guest 101 (dc1) should run but does not.',
    });
    the(server.cluster.guests[0]).lock = 'backup';
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'ok' });
  });

  it('with 300 guests looks up forty a run, and lists the others as not examined', async () => {
    const ctx = await admin();
    const server = await virtualization(largeCluster());
    const id = await addServer(ctx, server);
    const lookups = () =>
      server.calls
        .splice(0)
        .filter(({ path }) => path.endsWith('/config'))
        .map(({ path }) => path);
    const first = await statusAfter(ctx, id);
    const asked = lookups();
    expect([asked.length, first.notExamined.count, first.notExamined.items.length]).toEqual([40, 20, 20]);
    const second = await statusAfter(ctx, id);
    asked.push(...lookups());
    expect([asked.length, new Set(asked).size, second.notExamined.count]).toEqual([60, 60, 0]);
    await statusAfter(ctx, id);
    expect(lookups()).toEqual([]);
  });

  it('with ten nodes is asked every question in turn, within the limit of each run', { timeout: 60_000 }, async () => {
    const ctx = await admin();
    const server = await virtualization({
      ...singleHost(),
      nodes: Array.from({ length: 10 }, (_, n) => ({ name: `pve${n}`, online: true, memory: 0.4, disk: 0.2 })),
      guests: [],
    });
    const id = await addServer(ctx, server);
    const asked = new Map<string, number>();
    // Five hours, one run every 15 minutes.
    for (let run = 0; run < 20; run += 1) {
      const status = await statusAfter(ctx, id);
      const questions = paths(server).filter((path) => path.startsWith('/nodes/'));
      expect(questions).toHaveLength(24);
      for (const path of questions) asked.set(path, (asked.get(path) ?? 0) + 1);
      expect(status.notExamined.count).toBe(Math.max(0, 70 - 24 * (run + 1)));
      server.calls.length = 0;
      advanceTime(15 * 60_000);
    }
    expect(asked.size).toBe(70);
    for (const often of ['status', 'replication', 'tasks'])
      for (const [path, count] of asked) if (path.endsWith(`/${often}`)) expect(count, path).toBeGreaterThan(7);
  });

  it('is unknown if a question has not been asked for more than a day', { timeout: 60_000 }, async () => {
    const ctx = await admin();
    const server = await virtualization({
      ...singleHost(),
      nodes: Array.from({ length: 10 }, (_, n) => ({ name: `pve${n}`, online: true, memory: 0.4, disk: 0.2 })),
    });
    const id = await addServer(ctx, server);
    expect((await statusAfter(ctx, id)).rules.filter(({ state }) => state === 'unknown')).toEqual([]);
    advanceTime(25 * 3_600_000);
    const status = await statusAfter(ctx, id);
    expect(status).toMatchObject({ state: 'unknown', failure: null });
    expect(rule(status, 'node:pve0:swap')).toMatchObject({
      text: 'The status of pve0 could not be read: it was last read more than a day ago.',
    });
    expect(rule(status, 'node:pve9:subscription')).toMatchObject({
      text: 'The subscription of pve9 could not be read: its turn has not come for more than a day.',
    });
    expect(rule(status, 'node:pve0:pool:rpool')).toMatchObject({ state: 'ok' });
  });

  it('skips a guest that has moved meanwhile', async () => {
    const ctx = await admin();
    const server = await virtualization();
    server.intercept = (path, _request, response) => {
      if (!path.endsWith('/config')) return false;
      response.writeHead(500, "Configuration file '106.conf' does not exist", { connection: 'close' }).end();
      return true;
    };
    const status = await statusAfter(ctx, await addServer(ctx, server));
    expect(status).toMatchObject({ state: 'ok', notExamined: { count: 1, items: [{ what: 'Guest 106' }] } });
  });
});

describe('a backup server', () => {
  it('is asked at most ten follow-up questions a run, and the rest in later runs', async () => {
    const ctx = await admin();
    const server = await backup();
    const id = await addServer(ctx, server);
    const base = new Set([
      '/version',
      '/status/datastore-usage',
      '/admin/datastore',
      '/nodes/localhost/status',
      '/admin/gc',
      '/admin/verify',
      '/admin/sync',
      '/admin/prune',
      '/nodes/localhost/tasks',
    ]);
    const followUps = () =>
      server.calls
        .splice(0)
        .filter(({ path }) => !base.has(path))
        .map(({ path, query }) => path + query);
    const asked: string[] = [];
    const counts: number[] = [];
    for (let run = 0; run < 4; run += 1) {
      await pollNow(ctx);
      const now = followUps();
      counts.push(now.length);
      asked.push(...now);
    }
    expect(counts.every((count) => count <= 10)).toBe(true);
    expect(counts.at(-1)).toBe(0);
    expect(new Set(asked).size).toBe(asked.length);
    for (const namespace of ['?ns=east', '?ns=dev'])
      expect(asked).toContain(`/admin/datastore/nas1/groups${namespace}`);
    expect(asked.slice(0, 2)).toEqual(['/admin/datastore/nas1/groups', '/admin/datastore/nas2/groups']);
    expect(asked.filter((path) => path.endsWith('/snapshots'))).toHaveLength(2);
    expect((await listServers(ctx)).map((one) => [one.id, one.status.state])).toEqual([[id, 'ok']]);
  });

  it('of an old version is asked in its own way', async () => {
    const ctx = await admin();
    const server = await backup();
    server.host.isOld = true;
    const id = await addServer(ctx, server);
    const status = await statusAfter(ctx, id);
    expect(rule(status, 'sync:s-offsite')).toMatchObject({ state: 'ok' });
    expect(server.calls.filter(({ path }) => path === '/admin/sync').map(({ status: code }) => code)).toEqual([
      400, 200,
    ]);
    expect(await statusAfter(ctx, id, 2)).toMatchObject({ state: 'ok' });
    expect(rule(await statusAfter(ctx, id), 'gc:nas1')).toMatchObject({ state: 'ok' });
    expect(server.calls.filter(({ path }) => path === '/admin/sync')).toHaveLength(5);
  });

  it('with a datastore in maintenance still reads the others', async () => {
    const ctx = await admin();
    const server = await backup();
    Object.assign(the(server.host.stores[1]), {
      error: "datastore 'nas2' is in offline maintenance mode",
      maintenance: 'offline',
    });
    const status = await statusAfter(ctx, await addServer(ctx, server), 2);
    expect(rule(status, 'datastore:nas1')).toMatchObject({ state: 'ok' });
    expect(rule(status, 'datastore:nas2')).toMatchObject({
      state: 'warning',
      text: expect.stringContaining('maintenance'),
    });
    expect(status).toMatchObject({ state: 'warning', failure: null });
  });

  it('that refuses one list of groups leaves only that datastore unknown', async () => {
    const ctx = await admin();
    const server = await backup();
    server.intercept = (path, _request, response) => {
      if (path !== '/admin/datastore/nas2/groups') return false;
      response.writeHead(400, { 'content-type': 'application/json' }).end("datastore 'nas2' is not mounted");
      return true;
    };
    const status = await statusAfter(ctx, await addServer(ctx, server));
    expect(rule(status, 'groups:nas2')).toMatchObject({
      state: 'unknown',
      text: expect.stringContaining('is not mounted'),
    });
    expect(rule(status, 'groups:nas1')).toMatchObject({ state: 'ok' });
  });

  it('is unknown if its namespaces cannot be listed', async () => {
    const ctx = await admin();
    const server = await backup();
    server.intercept = (path, _request, response) =>
      path === '/admin/datastore/nas1/namespace' && Boolean(response.writeHead(403).end('permission check failed'));
    const status = await statusAfter(ctx, await addServer(ctx, server), 3);
    expect(status).toMatchObject({ state: 'unknown', failure: null });
    expect(rule(status, 'namespaces:nas1')).toMatchObject({ text: expect.stringContaining('`rechte`') });
    expect(rule(status, 'groups:nas2/a')).toMatchObject({ state: 'ok' });
  });

  it('is critical with failed jobs, old backups and bad snapshots', async () => {
    const ctx = await admin();
    const server = await backup();
    the(server.host.verifications[0]).state = 'verification failed - please check the log for details';
    the(server.host.stores[0]).groups.push({ id: 'vm/900', ageHours: 60 });
    the(server.host.stores[1]).failedSnapshots = 1;
    server.host.failedTasks.push({ store: 'nas1', group: 'vm/900', status: 'connection reset', agoSec: 600 });
    const status = await statusAfter(ctx, await addServer(ctx, server), 3);
    for (const key of ['verify:v-nas1', 'groups:nas1', 'snapshots:nas2', 'backup-tasks'])
      expect(rule(status, key)).toMatchObject({ state: 'critical' });
  });
});

describe('a mail gateway', () => {
  it('is critical with a full queue, a stopped filter, old signatures and a lost peer', async () => {
    const ctx = await admin();
    const server = await gateway();
    Object.assign(server.gateway, {
      deferred: 600,
      down: ['pmg-smtp-filter'],
      signatureAgeDays: 8,
      peer: { connError: 'timeout', inSync: false },
    });
    const status = await statusAfter(ctx, await addServer(ctx, server));
    for (const key of ['queue:deferred', 'service:pmg-smtp-filter', 'signatures', 'cluster:pmg2'])
      expect(rule(status, key)).toMatchObject({ state: 'critical' });
  });
});

describe('an unreachable server', () => {
  it('is unknown, then critical, keeps its facts with their time, and recovers at once', async () => {
    const ctx = await admin();
    const server = await virtualization();
    const id = await addServer(ctx, server);
    const well = await statusAfter(ctx, id);
    await server.switchOff();
    const once = await statusAfter(ctx, id);
    expect(once).toMatchObject({
      state: 'unknown',
      failure: 'netz',
      facts: well.facts,
      rules: well.rules,
      lastOkAt: well.lastOkAt,
    });
    expect(the(once.checkedAt).getTime()).toBeGreaterThan(the(well.checkedAt).getTime());
    expect(await statusAfter(ctx, id)).toMatchObject({
      state: 'critical',
      failure: 'netz',
      message: expect.stringContaining('refuses connections'),
      facts: well.facts,
    });
    await server.switchOn();
    const back = await statusAfter(ctx, id);
    expect(back).toMatchObject({ state: 'ok', failure: null });
    expect(back.changes.map(({ from, to }) => `${from} ${to}`)).toEqual([
      'critical ok',
      'unknown critical',
      'ok unknown',
    ]);
  });
});

describe('a late result', () => {
  const during = async (
    change: (ctx: Awaited<ReturnType<typeof admin>>, id: string, server: ProductServer) => Promise<unknown>,
  ) => {
    const ctx = await admin();
    const server = await virtualization();
    const id = await addServer(ctx, server);
    let isDone = false;
    server.intercept = (path, _request, response) => {
      if (path !== '/cluster/tasks' || isDone) return false;
      isDone = true;
      void change(ctx, id, server).then(() => response.writeHead(200).end('{"data":[]}'));
      return true;
    };
    await pollNow(ctx);
    expect(isDone).toBe(true);
    return { statuses: await ctx.read((db) => db.select().from(serverStatuses)), servers: await listServers(ctx) };
  };
  it.each([
    ['deleted', (ctx, id) => deleteServer(ctx, id)],
    ['changed', (ctx, id, server) => putServer(ctx, id, serverForm(server, { name: 'new' }))],
    ['switched off', (ctx, id, server) => putServer(ctx, id, serverForm(server, { isActive: false }))],
  ] satisfies [string, Parameters<typeof during>[0]][])(
    'of a server that was %s meanwhile is not stored',
    async (_, change) => {
      const { statuses, servers } = await during(change);
      expect(statuses).toEqual([]);
      for (const { status } of servers) expect(status).toMatchObject({ state: 'unknown', checkedAt: null });
    },
  );
});

it('deletes the status when the address changes, but not when the name changes', async () => {
  const ctx = await admin();
  const [server, other] = [await virtualization(), await virtualization()];
  const id = await addServer(ctx, server);
  await statusAfter(ctx, id);
  expect((await putServer(ctx, id, serverForm(server, { name: 'new' }))).status.state).toBe('ok');
  expect((await putServer(ctx, id, serverForm(other))).status.state).toBe('unknown');
  await deleteServer(ctx, id);
  expect(await ctx.read((db) => db.select().from(serverStatuses))).toEqual([]);
});

it('deletes the status of a deleted server', async () => {
  const ctx = await admin();
  const id = await addServer(ctx, await virtualization());
  expect(await statusAfter(ctx, id)).toMatchObject({ state: 'ok' });
  await deleteServer(ctx, id);
  expect(await ctx.read((db) => db.select().from(serverStatuses))).toEqual([]);
  expect(await serverTile(ctx)).toEqual({ worst: 'unknown', servers: [] });
});

it('separates tenants that monitor the same server', async () => {
  const [one, other] = [await admin(), await admin()];
  const server = await virtualization();
  const [id] = [await addServer(one, server), await addServer(other, server)];
  await pollNow(one);
  expect((await listServers(one)).map(({ id: own, status }) => [own, status.state])).toEqual([[id, 'ok']]);
  expect((await listServers(other)).map(({ status }) => status.state)).toEqual(['unknown']);
});

it('polls good servers next to dead ones', async () => {
  const ctx = await admin();
  const id = await addServer(ctx, await virtualization());
  for (let n = 0; n < 5; n += 1) await createServer(ctx, deadForm());
  expect(await statusAfter(ctx, id)).toMatchObject({ state: 'ok' });
});

describe('a hostile answer', () => {
  it('with 300 hostile guest names is stored and shown without harm', async () => {
    const ctx = await admin();
    const server = await virtualization(largeCluster());
    for (const [n, guest] of server.cluster.guests.entries())
      guest.name = `${['\u0000', '\ud800', '\u202e', '<script>', "'; drop table users; --", '\n\r'][n % 6]}${'x'.repeat(n * 20)}`;
    server.cluster.unbacked = server.cluster.guests.map(({ vmid }) => vmid);
    server.cluster.storages.push({ ...the(server.cluster.storages[0]), name: '\u0000__proto__', full: 0.95 });
    server.cluster.nodes.push({ ...the(server.cluster.nodes[0]), name: '../../access/ticket' });
    const status = await statusAfter(ctx, await addServer(ctx, server), 2);
    expect(status.state).toBe('critical');
    expect(JSON.stringify(status)).not.toMatch(/\\u0000|\\ud800|\u202e/);
    expect(paths(server).filter((path) => path.includes('ticket'))).toEqual([]);
  });

  it.each([
    '/cluster/resources',
    '/cluster/status',
    '/cluster/ha/status/current',
    '/nodes/pve1/status',
    '/cluster/backup',
  ])('at %s never ends a run, and is never ok', async (path) => {
    const ctx = await admin();
    const server = await virtualization();
    const id = await addServer(ctx, server);
    for (const body of [
      '<html>',
      '',
      '{',
      'null',
      '[]',
      '{"data":"x"}',
      '{"data":[1,null]}',
      '{"data":[[{}]]}',
      `{"data":${'['.repeat(200_000)}`,
    ]) {
      server.intercept = (called, _request, response) => called === path && Boolean(response.writeHead(200).end(body));
      await pollNow(ctx);
      const [found] = await listServers(ctx);
      expect(found?.status.state, body.slice(0, 20)).not.toBe('ok');
    }
    expect(found(await listServers(ctx), id)).toBeDefined();
  });

  it('of megabytes is stored within one, and the rest is unknown', async () => {
    const ctx = await admin();
    const server = await backup();
    const id = await addServer(ctx, server);
    const deep = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`k${n}`, { inner: 'x'.repeat(200), list: ['y'.repeat(200)] }]),
    );
    const row = {
      'backup-type': 'vm',
      'backup-id': '9'.repeat(200),
      comment: '\u{1f512}'.repeat(200),
      'last-backup': deep,
    };
    const groups = JSON.stringify({ data: Array.from({ length: 300 }, () => row) });
    server.intercept = (path, _request, response) =>
      path.endsWith('/groups') && Boolean(response.writeHead(200).end(groups));
    for (let run = 0; run < 3; run += 1) {
      await pollNow(ctx);
      advanceTime(60_000);
    }
    const status = await statusAfter(ctx, id);
    const size = sql<number>`octet_length(${serverStatuses.memory}::text)`;
    const [stored] = await ctx.read((db) => db.select({ size, memory: serverStatuses.memory }).from(serverStatuses));
    expect(the(stored).size).toBeGreaterThan(500_000);
    expect(the(stored).size).toBeLessThan(1_200_000);
    expect(JSON.stringify(the(stored).memory)).not.toContain('xxx');
    expect(rule(status, 'groups:nas1')).toMatchObject({
      state: 'unknown',
      text: 'The backups in nas1 could not be read: the server reports more than the portal can store.',
    });
    expect(rule(status, 'host:pool:tank')).toMatchObject({ state: 'ok' });
  });

  it('to the first question is refused if it is too long', async () => {
    const ctx = await admin();
    const server = await virtualization();
    const id = await addServer(ctx, server);
    server.intercept = (path, _request, response) =>
      path === '/version' && Boolean(response.writeHead(200).end(`{"data":{"version":"${'9'.repeat(100_000)}"}}`));
    expect(await statusAfter(ctx, id)).toMatchObject({ state: 'unknown', failure: 'antwortform' });
  });

  it('that never comes leaves the other values known', { timeout: 60_000 }, async () => {
    const ctx = await admin();
    const server = await gateway();
    server.intercept = (path) => path.endsWith('/spamassassin/rules');
    const status = await statusAfter(ctx, await addServer(ctx, server));
    expect(rule(status, 'spam-rules')).toMatchObject({ state: 'unknown', text: expect.stringContaining('`netz`') });
    expect(rule(status, 'queue:deferred')).toMatchObject({ state: 'ok' });
  });
});

it('lists servers byte for byte as the schema encodes them', async () => {
  const ctx = await admin();
  const [cluster, torn] = [await virtualization(), await virtualization()];
  await addServer(ctx, cluster);
  await addServer(ctx, cluster, { isActive: false });
  await pollNow(ctx);
  the(cluster.cluster.nodes[0]).memory = 0.92;
  the(cluster.cluster.nodes[2]).online = false;
  loseNode(torn);
  await addServer(ctx, torn);
  await createServer(ctx, deadForm());
  await pollNow(ctx);
  await createServer(ctx, deadForm());
  const texts: string[] = [];
  for (const tenant of tenants) {
    const text = String(await listServersAsJson(tenant));
    expect(text).toBe(JSON.stringify(z.encode(z.array(Server), await listServers(tenant))));
    texts.push(text);
  }
  for (const part of ['It counts once 2 checks in a row find it.', '"failure":"netz"', '"why":"', '"from":"'])
    expect(
      texts.some((text) => text.includes(part)),
      part,
    ).toBe(true);
  for (const headline of ['Switched off', 'Not checked yet']) expect(texts.at(-1)).toContain(headline);
});

const found = <One extends { id: string }>(servers: One[], id: string) => servers.find((one) => one.id === id);
