import { afterEach, describe, expect, it } from 'vitest';
import { moduleGrants } from '@portal/db/schema/modules';
import type { CloudInstance, CloudOverview } from '@portal/domain/cloud-status/instances';
import { newId } from '@portal/domain/ids';
import { handle } from '@portal/platform/jobs/handler';
import { icoOf, pngIcon, svgIcon } from '@portal/testing/icons';
import { type CloudServer, startCloudServer, statusDocument } from '@portal/testing/servers/cloud-server';
import { startTestWorker, type TestWorker } from '@portal/testing/worker';
import { checkAllCloudInstances } from '@portal/usecases/cloud-status/check-by-job';
import { checkAllInstances } from '@portal/usecases/cloud-status/jobs';
import { testApp } from '../../testing/app.ts';

const { request, make, signedIn, url } = await testApp();

const servers: CloudServer[] = [];
const workers: TestWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
  for (const server of servers.splice(0)) await server.stop();
});
async function cloud(): Promise<CloudServer> {
  const server = await startCloudServer();
  servers.push(server);
  return server;
}

const admin = () => make.user({ role: 'ADMIN' });

async function colleagueOf({ tenantId }: { tenantId: string }) {
  const user = await make.user({ tenantId });
  const ctx = await signedIn(user);
  await ctx.tx((tx) =>
    tx.insert(moduleGrants).values({ id: newId(), tenantId, userId: user.id, moduleKey: 'cloud-status', level: 'USE' }),
  );
  return user;
}

const path = '/cloud-status/instances';
const add = async (as: Awaited<ReturnType<typeof admin>>, body: object) =>
  request({ method: 'POST', url: path, payload: { customerName: 'Nordheim', ...body }, as });

const upload = (id: string, bytes: Uint8Array, name = 'logo.png') => ({
  method: 'POST' as const,
  url: `${path}/${id}/logo`,
  headers: { 'content-type': 'multipart/form-data; boundary=frontier' },
  payload: Buffer.concat([
    Buffer.from(`--frontier\r\ncontent-disposition: form-data; name="logo"; filename="${name}"\r\n\r\n`),
    bytes,
    Buffer.from('\r\n--frontier--\r\n'),
  ]),
});

it('adds, changes, lists and deletes instances, and records each change in the audit log', async () => {
  const as = await admin();
  const server = await cloud();
  const made = await add(as, { statusUrl: `${server.origin}/login` });
  expect([made.statusCode, made.json()]).toEqual([
    201,
    {
      id: expect.any(String),
      customerName: 'Nordheim',
      statusUrl: `${server.origin}/login`,
      hasLogo: false,
      isActive: true,
      light: 'grey',
      versionAssessment: 'unknown',
      version: null,
      productName: null,
      latestVersion: null,
      supportEndsAt: null,
      isMaintenance: false,
      needsDbUpgrade: false,
      lastCheckState: null,
      reportedState: 'ok',
      consecutiveFailures: 0,
      failure: null,
      message: null,
      checkedAt: null,
      lastOkAt: null,
      subscribed: false,
    },
  ]);
  const { id } = made.json<CloudInstance>();
  const change = { customerName: 'Südheim', isActive: false };
  const changed = await request({ method: 'PATCH', url: `${path}/${id}`, payload: change, as });
  expect(changed.json()).toMatchObject({ id, ...change });
  expect((await request({ url: path, as })).json()).toEqual([changed.json()]);
  expect((await request({ method: 'DELETE', url: `${path}/${id}`, as })).statusCode).toBe(204);
  expect((await request({ url: path, as })).json()).toEqual([]);
  const audit = (await request({ url: '/audit-log', as })).json<{ action: string; targetId: string }[]>();
  expect(audit.filter(({ targetId }) => targetId === id).map(({ action }) => action)).toEqual([
    'cloud_instances.delete',
    'cloud_instances.update',
    'cloud_instances.create',
  ]);
});

