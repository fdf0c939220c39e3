import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { moduleGrants } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { Server } from '@portal/domain/monitoring/servers';
import { serverForm } from '@portal/testing/monitoring';
import { startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { startTestWorker } from '@portal/testing/worker';
import { monitoring } from '@portal/usecases/monitoring/area';
import { monitoringHandlers } from '@portal/usecases/monitoring/handlers';
import { testApp } from '../../testing/app.ts';

const { request, make, url, runtime } = await testApp();
const servers = await Promise.all([startVirtualizationServer(), startBackupServer(), startMailGatewayServer()]);
afterAll(() => Promise.all(servers.map((server) => server.switchOff())));
const [virtualization, , gateway] = servers;
const root = '/virtualization/servers';

type User = Awaited<ReturnType<typeof make.user>>;
async function granted(tenantId: string, level: 'USE' | 'MANAGE'): Promise<User> {
  const user = await make.user({ tenantId });
  await runtime.database.acrossTenants('a test grants', (tx) =>
    tx.insert(moduleGrants).values({ id: newId(), tenantId, userId: user.id, moduleKey: 'virtualization', level }),
  );
  return user;
}

describe('servers', () => {
  it('are added, listed, replaced and deleted by managers, and read by users', async () => {
    const { id: tenantId } = await make.tenant();
    const [manager, user, stranger] = [
      await granted(tenantId, 'MANAGE'),
      await granted(tenantId, 'USE'),
      await make.user({ tenantId }),
    ];
    const body = serverForm(virtualization);
    const created = await request({ method: 'POST', url: root, as: manager, payload: body });
    expect(created.statusCode).toBe(201);
    const server = created.json<{ id: string }>();
    expect(server).toMatchObject({
      kind: 'virtualization',
      hasTokenSecret: true,
      status: { state: 'unknown', checkedAt: null, rules: [], changes: [] },
    });
    expect(created.body).not.toContain(virtualization.accounts.token.secret);
    expect((await request({ method: 'GET', url: root, as: user })).json()).toEqual([server]);
    expect((await request({ method: 'GET', url: root, as: stranger })).statusCode).toBe(403);
    for (const [method, path] of [
      ['POST', root],
      ['PUT', `${root}/${server.id}`],
      ['POST', `${root}/test`],
    ] as const)
      expect((await request({ method, url: path, as: user, payload: body })).statusCode, path).toBe(403);
    const replaced = await request({
      method: 'PUT',
      url: `${root}/${server.id}`,
      as: manager,
      payload: { ...body, tokenSecret: '', name: 'Süd' },
    });
    expect(replaced.json()).toMatchObject({ name: 'Süd', hasTokenSecret: true });
    expect((await request({ method: 'DELETE', url: `${root}/${server.id}`, as: manager })).statusCode).toBe(204);
    expect((await request({ method: 'DELETE', url: `${root}/${server.id}`, as: manager })).statusCode).toBe(404);
  });

  it('of mail gateways with a token are refused everywhere', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const { token } = gateway.accounts;
    const form = serverForm(gateway);
    const { id } = (await request({ method: 'POST', url: root, as: admin, payload: form })).json<{ id: string }>();
    const payload = { ...form, authMethod: 'token', tokenId: token.id, tokenSecret: token.secret };
    for (const [method, path] of [
      ['POST', root],
      ['PUT', `${root}/${id}`],
      ['POST', `${root}/test`],
      ['POST', `${root}/${id}/test`],
    ] as const) {
      const answer = await request({ method, url: path, as: admin, payload });
      expect([answer.statusCode, answer.json<{ code: string }>().code], path).toEqual([400, 'TOKEN_NOT_SUPPORTED']);
    }
  });

  it('are tested before and after they are saved', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    for (const server of servers) {
      const payload = serverForm(server);
      expect(
        (
          await request({ method: 'POST', url: `${root}/test`, as: admin, payload: { ...payload, name: undefined } })
        ).json(),
      ).toMatchObject({ ok: true, failure: null });
      const { id } = (await request({ method: 'POST', url: root, as: admin, payload })).json<{ id: string }>();
      expect((await request({ method: 'POST', url: `${root}/${id}/test`, as: admin })).json()).toMatchObject({
        ok: true,
      });
      expect(
        (
          await request({
            method: 'POST',
            url: `${root}/${id}/test`,
            as: admin,
            payload: { ...payload, password: '', tokenSecret: '' },
          })
        ).json(),
      ).toMatchObject({ ok: true });
    }
    expect((await request({ method: 'POST', url: `${root}/${newId()}/test`, as: admin })).statusCode).toBe(404);
  });

  it('are polled on request, and the tile shows the result', { timeout: 60_000 }, async () => {
    const { id: tenantId } = await make.tenant();
    const [admin, user] = [await make.user({ tenantId, role: 'ADMIN' }), await granted(tenantId, 'USE')];
    for (const server of servers) await request({ method: 'POST', url: root, as: admin, payload: serverForm(server) });
    const worker = startTestWorker(url, { handlers: monitoringHandlers, concurrency: monitoring.concurrency ?? {} });
    try {
      const polled = await request({
        method: 'POST',
        url: '/virtualization/poll',
        as: user,
        headers: { prefer: 'wait=20' },
      });
      const again = await request({ method: 'POST', url: '/virtualization/poll', as: user });
      expect([again.statusCode, again.json<{ code: string }>().code]).toEqual([429, 'POLL_LOCKED']);
      expect(Number(again.headers['retry-after'])).toBeGreaterThan(0);
      expect(polled.statusCode).toBe(200);
      expect(polled.headers['preference-applied']).toBe('wait=20');
      expect(polled.json()).toMatchObject({
        worst: 'ok',
        servers: [{ state: 'ok' }, { state: 'ok' }, { state: 'ok' }],
      });
      expect((await request({ method: 'GET', url: '/virtualization/status', as: user })).json()).toEqual(polled.json());
      const list = await request({ method: 'GET', url: root, as: user });
      expect(list.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(z.decode(z.array(Server), list.json()).map(({ status }) => status.state)).toEqual(['ok', 'ok', 'ok']);
    } finally {
      await worker.stop();
    }
  });

  it.each([
    [{ kind: 'printer' }],
    [{ address: 'http://pve1:8006' }],
    [{ address: 'https://a:b@pve1' }],
    [{ address: 'https://pve1/path' }],
    [{ pollIntervalMin: 0 }],
    [{ pollIntervalMin: 1_441 }],
    [{ pollIntervalMin: 1.5 }],
    [{ name: '' }],
    [{ name: 'a\u0000b' }],
    [{ name: 'x'.repeat(201) }],
    [{ caCertificatePem: 'no certificate' }],
    [{ caCertificatePem: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }],
    [{ tokenSecret: 'two\nlines' }],
    [{ tokenId: 'no-realm!x' }],
    [{ verifyTls: 'yes' }],
    [{ authMethod: 'password' }],
  ])('%j is refused', async (more) => {
    const admin = await make.user({ role: 'ADMIN' });
    for (const path of [root, `${root}/test`]) {
      // A test needs no name.
      if (path !== root && 'name' in more && more.name === '') continue;
      const answer = await request({
        method: 'POST',
        url: path,
        as: admin,
        payload: { ...serverForm(virtualization), ...more },
      });
      expect(answer.statusCode, answer.body).toBe(400);
    }
  });
});

