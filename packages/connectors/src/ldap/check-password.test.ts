import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { adUser, fileTime, startActiveDirectory } from '@portal/testing/servers/active-directory';
import { escapeRdnValue, person, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { otherCaCertificatePem } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { checkPassword } from './check-password.ts';
import type { LdapHost } from './server.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const host = (url: string, change: Partial<LdapHost> = {}): LdapHost => ({
  url,
  startTls: false,
  skipTlsVerify: false,
  caCertificatePem: null,
  policy: { reach: 'private', allowHosts: [] },
  ...change,
});

// More time than a sign-in has, because the machine may be busy with other tests
const check = (server: LdapHost, dn: string, password: string): Promise<boolean> =>
  checkPassword(server, dn, password, { timeoutMs: 20_000 });

const blankPasswords = ['', ' ', '\t', '\n', '\u00a0', '\0', '\0secret', 'secret\0'];

describe.skipIf(serviceBinary('slapd') === null)('with OpenLDAP', () => {
  const special = 'Müller, Jörg + "Öl"';
  let slapd: TestSlapd;
  beforeAll(async () => {
    slapd = await startSlapd({ entries: [person('anna', { password: 'Pässwörd €' }), person(special)] });
  });
  afterAll(() => slapd.stop());

  it('accepts only the right password', async () => {
    const dn = `uid=anna,${slapd.peopleDn}`;
    expect(await check(host(slapd.url), dn, 'Pässwörd €')).toBe(true);
    expect(await check(host(slapd.url), dn, 'pässwörd €')).toBe(false);
    expect(await check(host(slapd.url), `uid=${escapeRdnValue(special)},${slapd.peopleDn}`, 'secret')).toBe(true);
  });

  it('refuses a DN that does not exist, is invalid, or cannot sign in', async () => {
    for (const dn of [`uid=nobody,${slapd.peopleDn}`, 'anna', slapd.peopleDn, 'uid=anna', '*', 'EXTERNAL', 'PLAIN']) {
      expect(await check(host(slapd.url), dn, 'secret')).toBe(false);
    }
  });

  it('works over StartTLS and ldaps, but only with the right authority', async () => {
    const { caCertificatePem } = slapd;
    for (const server of [host(slapd.url, { startTls: true }), host(slapd.ldapsUrl)]) {
      const dn = `uid=anna,${slapd.peopleDn}`;
      expect(await check({ ...server, caCertificatePem }, dn, 'Pässwörd €')).toBe(true);
      const untrusted = check({ ...server, caCertificatePem: otherCaCertificatePem }, dn, 'Pässwörd €');
      await expect(untrusted).rejects.toMatchObject({ name: 'LdapError', kind: 'certificate' });
    }
  });

  it('throws if the server gives no verdict', async () => {
    const strict = await startSlapd({ entries: [person('anna')], configuration: 'security simple_bind=128' });
    cleanups.push(strict.stop);
    const checking = check(host(strict.url), `uid=anna,${strict.peopleDn}`, 'secret');
    await expect(checking).rejects.toMatchObject({ kind: 'protocol' });
  });
});

describe('with Active Directory', () => {
  it('refuses accounts that are locked, disabled or expired', async () => {
    const yesterday = fileTime(new Date(Date.now() - 86_400_000));
    const server = await startActiveDirectory({
      objects: [
        adUser('active'),
        adUser('disabled', { userAccountControl: '514' }),
        adUser('expired', { accountExpires: yesterday }),
        adUser('locked', { lockoutTime: yesterday }),
      ],
    });
    cleanups.push(server.stop);
    const checkAccount = (name: string, password = 'secret') =>
      check(host(server.url), `CN=${name},CN=Users,${server.baseDn}`, password);
    expect(await checkAccount('active')).toBe(true);
    for (const name of ['disabled', 'expired', 'locked', 'unknown']) expect(await checkAccount(name)).toBe(false);
    expect(await checkAccount('active', 'Secret')).toBe(false);
  });

  it('does not connect without a name and a password', async () => {
    const server = await startActiveDirectory({ objects: [adUser('anna')] });
    cleanups.push(server.stop);
    for (const password of blankPasswords) {
      expect(await check(host(server.url), `CN=anna,CN=Users,${server.baseDn}`, password)).toBe(false);
    }
    for (const dn of ['', '  ']) expect(await check(host(server.url), dn, 'secret')).toBe(false);
    expect(server.binds).toEqual([]);
    // Even a closed port does not matter then
    expect(await check(host('ldap://127.0.0.1:1'), 'cn=a', '')).toBe(false);
  });
});

it('gives up on a silent server', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ended: Promise<unknown>[] = [];
  server.on('connection', (socket) => ended.push(once(socket, 'close')));
  cleanups.push(() => server.close());
  const url = `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const change of [{}, { startTls: true }, { url: url.replace('ldap:', 'ldaps:') }]) {
    const checking = checkPassword(host(url, change), 'cn=a', 'secret', { timeoutMs: 200 });
    await expect(checking).rejects.toMatchObject({ kind: 'timeout', message: expect.not.stringContaining('cn=a') });
  }
  await Promise.all(ended);
});

it('does not wait for an answer that is longer than a refusal', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // The beginning of a message of a megabyte.
    socket.on('data', () => socket.write(Buffer.from([0x30, 0x83, 0x10, 0, 0, 0x02, 1, 1])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const checking = check(host(`ldap://127.0.0.1:${(server.address() as AddressInfo).port}`), 'cn=a', 'secret');
  await expect(checking).rejects.toMatchObject({ kind: 'protocol', message: expect.stringContaining('larger') });
});