it.each([
  [{}],
  [{ statusUrl: 'ftp://cloud.example.org' }],
  [{ statusUrl: 'nothing' }],
  [{ statusUrl: null }],
  [{ statusUrl: 'https://a:b@cloud.example.org' }],
  [{ statusUrl: 'https://cloud.example.org', customerName: '' }],
  [{ statusUrl: 'https://cloud.example.org', customerName: 'x'.repeat(201) }],
  [{ statusUrl: 'https://cloud.example.org', isActive: 'yes' }],
])('refuses %j', async (body) => {
  expect((await add(await admin(), body)).statusCode).toBe(400);
});

it('lets users read, check and subscribe, and only managers change', async () => {
  const boss = await admin();
  const as = await colleagueOf(boss);
  const server = await cloud();
  const { id } = (await add(boss, { statusUrl: server.origin })).json<CloudInstance>();
  const checked = await request({ method: 'POST', url: `${path}/${id}/check`, as });
  expect([checked.statusCode, checked.json()]).toEqual([200, expect.objectContaining({ id, light: 'green' })]);
  const again = await request({ method: 'POST', url: `${path}/${id}/check`, as });
  expect([again.statusCode, again.json<{ code: string }>().code]).toEqual([429, 'POLL_LOCKED']);
  expect(Number(again.headers['retry-after'])).toBeGreaterThan(0);
  for (const [method, subscribed] of [
    ['PUT', true],
    ['PUT', true],
    ['DELETE', false],
    ['DELETE', false],
    ['PUT', true],
  ] as const) {
    expect((await request({ method, url: `${path}/${id}/subscription`, as })).statusCode).toBe(204);
    const [seen] = (await request({ url: path, as })).json<CloudInstance[]>();
    expect(seen?.subscribed).toBe(subscribed);
  }
  const [seenByOther] = (await request({ url: path, as: boss })).json<CloudInstance[]>();
  expect(seenByOther?.subscribed).toBe(false);
  for (const call of [
    { method: 'POST', url: path },
    { method: 'PATCH', url: `${path}/${id}` },
    { method: 'DELETE', url: `${path}/${id}` },
    { method: 'DELETE', url: `${path}/${id}/logo` },
    { method: 'POST', url: '/cloud-status/check' },
  ] as const)
    expect((await request({ ...call, as })).json()).toMatchObject({ code: 'MANAGE_REQUIRED' });
});

it('counts the instances by light, and lists the worst first', async () => {
  const boss = await admin();
  const as = await colleagueOf(boss);
  const made = async (customerName: string, state: object) =>
    (await make.cloudInstance(boss.tenantId, { customerName, ...state })).id;
  await made('Altdorf', { lastCheckState: null });
  await made('Bergen', { lastCheckState: 'failed', consecutiveFailures: 1 });
  await made('Celle', { lastCheckState: 'failed', reportedState: 'failed', consecutiveFailures: 2 });
  const bell = await made('Deich', { lastCheckState: 'ok', isMaintenance: true });
  await make.cloudInstance((await admin()).tenantId);
  await request({ method: 'PUT', url: `${path}/${bell}/subscription`, as });

  const overview = async (query = '') =>
    (await request({ url: `/cloud-status/overview${query}`, as })).json<CloudOverview>();
  const { instances, ...numbers } = await overview();
  expect(numbers).toEqual({ counts: { red: 1, yellow: 2, grey: 1, green: 0 }, subscribed: 1 });
  expect(instances.map(({ customerName }) => customerName)).toEqual(['Celle', 'Bergen', 'Deich', 'Altdorf']);
  const [worst] = (await request({ url: path, as })).json<CloudInstance[]>().filter(({ light }) => light === 'red');
  expect((await overview('?limit=1')).instances).toEqual([worst]);
  for (const limit of [0, 101, 'x'])
    expect((await request({ url: `/cloud-status/overview?limit=${limit}`, as })).statusCode).toBe(400);
});

