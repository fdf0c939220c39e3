import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ldapConfigs } from '@portal/db/schema/directory';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { type RogueDirectory, startRogueDirectory } from '@portal/testing/servers/rogue-directory';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { caCertificatePem, otherCaCertificatePem } from '@portal/testing/servers/tls';
import { testApp } from '../../testing/app.ts';

/*
 * An ADMIN may change the target and encryption of a stored password without knowing it. The ADMIN must not be able to read it: neither
 * at their own server nor on the way to the right one.
 */

const { make, request, runtime, logLines } = await testApp();
const secret = 'Stored-Secret-7';
type Account = Awaited<ReturnType<typeof make.user>>;

/** Counts connections; no request may call it. */
async function openCanary() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}
const canary = await openCanary();
// In each test the canary gets no connection, and no log line contains a password.
afterEach(() => {
  if (canary.connections() > 0) throw new Error('A request connected to the canary.');
  if (JSON.stringify(logLines).includes(secret)) throw new Error('A log line contains a password.');
});

const blank = [{}, { secret: '' }, { secret: '********' }];
/** Every input that means the stored password. */
const storedForms = (field: string): object[] =>
  blank.map(({ secret: value }) => (value === undefined ? {} : { [field]: value }));
const send = (as: Account, method: 'PUT' | 'POST', url: string, payload: object) =>
  request({ method, url, as, payload });
const required = (field: string) => ({ code: 'SECRET_REQUIRED', details: [{ path: field }] });
const audited = async (as: Account, action: string): Promise<string[]> =>
  (await request({ url: `/audit-log?action=${action}`, as }))
    .json<{ summary: string }[]>()
    .map(({ summary }) => summary);