describe('the history of a server', () => {
  it('is read by users, for the last day or for a window', async () => {
    const { id: tenantId } = await make.tenant();
    const [manager, user, stranger] = [
      await granted(tenantId, 'MANAGE'),
      await granted(tenantId, 'USE'),
      await make.user({ tenantId }),
    ];
    const added = await request({ method: 'POST', url: root, as: manager, payload: serverForm(virtualization) });
    const url = `${root}/${added.json<{ id: string }>().id}/history`;
    const read = await request({ method: 'GET', url, as: user });
    expect(read.statusCode).toBe(200);
    expect(read.json()).toMatchObject({ stepSec: 300, points: [], figures: [] });
    const { from, to } = read.json<{ from: string; to: string }>();
    expect(Date.parse(to) - Date.parse(from)).toBeGreaterThanOrEqual(24 * 3_600_000);
    const month = await request({
      method: 'GET',
      url: `${url}?from=2026-11-01T00:00:00Z&to=2026-11-30T00:00:00%2B01:00`,
      as: user,
    });
    expect(month.json()).toMatchObject({ from: '2026-11-01T00:00:00.000Z', stepSec: 3_600 });
    for (const query of [
      'from=yesterday',
      'from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z',
      'from=2026-01-01T00:00:00Z',
    ])
      expect((await request({ method: 'GET', url: `${url}?${query}`, as: user })).statusCode, query).toBe(400);
    expect((await request({ method: 'GET', url, as: stranger })).statusCode).toBe(403);
    expect((await request({ method: 'GET', url: `${root}/${newId()}/history`, as: user })).statusCode).toBe(404);
  });
});