it('checks all and answers with the list if the client waits, once in ten seconds per tenant', async () => {
  const [as, other] = [await admin(), await admin()];
  const server = await cloud();
  server.answer = (folder) => (folder === 'a' ? statusDocument() : statusDocument({ installed: false }));
  for (const name of ['a', 'b']) await add(as, { customerName: name, statusUrl: `${server.origin}/${name}` });
  workers.push(
    startTestWorker(url, {
      handlers: [handle(checkAllInstances, (ctx, _payload, work) => checkAllCloudInstances(ctx, work))],
    }),
  );
  const answer = await request({ method: 'POST', url: '/cloud-status/check', headers: { prefer: 'wait=20' }, as });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['preference-applied']).toBe('wait=20');
  expect(answer.json()).toMatchObject([
    { customerName: 'a', light: 'green' },
    { customerName: 'b', light: 'yellow', failure: 'antwortform', message: 'The cloud says that it is not installed.' },
  ]);
  const again = await request({ method: 'POST', url: '/cloud-status/check', as });
  expect([again.statusCode, again.json<{ code: string }>().code]).toEqual([429, 'POLL_LOCKED']);
  const started = await request({ method: 'POST', url: '/cloud-status/check', as: other });
  expect([started.statusCode, started.json()]).toEqual([202, { runId: expect.any(String) }]);
}, 60_000);

it('pages through transitions, and finds no instance of another tenant', async () => {
  const as = await admin();
  expect((await request({ url: '/cloud-status/transitions', as })).json()).toEqual([]);
  const foreign = await make.cloudInstance((await admin()).tenantId);
  for (const id of [foreign.id, newId()])
    expect((await request({ url: `/cloud-status/transitions?instanceId=${id}`, as })).statusCode).toBe(404);
  for (const query of ['instanceId=x', 'limit=0', 'limit=201', 'cursor=x'])
    expect((await request({ url: `/cloud-status/transitions?${query}`, as })).statusCode).toBe(400);
});

describe('a logo', () => {
  it('is stored, served without scripts, replaced and removed', async () => {
    const boss = await admin();
    const as = await colleagueOf(boss);
    const { id } = (await add(boss, { statusUrl: 'https://cloud.example.org' })).json<CloudInstance>();
    const logo = () => request({ url: `${path}/${id}/logo`, as });
    expect((await logo()).statusCode).toBe(404);
    const uploaded = await request({ ...upload(id, pngIcon()), as: boss });
    expect([uploaded.statusCode, uploaded.json()]).toEqual([200, expect.objectContaining({ id, hasLogo: true })]);
    const served = await logo();
    expect(served.rawPayload).toEqual(pngIcon());
    expect(served.headers).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'cache-control': 'private, no-cache',
    });
    const { etag } = served.headers;
    const unchanged = () => request({ url: `${path}/${id}/logo`, headers: { 'if-none-match': String(etag) }, as });
    expect((await unchanged()).statusCode).toBe(304);
    const svg = svgIcon('<path d="M0" onload="alert(1)"/><script>alert(1)</script>');
    await request({ ...upload(id, svg, 'logo.svg'), as: boss });
    const drawn = await unchanged();
    expect([drawn.statusCode, drawn.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(drawn.body).toContain('<path');
    expect(drawn.body).not.toMatch(/script|onload/);
    expect((await request({ method: 'DELETE', url: `${path}/${id}/logo`, as: boss })).statusCode).toBe(204);
    expect((await request({ method: 'DELETE', url: `${path}/${id}/logo`, as: boss })).statusCode).toBe(204);
    expect((await logo()).statusCode).toBe(404);
  });

  it.each<[string, Buffer]>([
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a page that begins like an image', Buffer.concat([pngIcon().subarray(0, 8), Buffer.from('<script>')])],
    ['an ICO', icoOf(pngIcon())],
    ['nothing', Buffer.alloc(0)],
    ['a PNG with too many pixels', pngIcon({ side: 4_097 })],
  ])('is not %s', async (_what, bytes) => {
    const as = await admin();
    const { id } = (await add(as, { statusUrl: 'https://cloud.example.org' })).json<CloudInstance>();
    const answer = await request({ ...upload(id, bytes), as });
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'UNSUPPORTED_IMAGE']);
  });

  it('is at most 1 MiB', async () => {
    const as = await admin();
    const { id } = (await add(as, { statusUrl: 'https://cloud.example.org' })).json<CloudInstance>();
    const svgOf = (bytes: number) => svgIcon(`<path d="${'M0 0'.repeat(bytes / 4)}"/>`);
    expect((await request({ ...upload(id, svgOf(1_000_000)), as })).statusCode).toBe(200);
    expect((await request({ ...upload(id, svgOf(1_100_000)), as })).statusCode).toBe(413);
  });
});
