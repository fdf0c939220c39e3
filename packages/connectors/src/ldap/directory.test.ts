import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Secret } from '@portal/domain/secret';
import { heldBytes } from '@portal/testing/held-bytes';
import {
  type ActiveDirectoryOptions,
  adGroup,
  adUser,
  startActiveDirectory,
  type TestActiveDirectory,
} from '@portal/testing/servers/active-directory';
import { type LdapFault, type LdapGate, openLdapGate } from '@portal/testing/servers/ldap-gate';
import { bindResponse, searchDone, searchEntry } from '@portal/testing/servers/ldap-wire';
import { group, person, type SlapdOptions, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { otherCaCertificatePem } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { type Directory, openDirectory } from './directory.ts';
import { escapeFilterBytes, escapeFilterValue } from './filter.ts';
import { LdapError } from './ldap-error.ts';
import { MessageSplitter, parseMessage } from './messages.ts';
import type { LdapServer } from './server.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const open = async (...given: Parameters<typeof openDirectory>): Promise<Directory> => {
  const directory = await openDirectory(...given);
  cleanups.push(() => directory[Symbol.asyncDispose]());
  return directory;
};

const activeDirectory = async (options: ActiveDirectoryOptions = {}): Promise<TestActiveDirectory> => {
  const server = await startActiveDirectory(options);
  cleanups.push(server.stop);
  return server;
};

const gateTo = async (url: string): Promise<LdapGate> => {
  const gate = await openLdapGate(url);
  cleanups.push(gate.stop);
  return gate;
};