describe('the password of the mail server', () => {
  const stored = {
    host: '127.0.0.1',
    port: canary.port,
    security: 'starttls',
    username: 'portal',
    fromAddress: 'portal@example.org',
    verifyTls: true,
  };
  const admin = async (settings: object = stored) => {
    const as = await make.user({ role: 'ADMIN' });
    expect((await send(as, 'PUT', '/smtp-config', { ...settings, password: secret })).statusCode).toBe(200);
    return as;
  };
  const row = (as: Account) =>
    runtime.database.inTenant(as.tenantId).read(async (db) => (await db.select().from(smtpConfigs))[0]);

  it.each<[string, object]>([
    ['another host', { host: 'localhost' }],
    ['another port', { port: canary.port === 1 ? 2 : canary.port - 1 }],
    ['another account', { username: 'other-account' }],
    ['no account', { username: null }],
    ['no encryption', { security: 'none' }],
    ['any certificate', { verifyTls: false }],
    ['the service’s server', { host: null }],
  ])('is not sent to %s', async (_, change) => {
    const as = await admin();
    const before = await row(as);
    for (const way of storedForms('password')) {
      const payload = { ...stored, ...change, ...way };
      for (const answer of [
        await send(as, 'PUT', '/smtp-config', payload),
        ...('host' in change && change.host === null ? [] : [await send(as, 'POST', '/smtp-config/test', payload)]),
      ]) {
        expect({ status: answer.statusCode, ...answer.json() }).toMatchObject({ status: 400, ...required('password') });
        expect(answer.body).not.toContain(secret);
      }
    }
    expect(await row(as)).toEqual(before);
    const changed = await send(as, 'PUT', '/smtp-config', { ...stored, ...change, password: null });
    expect({ status: changed.statusCode, ...changed.json() }).toMatchObject({ status: 200, hasPassword: false });
  });

  it('is dropped for weaker encryption, and stays for stronger encryption', async () => {
    const tls = { ...stored, security: 'tls' };
    const as = await admin(tls);
    for (const security of ['starttls', 'none'])
      expect((await send(as, 'PUT', '/smtp-config', { ...tls, security })).json()).toMatchObject(required('password'));
    const open = { ...stored, security: 'none', verifyTls: false };
    const other = await admin(open);
    for (const change of [{ verifyTls: true }, { security: 'starttls' }, { security: 'tls' }, { fromName: 'New' }]) {
      Object.assign(open, change);
      const answer = await send(other, 'PUT', '/smtp-config', open);
      expect(answer.json()).toMatchObject({ ...change, hasPassword: true });
    }
  });

  it('is not combined with another target by a concurrent change', async () => {
    const as = await admin({ ...stored, host: 'evil.example' });
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const honest = runtime.database.inTenant(as.tenantId).tx(async (tx) => {
      await tx.update(smtpConfigs).set({ host: 'good.example', password: 'v1:test:honest:honest' });
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const attack = send(as, 'PUT', '/smtp-config', { ...stored, host: 'evil.example' });
    await expect
      .poll(() =>
        runtime.database.acrossTenants('a test reads locks', async (tx) => {
          const { rows } = await tx.execute('select 1 from pg_locks where not granted');
          return rows.length;
        }),
      )
      .toBeGreaterThan(0);
    release.resolve();
    await honest;
    expect((await attack).json()).toMatchObject(required('password'));
    expect(await row(as)).toMatchObject({ host: 'good.example', password: 'v1:test:honest:honest' });
  });

  describe('with its own server', () => {
    let server: TestSmtpServer;
    beforeAll(async () => {
      server = await startSmtpServer({ auth: { username: 'portal', password: secret } });
    });
    afterAll(() => server.stop());

    it('is sent in a test; the audit log names the server but not the password', async () => {
      const settings = { ...stored, port: server.port, security: 'none' };
      const as = await admin(settings);
      for (const way of storedForms('password'))
        expect((await send(as, 'POST', '/smtp-config/test', { ...settings, ...way })).statusCode).toBe(200);
      await send(as, 'POST', '/smtp-config/test', { ...settings, password: 'another' });
      await send(as, 'POST', '/smtp-config/test', { ...settings, username: null, password: null });
      expect(server.messages.map(({ username }) => username)).toEqual(['portal', 'portal', 'portal']);
      const summaryOf = (which: string) => `Tried mail settings at the server 127.0.0.1:${server.port} ${which}.`;
      expect((await audited(as, 'smtp_config.test')).toSorted()).toEqual(
        [
          summaryOf('with a password that was entered'),
          ...Array(3).fill(summaryOf('with the stored password')),
          summaryOf('without a password'),
        ].toSorted(),
      );
    });

    it('has at most ten tests a minute for all administrators of a tenant; further tests make no connection', async () => {
      const settings = { ...stored, port: server.port, security: 'none', to: 'a@example.org' };
      const as = await admin(settings);
      const colleague = await make.user({ role: 'ADMIN', tenantId: as.tenantId });
      const test = (who: Account) => send(who, 'POST', '/smtp-config/test', { ...settings, password: 'a guess' });
      const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => test(n % 2 ? as : colleague)));
      expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([
        ...Array(2).fill(429),
        ...Array(10).fill(502),
      ]);
      const calls = server.connectionCount();
      const refused = await test(as);
      expect(refused.json()).toMatchObject({ code: 'RATE_LIMITED' });
      expect(Number(refused.headers['retry-after'])).toSatisfy((wait: number) => wait >= 1 && wait <= 60);
      expect(server.connectionCount()).toBe(calls);
      expect(await audited(as, 'smtp_config.test')).toHaveLength(10);
      // Other tenants and the directory test have their own counts.
      expect((await test(await make.user({ role: 'ADMIN' }))).statusCode).toBe(502);
      const ldap = { serverUrl: 'ldap://127.0.0.1:1', baseDn: 'dc=example,dc=org' };
      expect((await send(as, 'POST', '/ldap/test', ldap)).statusCode).toBe(200);
    });
  });
});

