import { afterEach, expect, it, onTestFinished } from 'vitest';
import { handle } from '@portal/platform/jobs/handler';
import { type RogueDirectory, startRogueDirectory } from '@portal/testing/servers/rogue-directory';
import { startTestWorker } from '@portal/testing/worker';
import { syncDirectory } from '@portal/usecases/directory/jobs';
import { syncTenantDirectory } from '@portal/usecases/directory/sync/sync-directory';
import { testApp } from '../../testing/app.ts';

/*
 * Administrators whose directories accept every connection and stay silent must not block previews, tests and look-ups of other tenants.
 */

const { make, request, url } = await testApp();
type Account = Awaited<ReturnType<typeof make.user>>;
const servers: RogueDirectory[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function tenantWithDirectory() {
  const server = await startRogueDirectory();
  servers.push(server);
  const admin = await make.user({ role: 'ADMIN' });
  const settings = { serverUrl: server.url, baseDn: server.baseDn };
  expect((await request({ method: 'PUT', url: '/ldap/config', as: admin, payload: settings })).statusCode).toBe(200);
  return { server, admin, settings };
}
const preview = (as: Account) => request({ method: 'POST', url: '/ldap/sync/preview', as });
const groups = (as: Account) => request({ url: '/ldap/groups', as });
const statuses = async (answers: ReturnType<typeof request>[]) =>
  (await Promise.all(answers)).map(({ statusCode }) => statusCode).toSorted();

it('a silent server delays only its own tenant, and further requests are refused at once', async () => {
  const [hostile, honest] = [await tenantWithDirectory(), await tenantWithDirectory()];
  hostile.server.fallSilent();
  for (const { ask, limit } of [
    { ask: preview, limit: 3 },
    { ask: groups, limit: 5 },
  ]) {
    let refused = 0;
    let settled = 0;
    const hanging = Array.from({ length: limit + 2 }, async () => {
      const answer = await ask(hostile.admin);
      settled += 1;
      if (answer.statusCode !== 429) return answer;
      refused += 1;
      expect(answer.json()).toMatchObject({ code: 'RATE_LIMITED' });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      return answer;
    });
    await expect.poll(() => refused).toBe(2);
    expect((await ask(honest.admin)).statusCode).toBe(200);
    // The others still wait.
    expect([settled, refused]).toEqual([2, 2]);
    void Promise.allSettled(hanging);
  }
});

it('ten tenants with silent servers do not block other tenants', async () => {
  const hostile = await Promise.all(Array.from({ length: 10 }, tenantWithDirectory));
  for (const { server } of hostile) server.fallSilent();
  const hanging = hostile.flatMap(({ admin, settings }) => [
    ...Array.from({ length: 3 }, () => preview(admin)),
    ...Array.from({ length: 3 }, () => groups(admin)),
    ...Array.from({ length: 2 }, () => request({ method: 'POST', url: '/ldap/test', as: admin, payload: settings })),
  ]);
  await expect.poll(() => hostile.every(({ server }) => server.connections() >= 3)).toBe(true);
  const { admin, settings } = await tenantWithDirectory();
  let settled = 0;
  for (const each of hanging)
    void each.then(({ statusCode }) => {
      if (statusCode !== 429) settled += 1;
    });
  expect(
    await statuses([
      preview(admin),
      groups(admin),
      request({ method: 'POST', url: '/ldap/test', as: admin, payload: settings }),
    ]),
  ).toEqual([200, 200, 200]);
  expect(settled).toBe(0);
  // No hostile tenant exceeds its share.
  for (const { server } of hostile) expect(server.connections()).toBe(3);
  void Promise.allSettled(hanging);
});

it('directories that failed before leave places for healthy ones', { timeout: 60_000 }, async () => {
  const patience = { readingMs: 2_000 };
  const worker = startTestWorker(url, {
    handlers: [handle(syncDirectory, (ctx, payload, work) => syncTenantDirectory(ctx, payload, work, patience))],
    concurrency: { directory: 50 },
  });
  onTestFinished(() => worker.stop());
  const hostile = await Promise.all(Array.from({ length: 12 }, tenantWithDirectory));
  const sync = (as: Account) =>
    request({ method: 'POST', url: '/ldap/sync', as, headers: { prefer: 'wait=20' }, payload: {} });
  for (const { server } of hostile) server.fallSilent();
  await Promise.all(hostile.map(({ admin }) => sync(admin)));
  const before = hostile.reduce((sum, { server }) => sum + server.connections(), 0);
  patience.readingMs = 12_000;
  let settled = 0;
  const again = hostile.map(({ admin }) => sync(admin).finally(() => (settled += 1)));
  await expect.poll(() => hostile.reduce((sum, { server }) => sum + server.connections(), 0) - before).toBe(7);
  const { admin } = await tenantWithDirectory();
  expect((await sync(admin)).json()).toMatchObject({ state: 'succeeded' });
  expect(settled).toBe(0);
  await Promise.all(again);
});

it('a synchronization with a silent server leaves the queue after its reading time', async () => {
  const patience = { readingMs: 1_000 };
  const worker = startTestWorker(
    url,
    { handlers: [handle(syncDirectory, (ctx, payload, work) => syncTenantDirectory(ctx, payload, work, patience))] },
    { env: { WORKER_CONCURRENCY: '1' } },
  );
  onTestFinished(() => worker.stop());
  const [hostile, honest] = [await tenantWithDirectory(), await tenantWithDirectory()];
  hostile.server.fallSilent();
  const sync = (as: Account) =>
    request({ method: 'POST', url: '/ldap/sync', as, headers: { prefer: 'wait=20' }, payload: {} });
  const stuck = sync(hostile.admin);
  await expect.poll(() => hostile.server.connections()).toBe(1);
  expect((await sync(honest.admin)).json()).toMatchObject({ state: 'succeeded' });
  expect((await stuck).json()).toMatchObject({
    state: 'failed',
    error: expect.stringMatching(/^The directory could not be read completely within /),
  });
});