/** A server on 127.0.0.1 whose answers the test defines. */
const rawServer = async (onConnection: (socket: Socket) => void): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  cleanups.push(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  await once(server, 'listening');
  return `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** A server that accepts any bind, has an empty root entry, and answers other searches with these bytes. */
const scriptedServer = (answer: (messageId: number) => Buffer): Promise<string> =>
  rawServer((socket) => {
    const splitter = new MessageSplitter();
    let searches = 0;
    socket.on('data', (chunk: Buffer) => {
      for (const message of splitter.push(chunk).map(parseMessage)) {
        if (message.operation === 0x60) socket.write(bindResponse(message.id, { code: 0 }));
        if (message.operation !== 0x63) continue;
        searches += 1;
        socket.write(searches === 1 ? searchDone(message.id, { code: 0 }) : answer(message.id));
      }
    });
  });

const anonymous = (url: string, change: Partial<LdapServer> = {}): LdapServer => ({
  url,
  startTls: false,
  skipTlsVerify: false,
  caCertificatePem: null,
  bindDn: null,
  bindPassword: null,
  policy: { reach: 'private', allowHosts: [] },
  ...change,
});

const asAdmin = (
  server: { adminDn: string; adminPassword: string; url: string },
  change: Partial<LdapServer> = {},
): LdapServer =>
  anonymous(server.url, { bindDn: server.adminDn, bindPassword: new Secret(server.adminPassword), ...change });

const collect = async <Item>(pages: AsyncIterable<Item[]>): Promise<Item[]> => {
  const items: Item[] = [];
  for await (const page of pages) items.push(...page);
  return items;
};

const people = (base: string) => ({ base, scope: 'sub' as const, filter: '(uid=*)', attributes: ['uid'] });
const users = (base: string) => ({
  base,
  scope: 'sub' as const,
  filter: '(&(objectCategory=person)(objectClass=user))',
  attributes: ['sAMAccountName'],
});

const failureOf = async (work: Promise<unknown>): Promise<LdapError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LdapError);
  return error as LdapError;
};

describe.skipIf(serviceBinary('slapd') === null)('with OpenLDAP', () => {
  const special = 'Müller, Jörg + "Öl" <x>;=#日本';
  const escaped = String.raw`Müller\, Jörg \+ \"Öl\" \<x\>\;\=#日本`;
  let slapd: TestSlapd;

  const start = async (options: SlapdOptions): Promise<TestSlapd> => {
    const server = await startSlapd(options);
    cleanups.push(server.stop);
    return server;
  };

  beforeAll(async () => {
    const uids = Array.from({ length: 2_600 }, (_, index) => `user${index}`);
    slapd = await startSlapd({
      sizeLimit: 500,
      entries: [
        ...uids.map((uid) => person(uid)),
        person(special),
        group(
          'everybody',
          uids.map((uid) => person(uid).dn),
        ),
      ],
    });
  });
  afterAll(() => slapd.stop());

  it('reads more entries than one answer may hold, page by page', async () => {
    const directory = await open(anonymous(slapd.url));
    expect(directory.serverType).toBe('openldap');
    const sizes: number[] = [];
    const uids = new Set<string>();
    for await (const page of directory.pages(people(slapd.baseDn))) {
      sizes.push(page.length);
      for (const entry of page) uids.add(entry.values('uid')[0] ?? '');
    }
    expect(sizes).toEqual([500, 500, 500, 500, 500, 101]);
    expect(uids.size).toBe(2_601);
  });

  it('reads single entries between the pages of a search', async () => {
    const directory = await open(anonymous(slapd.url));
    let count = 0;
    for await (const page of directory.pages({ ...people(slapd.baseDn), pageSize: 250 })) {
      count += page.length;
      const first = page[0];
      expect((await directory.read(first?.dn ?? '', ['uid']))?.values('uid')).toEqual(first?.values('uid'));
    }
    expect(count).toBe(2_601);
  });

  it('searches again on the same connection after the caller stopped a search early', async () => {
    const directory = await open(anonymous(slapd.url));
    for await (const page of directory.pages(people(slapd.baseDn))) {
      expect(page).toHaveLength(500);
      break;
    }
    expect(await collect(directory.pages(people(slapd.baseDn)))).toHaveLength(2_601);
  });

  it('requests only one page ahead', async () => {
    const gate = await gateTo(slapd.url);
    const directory = await open(anonymous(gate.url));
    const pages = directory.pages(people(slapd.baseDn));
    await pages.next();
    await vi.waitFor(() => expect(gate.pageCount()).toBe(2), { timeout: 20_000 });
    await directory.read(slapd.baseDn, []);
    expect(gate.pageCount()).toBe(2);
    await pages.return(undefined);
  });

  it('finds names with umlauts and with the special characters of DNs and filters', async () => {
    const directory = await open(anonymous(slapd.url));
    const filter = `(uid=${escapeFilterValue(special)})`;
    const [found] = await collect(directory.pages({ ...people(slapd.baseDn), filter }));
    expect(found?.values('uid')).toEqual([special]);
    expect((await directory.read(found?.dn ?? '', ['uid']))?.dn).toBe(found?.dn);
    expect((await directory.read(`uid=${escaped},${slapd.peopleDn}`, ['uid']))?.dn).toBe(found?.dn);
  });

  it.each([
    '*',
    'user1)(uid=*',
    '*)(uid=*))(|(uid=*',
    'user1*',
    'user1)(|(objectClass=*)',
    '\\2a',
    '\0',
    'user1\0',
    '*)(&',
    'x)(!(uid=x)',
  ])('finds no entry by the name %j', async (name) => {
    const directory = await open(anonymous(slapd.url));
    const filter = `(&(objectClass=inetOrgPerson)(uid=${escapeFilterValue(name)}))`;
    expect(await collect(directory.pages({ ...people(slapd.baseDn), filter }))).toEqual([]);
  });

  it('returns all members of a group at once', async () => {
    const directory = await open(anonymous(slapd.url));
    const everybody = await directory.read(`cn=everybody,${slapd.groupsDn}`, ['member']);
    expect(await collect(directory.allValues(everybody as never, 'member'))).toHaveLength(2_600);
    const someone = await directory.read(`uid=user7,${slapd.peopleDn}`, ['memberOf', 'member']);
    expect(someone?.values('memberof')).toEqual([`cn=everybody,${slapd.groupsDn}`]);
    expect(await collect(directory.allValues(someone as never, 'member'))).toEqual([]);
  });

  it('returns null for an entry that does not exist, and for an invalid DN', async () => {
    const directory = await open(anonymous(slapd.url));
    expect(await directory.read(`uid=nobody,${slapd.peopleDn}`, [])).toBeNull();
    expect(await directory.read('no DN at all', [])).toBeNull();
  });

  it('sees changes on the server', async () => {
    const server = await start({ entries: [person('anna')] });
    const directory = await open(anonymous(server.url));
    const dn = `uid=anna,${server.peopleDn}`;
    const id = (await directory.read(dn, ['entryUUID']))?.values('entryUUID');
    await server.modify(dn, { mail: 'anna@neu.example', displayName: [] });
    await server.add(group('team', [dn]));
    expect((await directory.read(dn, ['mail', 'memberOf']))?.values('memberOf')).toEqual([
      `cn=team,${server.groupsDn}`,
    ]);
    await server.rename(dn, `uid=anne,${server.groupsDn}`);
    expect(await directory.read(dn, [])).toBeNull();
    expect((await directory.read(`uid=anne,${server.groupsDn}`, ['entryUUID']))?.values('entryUUID')).toEqual(id);
    await server.delete(`uid=anne,${server.groupsDn}`);
    expect(await collect(directory.pages(people(server.baseDn)))).toEqual([]);
  });

  it('reports an answer cut off by the size limit', async () => {
    const server = await start({ pagedSizeLimit: 3, entries: ['a', 'b', 'c', 'd'].map((uid) => person(uid)) });
    const directory = await open(anonymous(server.url));
    const failure = await failureOf(collect(directory.pages({ ...people(server.baseDn), pageSize: 2 })));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('size limit') });
  });

  it('reports a base DN that does not exist', async () => {
    const directory = await open(anonymous(slapd.url));
    const missing = await failureOf(collect(directory.pages(people('ou=secret-unit,dc=example,dc=org'))));
    expect(missing.kind).toBe('baseDn');
    expect(missing.message).toContain(new URL(slapd.url).host);
    expect(missing.message).not.toContain('secret-unit');
    expect((await failureOf(collect(directory.pages(people('no DN'))))).kind).toBe('baseDn');
  });

  it('reports a wrong bind DN or password without quoting either', async () => {
    const wrong = [
      { bindPassword: new Secret('hunter2') },
      { bindDn: 'cn=stranger,dc=example,dc=org' },
      { bindDn: 'stranger' },
    ];
    for (const change of wrong) {
      const failure = await failureOf(openDirectory(asAdmin(slapd, change)));
      expect(failure.kind).toBe('credentials');
      expect(JSON.stringify([failure.message, failure.cause, failure.stack])).not.toMatch(
        /hunter2|stranger|directory manager/,
      );
    }
  });

  it('binds anonymously without a DN or password, and reports a server that does not allow that', async () => {
    for (const change of [
      { bindPassword: null },
      { bindDn: null },
      { bindPassword: new Secret('') },
      { bindDn: ' ' },
    ]) {
      await open(asAdmin(slapd, change));
    }
    const closed = await start({ configuration: 'disallow bind_anon' });
    const failure = await failureOf(openDirectory(anonymous(closed.url)));
    expect(failure).toMatchObject({ kind: 'credentials', message: expect.stringContaining('enter a bind DN') });
  });

  it('fails on an entry that refers to another server, because that may hold people', async () => {
    const server = await start({
      entries: [
        person('anna'),
        {
          dn: 'ou=abroad,dc=example,dc=org',
          attributes: {
            objectClass: ['referral', 'extensibleObject'],
            ou: 'abroad',
            ref: 'ldap://other.example.org/ou=abroad,dc=example,dc=org',
          },
        },
      ],
    });
    const directory = await open(anonymous(server.url));
    const failure = await failureOf(collect(directory.pages(people(server.baseDn))));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('another server') });
    const referred = await failureOf(collect(directory.pages(people('ou=x,ou=abroad,dc=example,dc=org'))));
    expect(referred).toMatchObject({ kind: 'protocol', message: expect.stringContaining('refers to another server') });
    expect(await collect(directory.pages(people(server.peopleDn)))).toHaveLength(1);
  });

  describe('encrypted', () => {
    const ways = ['ldaps', 'StartTLS'] as const;
    const encrypted = (way: (typeof ways)[number], server: TestSlapd, change: Partial<LdapServer> = {}): LdapServer =>
      way === 'ldaps'
        ? asAdmin(server, { url: server.ldapsUrl, ...change })
        : asAdmin(server, { startTls: true, ...change });

    it.each(ways)('reads over %s with the right authority', async (way) => {
      const directory = await open(encrypted(way, slapd, { caCertificatePem: slapd.caCertificatePem }));
      expect(await collect(directory.pages(people(slapd.baseDn)))).toHaveLength(2_601);
    });

    it.each(ways)('refuses an unknown authority over %s', async (way) => {
      for (const caCertificatePem of [null, otherCaCertificatePem]) {
        const failure = await failureOf(openDirectory(encrypted(way, slapd, { caCertificatePem })));
        expect(failure).toMatchObject({ kind: 'certificate', message: expect.stringContaining('authority') });
      }
    });

    it.each(ways)('accepts any certificate over %s if configured', async (way) => {
      await open(encrypted(way, slapd, { skipTlsVerify: true }));
    });

    it.each([
      ['elsewhere', 'another name'],
      ['expired', 'has expired'],
      ['self-signed', 'self-signed'],
    ] as const)('reports what is wrong with a certificate: %s', async (certificate, words) => {
      const server = await start({ certificate });
      for (const way of ways) {
        const { caCertificatePem } = slapd;
        const failure = await failureOf(openDirectory(encrypted(way, server, { caCertificatePem })));
        expect(failure).toMatchObject({ kind: 'certificate', message: expect.stringContaining(words) });
      }
    });

    it('reports an unreadable CA certificate', async () => {
      for (const caCertificatePem of [
        'no certificate',
        '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      ]) {
        for (const way of ways) {
          const failure = await failureOf(openDirectory(encrypted(way, slapd, { caCertificatePem })));
          expect(failure.kind).toBe('certificate');
        }
      }
    });

    it('reports a server that does not encrypt', async () => {
      const plainPort = slapd.url.replace('ldap:', 'ldaps:');
      const failure = await failureOf(openDirectory(asAdmin(slapd, { url: plainPort })));
      expect(failure.message).toMatch(/encryption|broke off/);
      const tlsPort = slapd.ldapsUrl.replace('ldaps:', 'ldap:');
      expect(['unreachable', 'protocol']).toContain((await failureOf(openDirectory(anonymous(tlsPort)))).kind);
    });

    it('reports a server that requires encryption', async () => {
      const server = await start({ configuration: 'security simple_bind=128' });
      const failure = await failureOf(openDirectory(asAdmin(server)));
      expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('encrypted connection') });
    });
  });

  describe('behind a connection that fails', () => {
    const faulty = async (fault: LdapFault): Promise<{ directory: Directory; gate: LdapGate }> => {
      const gate = await gateTo(slapd.url);
      const isSilent = fault.kind === 'stall' || fault.kind === 'half-message';
      const directory = await open(anonymous(gate.url), isSilent ? { operationTimeoutMs: 2_000 } : {});
      gate.setFault(fault);
      return { directory, gate };
    };

    it.each<[LdapFault, string, string]>([
      [{ kind: 'result', page: 3, code: 1 }, 'protocol', 'result code 1'],
      [{ kind: 'result', page: 3, code: 80 }, 'protocol', 'result code 80'],
      [{ kind: 'result', page: 2, code: 4 }, 'protocol', 'size limit'],
      [{ kind: 'result', page: 2, code: 11 }, 'protocol', 'size limit'],
      [{ kind: 'result', page: 1, code: 10, referrals: ['ldap://x/'] }, 'protocol', 'refers to another server'],
      [{ kind: 'result', page: 1, code: 50 }, 'credentials', 'read'],
      [{ kind: 'result', page: 2, code: 51 }, 'unreachable', 'busy'],
      [{ kind: 'result', page: 2, code: 3 }, 'timeout', 'time limit'],
      [{ kind: 'reset', page: 2 }, 'unreachable', 'broke off the connection'],
      [{ kind: 'stall', page: 2 }, 'timeout', 'within 2 seconds'],
      [{ kind: 'half-message', page: 1 }, 'timeout', 'within 2 seconds'],
      [{ kind: 'same-page' }, 'protocol', 'without end'],
      [{ kind: 'empty-pages' }, 'protocol', 'without end'],
    ])('fails on %j', async (fault, kind, words) => {
      const { directory, gate } = await faulty(fault);
      const failure = await failureOf(collect(directory.pages(people(slapd.baseDn))));
      expect(failure.kind).toBe(kind);
      expect(failure.message).toContain(words);
      expect(failure.message).toContain(new URL(gate.url).host);
    });

    it('returns no entries, without a failure, if the server returns none', async () => {
      const { directory } = await faulty({ kind: 'empty' });
      expect(await collect(directory.pages(people(slapd.baseDn)))).toEqual([]);
    });

    it('never reconnects', async () => {
      const { directory, gate } = await faulty({ kind: 'reset', page: 1 });
      const first = await failureOf(collect(directory.pages(people(slapd.baseDn))));
      gate.setFault(null);
      expect(await failureOf(collect(directory.pages(people(slapd.baseDn))))).toBe(first);
      expect(await failureOf(directory.read(slapd.baseDn, []))).toBe(first);
      expect(gate.connectionCount()).toBe(1);
    });

    it('ends at once with the reason of an aborted signal', async () => {
      const gate = await gateTo(slapd.url);
      const controller = new AbortController();
      const directory = await open(anonymous(gate.url), { signal: controller.signal });
      gate.setFault({ kind: 'stall', page: 2 });
      const reading = collect(directory.pages(people(slapd.baseDn)));
      await vi.waitFor(() => expect(gate.pageCount()).toBe(2), { timeout: 20_000 });
      controller.abort(new Error('the run was cancelled'));
      await expect(reading).rejects.toThrow('the run was cancelled');
      await expect(directory.read(slapd.baseDn, [])).rejects.toThrow('the run was cancelled');
      await expect(openDirectory(anonymous(gate.url), { signal: controller.signal })).rejects.toThrow('cancelled');
    });
  });
});