describe('the bind password of the directory', () => {
  let rogue: RogueDirectory;
  beforeAll(async () => {
    rogue = await startRogueDirectory();
  });
  afterAll(() => rogue.stop());
  const stored = {
    serverUrl: `ldap://127.0.0.1:${canary.port}`,
    startTls: true,
    baseDn: 'dc=example,dc=org',
    bindDn: 'cn=portal,dc=example,dc=org',
    caCertificatePem,
    isActive: false,
  };
  const admin = async (settings: object = stored) => {
    const as = await make.user({ role: 'ADMIN' });
    expect((await send(as, 'PUT', '/ldap/config', { ...settings, bindPassword: secret })).statusCode).toBe(200);
    return as;
  };
  const row = (as: Account) =>
    runtime.database.inTenant(as.tenantId).read(async (db) => (await db.select().from(ldapConfigs))[0]);

  it.each<[string, () => object]>([
    ['another server', () => ({ serverUrl: rogue.url, startTls: false })],
    ['another name of the host', () => ({ serverUrl: `ldap://localhost:${canary.port}` })],
    ['another port', () => ({ serverUrl: 'ldap://127.0.0.1:389' })],
    ['another scheme', () => ({ serverUrl: `ldaps://127.0.0.1:${canary.port}`, startTls: false })],
    ['another account', () => ({ bindDn: 'cn=other,dc=example,dc=org' })],
    ['no account', () => ({ bindDn: null })],
    ['no encryption', () => ({ startTls: false })],
    ['any certificate', () => ({ skipTlsVerify: true })],
    ['certificates of another authority', () => ({ caCertificatePem: otherCaCertificatePem })],
    [
      'certificates of one more authority',
      () => ({ caCertificatePem: `${caCertificatePem}\n${otherCaCertificatePem}` }),
    ],
    ['certificates that the system trusts', () => ({ caCertificatePem: null })],
  ])('is not sent to %s', async (_, change) => {
    const as = await admin();
    const [before, bindsBefore] = [await row(as), rogue.binds.length];
    for (const way of storedForms('bindPassword')) {
      const payload = { ...stored, ...change(), ...way };
      for (const answer of [
        await send(as, 'PUT', '/ldap/config', payload),
        await send(as, 'POST', '/ldap/test', payload),
      ]) {
        expect({ status: answer.statusCode, ...answer.json() }).toMatchObject({
          status: 400,
          ...required('bindPassword'),
        });
        expect(answer.body).not.toContain(secret);
      }
    }
    expect(await row(as)).toEqual(before);
    expect(rogue.binds.slice(bindsBefore)).toEqual([]);
    const changed = await send(as, 'PUT', '/ldap/config', { ...stored, ...change(), bindPassword: null });
    expect({ status: changed.statusCode, ...changed.json() }).toMatchObject({ status: 200, bindPassword: null });
  });

  it('is not sent from ldaps to ldap', async () => {
    const ldaps = { ...stored, serverUrl: `ldaps://127.0.0.1:${canary.port}`, startTls: false };
    const as = await admin(ldaps);
    for (const startTls of [true, false]) {
      const answer = await send(as, 'PUT', '/ldap/config', { ...ldaps, serverUrl: stored.serverUrl, startTls });
      expect(answer.json()).toMatchObject(required('bindPassword'));
    }
  });

  it('stays for changes that keep the target: spelling, filters, intervals, stronger encryption', async () => {
    const open = { ...stored, serverUrl: 'ldap://Ldap.Example.org', startTls: false, caCertificatePem: null };
    const as = await admin({ ...open, skipTlsVerify: true });
    for (const change of [
      { serverUrl: 'LDAP://ldap.example.ORG:389/' },
      { userFilter: '(uid=*)', syncIntervalMin: 30, baseDn: 'ou=x,dc=example,dc=org' },
      { startTls: true, caCertificatePem },
    ]) {
      const answer = await send(as, 'PUT', '/ldap/config', { ...open, ...change });
      expect({ change, ...answer.json() }).toMatchObject({ change, bindPassword: '********' });
    }
  });

  it('is sent to its own server in a test; the audit log does not name the password', async () => {
    const settings = { ...stored, serverUrl: rogue.url, startTls: false };
    const as = await admin(settings);
    const before = rogue.binds.length;
    expect((await send(as, 'POST', '/ldap/test', settings)).json()).toMatchObject({ ok: true });
    expect((await send(as, 'POST', '/ldap/test', { ...settings, bindPassword: null })).json()).toMatchObject({
      ok: true,
    });
    expect(rogue.binds.slice(before)).toEqual([
      { name: stored.bindDn, password: secret },
      { name: '', password: '' },
    ]);
    const summaryOf = (which: string) => `Tried directory settings at the server ${new URL(rogue.url).host} ${which}.`;
    expect((await audited(as, 'ldap.test')).toSorted()).toEqual([
      summaryOf('with the stored password'),
      summaryOf('without a password'),
    ]);
  });

  it('has at most ten tests a minute for all administrators of a tenant; further tests make no connection', async () => {
    const settings = { ...stored, serverUrl: rogue.url, startTls: false, bindPassword: 'a guess' };
    const as = await make.user({ role: 'ADMIN' });
    const colleague = await make.user({ role: 'ADMIN', tenantId: as.tenantId });
    for (let n = 0; n < 10; n += 1)
      expect((await send(n % 2 ? as : colleague, 'POST', '/ldap/test', settings)).statusCode).toBe(200);
    const calls = rogue.connections();
    const refused = await send(as, 'POST', '/ldap/test', settings);
    expect({ status: refused.statusCode, ...refused.json() }).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(refused.headers['retry-after'])).toSatisfy((wait: number) => wait >= 1 && wait <= 60);
    expect(rogue.connections()).toBe(calls);
    expect((await send(await make.user({ role: 'ADMIN' }), 'POST', '/ldap/test', settings)).statusCode).toBe(200);
  });
});
