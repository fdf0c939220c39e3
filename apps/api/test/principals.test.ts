import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testApp, type TestRequest } from '../testing/app.ts';
import { methodOf, withGoodBody } from './every-route.ts';
import { recordsOf } from './records.ts';

const { app, request, make, signedIn, runtime, ownerUrl } = await testApp();
const routes = app.routeList.filter(({ method, url }) => url.includes(':') && method !== 'HEAD');
const owner = new Client({ connectionString: ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => owner.end());

const them = await make.user({ role: 'ADMIN' });
const ours = await make.user({ role: 'ADMIN' });
const theirs = recordsOf({ make, signedIn, runtime }, them);
const own = recordsOf({ make, signedIn, runtime }, ours);

type Who = Pick<TestRequest, 'as' | 'headers'>;
const at = (tenantId: string, more: Parameters<typeof make.user>[0] = {}) => make.user({ tenantId, ...more });
const { tenantId } = ours;

/** New accounts for each route, because some routes end the sessions of the caller. */
const outsiders: Record<string, () => Promise<Who>> = {
  'a caller without a session': async () => ({}),
  'an invalid cookie': async () => ({ headers: { cookie: 'portal_session=a.b.c' } }),
  'an ended session': async () => ({ as: { ...(await at(tenantId)), sessionVersion: 7 } }),
  'an inactive account': async () => ({ as: await at(tenantId, { role: 'ADMIN', isActive: false }) }),
  'an account of an inactive tenant': async () => ({
    as: await make.user({ role: 'ADMIN', tenantId: (await make.tenant({ isActive: false })).id }),
  }),
  'an account that must change its password': async () => ({
    as: await at(tenantId, { role: 'ADMIN', mustChangePassword: true }),
  }),
  'a user': async () => ({ as: await at(tenantId) }),
  'an administrator': async () => ({ as: await at(tenantId, { role: 'ADMIN' }) }),
};
const colleagues: Record<string, () => Promise<Who>> = {
  'a colleague': async () => ({ as: await at(tenantId) }),
  'the administrator': async () => ({ as: await at(tenantId, { role: 'ADMIN' }) }),
  'the operator': async () => ({ as: await make.user({ role: 'SUPER_ADMIN' }) }),
};

async function ask(route: (typeof routes)[number], id: string, who: Who) {
  const good = withGoodBody(route);
  const answer = await request({
    method: methodOf(route),
    url: route.url.replace(/:\w+/, id),
    ...good,
    ...who,
    headers: { ...good.headers, ...who.headers },
  });
  return { status: answer.statusCode, body: answer.body };
}

/** One digest per table over all rows of a tenant. */
async function rowsOf(tenant: string): Promise<Record<string, string>> {
  // Row policies apply to the table owner, too.
  await owner.query('set row_security = on; set role portal_across');
  const { rows: tables } = await owner.query<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await owner.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as digest from ${name} t where tenant_id = $1`,
      [tenant],
    );
    digests[name] = rows[0]?.digest ?? '';
  }
  await owner.query('reset role');
  return digests;
}

it('an outsider of a tenant neither reads nor changes its records, by any route', async () => {
  const ids = new Map<string, string>();
  for (const { url } of routes) {
    const maker = theirs[url];
    if (typeof maker === 'function' && !ids.has(url)) ids.set(url, await maker());
  }
  const before = await rowsOf(them.tenantId);
  expect(Object.values(before).filter((digest) => !digest.startsWith('0 ')).length).toBeGreaterThan(15);
  for (const route of routes) {
    const id = ids.get(route.url);
    if (id === undefined) continue;
    for (const [name, make] of Object.entries(outsiders)) {
      const who = await make();
      const [theirOne, never] = [await ask(route, id, who), await ask(route, newId(), await make())];
      const asked = `${route.method} ${route.url} by ${name}`;
      expect([asked, theirOne.status]).toEqual([asked, expect.toBeOneOf([401, 403, 404])]);
      expect([asked, theirOne]).toEqual([asked, never]);
      expect(theirOne.body).not.toContain(id);
    }
  }
  expect(await rowsOf(them.tenantId)).toEqual(before);
});

it('a malformed id gets the same answer as an unknown one, also for members', async () => {
  for (const route of routes.filter(({ url }) => typeof own[url] === 'function')) {
    for (const [name, make] of Object.entries(colleagues)) {
      const asked = `${route.method} ${route.url} by ${name}`;
      const never = await ask(route, newId(), await make());
      expect([asked, never.status]).toEqual([asked, expect.toBeOneOf([403, 404])]);
      expect([asked, await ask(route, 'x%27y', await make())]).toEqual([asked, never]);
    }
  }
});

it('a colleague’s record is answered if allowed, otherwise like an unknown one, and never with a 5xx', async () => {
  const personal = /^\/(dashboard|favorites|reminders|auth\/sessions)/;
  for (const route of routes) {
    const maker = own[route.url];
    if (typeof maker !== 'function') continue;
    const id = await maker();
    for (const [name, make] of Object.entries(colleagues)) {
      const asked = `${route.method} ${route.url} by ${name}`;
      const answer = await ask(route, id, await make());
      // 502: the route calls the address in the record, where no server listens.
      expect([asked, answer.status < 500 || answer.status === 502]).toEqual([asked, true]);
      if (answer.status === 404 || personal.test(route.url)) {
        expect([asked, answer.status]).toEqual([asked, 404]);
        expect([asked, answer]).toEqual([asked, await ask(route, newId(), await make())]);
      }
    }
  }
});