describe('with Active Directory', () => {
  it('reads all users of a domain despite references to its own partitions', async () => {
    const server = await activeDirectory({ objects: Array.from({ length: 1_700 }, (_, n) => adUser(`user${n}`)) });
    const directory = await open(asAdmin(server));
    expect(directory.serverType).toBe('active-directory');
    expect(await collect(directory.pages(users(server.baseDn)))).toHaveLength(1_701);
  });

  it('continues after an empty page', async () => {
    const objects = Array.from({ length: 25 }, (_, n) => adUser(`user${n}`));
    const server = await activeDirectory({ objects, sendsEmptyPages: true });
    const directory = await open(asAdmin(server));
    expect(await collect(directory.pages({ ...users(server.baseDn), pageSize: 10 }))).toHaveLength(26);
  });

  it('fails if a child domain is on another server', async () => {
    const server = await activeDirectory({ references: ['ldap://sales.corp.example/DC=sales,DC=corp,DC=example'] });
    const directory = await open(asAdmin(server));
    const failure = await failureOf(collect(directory.pages(users(server.baseDn))));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('child domain') });
    expect(failure.message).not.toContain('sales');
    expect(await collect(directory.pages(users(`CN=Users,${server.baseDn}`)))).toHaveLength(1);
  });

  it.each([1, 1_499, 1_500, 1_501, 3_000, 4_321])('fetches all %i members of a group', async (count) => {
    const objects = Array.from({ length: count }, (_, n) => adUser(`user${n}`));
    const server = await activeDirectory({
      objects: [
        ...objects,
        adGroup(
          'all',
          objects.map(({ dn }) => dn),
        ),
      ],
    });
    const directory = await open(asAdmin(server));
    const all = await directory.read(`CN=all,CN=Users,${server.baseDn}`, ['member', 'cn']);
    const portions: number[] = [];
    const members = new Set<string>();
    for await (const portion of directory.allValues(all as never, 'Member')) {
      portions.push(portion.length);
      for (const dn of portion) members.add(dn);
    }
    expect(members.size).toBe(count);
    expect(Math.max(...portions)).toBeLessThanOrEqual(500);
    expect(portions.reduce((sum, length) => sum + length)).toBe(count);
  });

  it('fails if a group disappears before the rest of its members is fetched', async () => {
    const objects = Array.from({ length: 2_000 }, (_, n) => adUser(`user${n}`));
    const server = await activeDirectory({
      objects: [
        ...objects,
        adGroup(
          'all',
          objects.map(({ dn }) => dn),
        ),
      ],
    });
    const directory = await open(asAdmin(server));
    const dn = `CN=all,CN=Users,${server.baseDn}`;
    const all = await directory.read(dn, ['member']);
    const portions = directory.allValues(all as never, 'member');
    for (let read = 0; read < 1_500; read += 500) expect((await portions.next()).value).toHaveLength(500);
    server.delete(dn);
    const failure = await failureOf(portions.next());
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('changed') });
  });

  it('finds a moved object by its binary id', async () => {
    const server = await activeDirectory({
      objects: [adUser('anna'), adGroup('team', ['CN=anna,CN=Users,DC=corp,DC=example'])],
    });
    const directory = await open(asAdmin(server));
    const guid = server.objectGuid('CN=anna,CN=Users,DC=corp,DC=example');
    server.rename('CN=anna,CN=Users,DC=corp,DC=example', String.raw`CN=Müller\, Anna,DC=corp,DC=example`);
    const filter = `(objectGUID=${escapeFilterBytes(guid)})`;
    const attributes = ['objectGUID', 'memberOf', 'objectSid'];
    const [found] = await collect(directory.pages({ base: server.baseDn, scope: 'sub', filter, attributes }));
    expect(found?.dn).toBe(String.raw`CN=Müller\, Anna,DC=corp,DC=example`);
    expect(found?.firstBytes('objectguid')).toEqual(guid);
    expect(found?.values('memberOf')).toEqual(['CN=team,CN=Users,DC=corp,DC=example']);
    expect(found?.firstBytes('objectSid')).toHaveLength(28);
  });

  it('reports that it requires a bind DN, or why it refuses the given one', async () => {
    const server = await activeDirectory({ objects: [adUser('reader', { userAccountControl: '514' })] });
    const directory = await open(anonymous(server.url));
    const silent = await failureOf(collect(directory.pages(users(server.baseDn))));
    expect(silent).toMatchObject({ kind: 'credentials', message: expect.stringContaining('enter a bind DN') });
    const bindDn = 'CN=reader,CN=Users,DC=corp,DC=example';
    const disabled = await failureOf(openDirectory(asAdmin(server, { bindDn, bindPassword: new Secret('secret') })));
    expect(disabled).toMatchObject({ kind: 'credentials', message: expect.stringContaining('disabled') });
    const wrong = await failureOf(openDirectory(asAdmin(server, { bindDn, bindPassword: new Secret('wrong') })));
    expect(wrong).toMatchObject({ kind: 'credentials', message: expect.stringContaining('did not accept') });
    expect(wrong.message).not.toMatch(/reader|wrong|52e/);
  });

  it('reads over StartTLS and ldaps, and reports a server without StartTLS', async () => {
    const server = await activeDirectory();
    const { caCertificatePem } = server;
    for (const change of [{ startTls: true }, { url: server.ldapsUrl }]) {
      const directory = await open(asAdmin(server, { caCertificatePem, ...change }));
      expect(await collect(directory.pages(users(server.baseDn)))).toHaveLength(1);
    }
    const without = await activeDirectory({ offersStartTls: false });
    const failure = await failureOf(openDirectory(asAdmin(without, { startTls: true, caCertificatePem })));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('does not offer StartTLS') });
    expect(without.binds).toEqual([]);
  });

  it('closes every connection, also after failures', async () => {
    const server = await activeDirectory();
    const { caCertificatePem } = server;
    for (const change of [{}, { startTls: true, caCertificatePem }, { url: server.ldapsUrl, caCertificatePem }]) {
      const directory = await openDirectory(asAdmin(server, change));
      await directory.pages(users(server.baseDn)).next();
      await directory[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
      await expect(directory.read(server.baseDn, [])).rejects.toThrow('closed');
    }
    await failureOf(openDirectory(asAdmin(server, { bindPassword: new Secret('wrong') })));
    await failureOf(openDirectory(asAdmin(server, { startTls: true })));
    await failureOf(openDirectory(asAdmin(server, { url: server.ldapsUrl })));
    await vi.waitFor(() => expect(server.openConnections()).toBe(0), { timeout: 20_000 });
  });
});

