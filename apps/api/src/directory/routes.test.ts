import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ldapConfigs } from '@portal/db/schema/directory';
import { person, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { serviceBinary } from '@portal/testing/services';
import { testApp } from '../../testing/app.ts';

const { make, request, runtime, logLines } = await testApp();

const settings = {
  serverUrl: 'ldap://ldap.example.org',
  baseDn: 'dc=example,dc=org',
  bindDn: 'cn=portal,dc=example,dc=org',
};
const put = (as: Awaited<ReturnType<typeof make.user>>, payload: object) =>
  request({ method: 'PUT', url: '/ldap/config', as, payload });

describe('/ldap/config', () => {
  it('stores the settings, masks the password, and is empty after DELETE', async () => {
    const as = await make.user({ role: 'ADMIN' });
    const empty = await request({ url: '/ldap/config', as });
    expect(empty.json()).toMatchObject({ serverUrl: null, bindPassword: null, includeDns: [], userExcludeList: [] });
    const answer = await put(as, {
      ...settings,
      bindPassword: 'a secret',
      includeDns: ['ou=People,dc=example,dc=org'],
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      ...settings,
      startTls: false,
      bindPassword: '********',
      userFilter: null,
      syncIntervalMin: 60,
      isActive: true,
      includeDns: ['ou=People,dc=example,dc=org'],
      userExcludeList: [],
      skipTlsVerify: false,
      caCertificatePem: null,
    });
    expect((await request({ url: '/ldap/config', as })).json()).toEqual(answer.json());
    expect((await request({ method: 'DELETE', url: '/ldap/config', as })).statusCode).toBe(204);
    expect((await request({ url: '/ldap/config', as })).json()).toEqual(empty.json());
  });

  it.each([
    ['serverUrl', { serverUrl: 'http://ldap.example.org' }],
    ['baseDn', { baseDn: 'nowhere' }],
    ['userFilter', { userFilter: '(uid=' }],
    ['syncIntervalMin', { syncIntervalMin: 1 }],
  ])('names a wrong %s in the 400, for saving and for testing', async (path, fields) => {
    const as = await make.user({ role: 'ADMIN' });
    for (const answer of [
      await put(as, { ...settings, ...fields }),
      await request({ method: 'POST', url: '/ldap/test', as, payload: { ...settings, ...fields } }),
    ]) {
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path }] });
    }
  });
});

describe('/ldap/mappings', () => {
  it('adds, lists before the defaults, and deletes', async () => {
    const as = await make.user({ role: 'ADMIN' });
    const payload = { ldapAttribute: 'givenName', field: 'firstName' };
    const added = await request({ method: 'POST', url: '/ldap/mappings', as, payload });
    expect(added.statusCode).toBe(201);
    expect(added.json()).toMatchObject({ ...payload, isDefault: false });
    const again = await request({ method: 'POST', url: '/ldap/mappings', as, payload });
    expect({ status: again.statusCode, code: again.json().code }).toEqual({ status: 409, code: 'CONFLICT' });
    const all = (await request({ url: '/ldap/mappings', as })).json<{ id: string; isDefault: boolean }[]>();
    expect(all.map(({ isDefault }) => isDefault)).toEqual([false, true, true, true]);
    const remove = async (id = '') => (await request({ method: 'DELETE', url: `/ldap/mappings/${id}`, as })).statusCode;
    expect(await remove(all[1]?.id)).toBe(409);
    expect(await remove(all[0]?.id)).toBe(204);
    expect(await remove(all[0]?.id)).toBe(404);
  });
});

describe('without a directory', () => {
  it.each([
    ['GET', '/ldap/groups'],
    ['POST', '/ldap/sync'],
    ['POST', '/ldap/sync/preview'],
  ] as const)('%s %s answers 409', async (method, url) => {
    const answer = await request({ method, url, as: await make.user({ role: 'ADMIN' }) });
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({ code: 'DIRECTORY_NOT_CONFIGURED' });
  });
});

describe.skipIf(!serviceBinary('slapd'))('with a directory', () => {
  const bindPassword = 'Bind-Password-7';
  const password = 'Own-Password-8';
  const service = person('portal-service', { password: bindPassword });
  const anna = person('anna', { password });
  let slapd: TestSlapd;
  beforeAll(async () => {
    slapd = await startSlapd({ entries: [service, anna] });
  });
  afterAll(() => slapd.stop());

  it('never shows the DN of an account or a password in an answer or log line', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const account = await make.user({ tenantId: admin.tenantId, ldapDn: anna.dn });
    const outputs: string[] = [];
    const ask = async (one: Omit<Parameters<typeof request>[0], 'as'>, expected: number) => {
      const answer = await request({ ...one, as: admin });
      expect({ url: one.url, status: answer.statusCode }).toEqual({ url: one.url, status: expected });
      outputs.push(JSON.stringify(answer.headers), answer.body);
    };
    const logIn = async (credentials: object, expected: number) =>
      ask({ method: 'POST', url: '/auth/login', payload: credentials }, expected);
    const working = { serverUrl: slapd.url, baseDn: slapd.baseDn, bindDn: service.dn, bindPassword };
    const tries = [
      {},
      { bindPassword: `${bindPassword}-wrong` },
      { bindDn: `x${service.dn}` },
      { baseDn: 'ou=nowhere,dc=example,dc=org' },
      { startTls: true },
      { serverUrl: 'ldap://127.0.0.1:1' },
    ];

    await ask({ method: 'PUT', url: '/ldap/config', payload: working }, 200);
    await logIn({ username: account.username, password }, 200);
    await logIn({ username: account.username, password: `${password}-wrong` }, 401);
    for (const change of tries) {
      const payload = { ...working, ...change };
      await ask({ method: 'POST', url: '/ldap/test', payload }, 200);
      await ask({ method: 'PUT', url: '/ldap/config', payload }, 200);
      const isFine = Object.keys(change).length === 0;
      await ask({ url: '/ldap/groups?search=people' }, isFine ? 200 : 502);
      await ask({ method: 'POST', url: '/ldap/sync/preview' }, isFine ? 200 : 502);
      await logIn({ username: account.username, password }, 'startTls' in change || 'serverUrl' in change ? 401 : 200);
    }
    await runtime.database.acrossTenants('a test spoils a secret', (tx) =>
      tx.update(ldapConfigs).set({ bindPassword: 'v1:test:AAAA:AAAA' }),
    );
    await ask({ url: '/ldap/groups' }, 502);
    await ask({ method: 'POST', url: '/ldap/sync' }, 202);
    for (const url of ['/users', `/users/${account.id}`, '/audit-log', '/ldap/config', '/ldap/sync/runs', '/auth/me'])
      await ask({ url }, 200);
    await ask({ method: 'PATCH', url: `/users/${account.id}`, payload: { isActive: false } }, 200);

    const everything = [...outputs, ...logLines.map((line) => JSON.stringify(line))].join('\n');
    expect(everything).toContain(account.username);
    expect(everything).not.toContain(bindPassword);
    expect(everything).not.toContain(password);
    expect(everything.toLowerCase()).not.toContain('uid=anna');
  });
});