describe('with other servers', () => {
  it('reports a closed port and an unknown host', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const refused = await failureOf(openDirectory(anonymous(`ldap://127.0.0.1:${port}`)));
    expect(refused.kind).toBe('unreachable');
    expect(refused.message).toContain('accepts no connections');
    const unknown = await failureOf(openDirectory(anonymous('ldap://ldap.invalid')));
    expect(unknown).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('ldap.invalid:389') });
  });

  it.each([
    ['ldap', false],
    ['ldap', true],
    ['ldaps', false],
  ])('gives up on a silent server (%s, StartTLS %s)', async (scheme, startTls) => {
    const url = (await rawServer(() => undefined)).replace('ldap', scheme);
    const limits = { connectTimeoutMs: 300, operationTimeoutMs: 300 };
    const failure = await failureOf(openDirectory(anonymous(url, { startTls }), limits));
    expect(failure.kind).toBe('timeout');
  });

  it('gives up on a server that stalls in the middle of the TLS handshake', async () => {
    // The answer to StartTLS with message id 1, then silence
    const url = await rawServer((socket) =>
      socket.once('data', () => socket.write(Buffer.from('300c02010178070a010004000400', 'hex'))),
    );
    const failure = await failureOf(openDirectory(anonymous(url, { startTls: true }), { connectTimeoutMs: 300 }));
    expect(failure.kind).toBe('timeout');
  });

  it('never takes unencrypted data for encrypted', async () => {
    const injected = Buffer.concat([
      Buffer.from('300c02010178070a010004000400', 'hex'),
      bindResponse(2, { code: 0 }).subarray(0, 5),
    ]);
    const url = await rawServer((socket) => socket.once('data', () => socket.write(injected)));
    const failure = await failureOf(openDirectory(anonymous(url, { startTls: true })));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('unencrypted') });
  });

  it.each([
    ['a mail server', Buffer.from('220 mail.example.org ESMTP ready\r\n')],
    ['a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['noise', Buffer.from([0x30, 0x80, 0xff, 0, 1])],
    ['an answer without a result', Buffer.from('30050201016100', 'hex')],
  ])('reports that %s is not a directory server', async (_, greeting) => {
    const url = await rawServer((socket) => socket.once('data', () => socket.write(greeting)));
    const failure = await failureOf(openDirectory(anonymous(url)));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('not LDAP') });
  });

  it('reports that the server closed the connection', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.destroy()));
    expect((await failureOf(openDirectory(anonymous(url)))).kind).toBe('unreachable');
    const notice = Buffer.from('300c02010078070a013404000400', 'hex');
    const polite = await rawServer((socket) => socket.once('data', () => socket.write(notice)));
    expect((await failureOf(openDirectory(anonymous(polite)))).message).toContain('ended the connection');
  });

  it('rejects an entry larger than 12 MiB', async () => {
    const url = await scriptedServer((id) => searchEntry(id, 'cn=a', [['photo', [Buffer.alloc(12 * 1024 * 1024)]]]));
    const directory = await open(anonymous(url));
    const failure = await failureOf(collect(directory.pages(people('dc=example'))));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('larger entry') });
  });

  it.each([
    ['large', 60, 1024 * 1024],
    ['countless small', 140_000, 1],
  ])('rejects a page of more than 50 MB of %s entries', async (_, count, size) => {
    const url = await scriptedServer((id) => {
      const entry = searchEntry(id, 'cn=a', [['photo', [Buffer.alloc(size)]]]);
      return Buffer.concat(Array<Buffer>(count).fill(entry));
    });
    const directory = await open(anonymous(url));
    const failure = await failureOf(collect(directory.pages(people('dc=example'))));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('one page') });
  });

  it('counts unrequested messages, too, because the requested entries keep the same buffer alive', async () => {
    const url = await scriptedServer((id) => {
      const entry = searchEntry(id, 'cn=a', [['cn', [Buffer.from('a')]]]);
      const other = searchEntry(999_999, 'cn=b', [['photo', [Buffer.alloc(60_000)]]]);
      return Buffer.concat(Array.from({ length: 200 }, () => [entry, other]).flat());
    });
    const directory = await open(anonymous(url), { maxAnswerBytes: 4 * 1024 * 1024, operationTimeoutMs: 5_000 });
    const failure = await failureOf(collect(directory.pages(people('dc=example'))));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('one page') });
  });

  it('treats a reference with a million addresses as one place', async () => {
    const addresses = Buffer.alloc(2_000_000, Buffer.from([0x04, 0]));
    const head = (tag: number, length: number) => {
      const bytes = Buffer.from([tag, 0x83, 0, 0, 0]);
      bytes.writeUIntBE(length, 2, 3);
      return bytes;
    };
    const url = await scriptedServer((id) => {
      const reference = Buffer.concat([head(0x73, addresses.length), addresses]);
      return Buffer.concat([
        head(0x30, reference.length + 3),
        Buffer.from([0x02, 1, id]),
        reference,
        searchDone(id, { code: 0 }),
      ]);
    });
    const directory = await open(anonymous(url));
    const failure = await failureOf(collect(directory.pages(people('dc=example'))));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('another server') });
  });

  it('reads a page of entries full of names with the memory for one entry', async () => {
    const attributes = Array.from({ length: 1_000 }, (): [string, Buffer[]] => ['', []]);
    const url = await scriptedServer((id) =>
      Buffer.concat([...Array<Buffer>(2_000).fill(searchEntry(id, '', attributes)), searchDone(id, { code: 0 })]),
    );
    const directory = await open(anonymous(url));
    const [page] = await Array.fromAsync(directory.pages(people('dc=example')));
    const before = heldBytes();
    for (const entry of page ?? []) entry.values('cn');
    // The offsets of all of them would take at least 32 MB.
    expect(heldBytes() - before).toBeLessThan(16 * 1024 * 1024);
    expect(page).toHaveLength(2_000);
  });

  it('reports the memory it holds, including incomplete messages, and the memory it gives back', async () => {
    const photo = Buffer.alloc(1024 * 1024);
    let searches = 0;
    const url = await scriptedServer((id) => {
      searches += 1;
      const more = { code: 0, cookie: Buffer.from(searches < 5 ? 'more' : '') };
      return Buffer.concat([searchEntry(id, `cn=${searches}`, [['photo', [photo]]]), searchDone(id, more)]);
    });
    let held = 0;
    let peak = 0;
    const onHeld = (bytes: number) => {
      held += bytes;
      peak = Math.max(peak, held);
    };
    const directory = await open(anonymous(url), { onHeld });
    let pages = 0;
    for await (const page of directory.pages(people('dc=example'))) {
      pages += page.length;
      // The next page arrives while the test works on this one.
      if (pages < 5) await vi.waitFor(() => expect(held).toBeGreaterThan(2 * photo.length), 10_000);
    }
    expect(pages).toBe(5);
    expect(peak).toBeLessThan(4 * photo.length);
    expect(held).toBeLessThan(10_000);
  });

  it('ends with the error that onHeld throws', async () => {
    const url = await scriptedServer((id) =>
      searchEntry(id, 'cn=a', [['photo', [Buffer.alloc(1024 * 1024)]]]).subarray(0, 99),
    );
    const tooMuch = new Error('too much');
    const onHeld = (bytes: number) => {
      if (bytes > 1024 * 1024) throw tooMuch;
    };
    const directory = await open(anonymous(url), { onHeld });
    await expect(collect(directory.pages(people('dc=example')))).rejects.toBe(tooMuch);
  });

  it('does not wait for a message that exceeds the limit', async () => {
    const url = await scriptedServer((id) =>
      searchEntry(id, 'cn=a', [['photo', [Buffer.alloc(70_000)]]]).subarray(0, 99),
    );
    const directory = await open(anonymous(url), { maxAnswerBytes: 64 * 1024 });
    const failure = await failureOf(collect(directory.pages(people('dc=example'))));
    expect(failure).toMatchObject({ kind: 'protocol', message: expect.stringContaining('larger entry') });
  });

  it('refuses an invalid filter before sending anything', async () => {
    const url = await scriptedServer((id) => searchDone(id, { code: 0 }));
    const directory = await open(anonymous(url));
    await expect(collect(directory.pages({ ...people('dc=example'), filter: '(uid=a' }))).rejects.toThrow(SyntaxError);
  });

  it('allows one paged search at a time', async () => {
    const url = await scriptedServer((id) => searchDone(id, { code: 0, cookie: Buffer.from('more') }));
    const directory = await open(anonymous(url));
    const first = directory.pages(people('dc=example'));
    const reading = first.next();
    await expect(directory.pages(people('dc=example')).next()).rejects.toThrow('under way');
    await failureOf(reading);
  });
});
