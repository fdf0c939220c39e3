import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { LdapConfigInput } from '@portal/domain/directory/config';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { adGroup, adUser, startActiveDirectory } from '@portal/testing/servers/active-directory';
import { group, person, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { openTcpGate } from '@portal/testing/servers/tcp-gate';
import { caCertificatePem } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { askDirectory } from './ask-directory.ts';
import { putLdapConfig } from './ldap-config.ts';
import { addLdapMapping } from './ldap-mappings.ts';
import { listLiveGroups } from './list-live-groups.ts';
import { previewSync } from './sync/preview-sync.ts';
import { testLdap } from './test-ldap.ts';

const { make, signedIn } = await testRuntime();
const admin = async (): Promise<UserContext> => signedIn(await make.user({ role: 'ADMIN' }));

const failed = { ok: false, serverType: null, userCount: 0, isCountComplete: false, sample: [] };
const sentence = expect.stringMatching(/^The directory server .*\.$/);

describe.skipIf(!serviceBinary('slapd'))('a directory', () => {
  const people = Array.from({ length: 1_203 }, (_, n) => person(`user${n}`, { password: 'x' }));
  let slapd: TestSlapd;
  let settings: (overrides?: object) => LdapConfigInput;
  beforeAll(async () => {
    slapd = await startSlapd({
      entries: [
        ...people,
        person('Ünal', { displayName: 'Ünal Öz', mail: 'uenal@example.org', givenName: 'Ünal' }),
        ...Array.from({ length: 230 }, (_, n) => group(`Team ${String(n).padStart(3, '0')}`, [people[0]?.dn ?? ''])),
        group('Buchhaltung (Köln)', [people[0]?.dn ?? '']),
        group('A+B, "C" \\ *', [people[0]?.dn ?? '']),
        { dn: 'ou=Werke Süd,dc=example,dc=org', attributes: { objectClass: 'organizationalUnit', ou: 'Werke Süd' } },
      ],
      sizeLimit: 500,
      // The administrator has no limit
      pagedSizeLimit: 1_000,
    });
    settings = (overrides) =>
      LdapConfigInput.parse({
        serverUrl: slapd.url,
        baseDn: slapd.baseDn,
        bindDn: slapd.adminDn,
        bindPassword: slapd.adminPassword,
        ...overrides,
      });
  });
  afterAll(() => slapd.stop());

  describe('a test of the settings', () => {
    it('counts all users and shows ten of them as accounts', async () => {
      const found = await testLdap(await admin(), settings());
      expect(found).toMatchObject({ ok: true, serverType: 'openldap', userCount: 1_204, isCountComplete: true });
      expect(found.sample).toHaveLength(10);
      expect(found.sample[0]).toEqual({
        username: expect.stringMatching(/^user\d+$/),
        displayName: expect.stringMatching(/^Person user\d+$/),
        mail: expect.stringMatching(/^user\d+@example\.org$/),
      });
      expect(found).not.toHaveProperty('error');
    });

    it('follows filter, base, mappings and an anonymous bind', async () => {
      const ctx = await admin();
      await addLdapMapping(ctx, { ldapAttribute: 'givenName', field: 'displayName' });
      expect(
        await testLdap(ctx, settings({ userFilter: '(uid=Ünal)', baseDn: slapd.peopleDn, bindDn: null })),
      ).toMatchObject({
        ok: true,
        userCount: 1,
        sample: [{ username: 'ünal', displayName: 'Ünal', mail: 'uenal@example.org' }],
      });
      expect(await testLdap(ctx, settings({ userFilter: '(uid=nobody)' }))).toMatchObject({
        ok: true,
        userCount: 0,
        sample: [],
      });
    });

    it('uses the saved password only if none is given', async () => {
      const ctx = await admin();
      await putLdapConfig(ctx, settings());
      const tries: [string | null | undefined, boolean][] = [
        ['', true],
        ['********', true],
        [undefined, true],
        ['wrong', false],
      ];
      for (const [bindPassword, ok] of tries)
        expect(await testLdap(ctx, settings({ bindPassword }))).toMatchObject({ ok });
      expect(await testLdap(await admin(), settings({ bindPassword: 'wrong' }))).toEqual({
        ...failed,
        error: { kind: 'credentials', message: sentence },
      });
    });

    it('records the tested server in the audit log, and sends the saved password to no other server', async () => {
      const ctx = await admin();
      await putLdapConfig(ctx, settings());
      const recorded = async () =>
        (await ctx.read((db) => db.select().from(auditEntries).where(eq(auditEntries.action, 'ldap.test')))).map(
          ({ summary }) => summary,
        );
      const elsewhere = 'ldap://127.0.0.1:1';
      await testLdap(ctx, settings({ bindPassword: '' }));
      await testLdap(ctx, settings({ serverUrl: elsewhere, bindPassword: 'another' }));
      await testLdap(ctx, settings({ serverUrl: elsewhere, bindPassword: null }));
      await expect(testLdap(ctx, settings({ serverUrl: elsewhere, bindPassword: '' }))).rejects.toMatchObject({
        code: 'SECRET_REQUIRED',
      });
      const tried = (server: string, which: string) => `Tried directory settings at the server ${server} ${which}.`;
      expect((await recorded()).toSorted()).toEqual(
        [
          tried(new URL(slapd.url).host, 'with the stored password'),
          tried('127.0.0.1:1', 'with a password that was entered'),
          tried('127.0.0.1:1', 'without a password'),
        ].toSorted(),
      );
    });

    it.each<[string, object]>([
      ['unreachable', { serverUrl: 'ldap://127.0.0.1:1' }],
      ['unreachable', { serverUrl: 'ldap://no-such-host.invalid' }],
      ['credentials', { bindPassword: 'wrong' }],
      ['credentials', { bindDn: 'cn=nobody,dc=example,dc=org' }],
      ['baseDn', { baseDn: 'ou=nowhere,dc=example,dc=org' }],
      ['certificate', { startTls: true }],
    ])('reports failures as %s', async (kind, overrides) => {
      const answer = await testLdap(await admin(), settings(overrides));
      expect(answer).toEqual({ ...failed, error: { kind, message: sentence } });
      expect(answer.error?.message).not.toMatch(/dc=|directory manager/);
    });

    it('reports a size limit instead of a smaller count', async () => {
      const answer = await testLdap(await admin(), settings({ bindDn: null, bindPassword: null }));
      expect(answer).toEqual({ ...failed, error: { kind: 'protocol', message: sentence } });
    });

    it('encrypts the connection if configured', async () => {
      const serverUrl = slapd.url.replace('127.0.0.1', 'localhost');
      expect(await testLdap(await admin(), settings({ serverUrl, startTls: true, caCertificatePem }))).toMatchObject({
        ok: true,
      });
    });

    it('treats injection attempts in the base DN and bind DN as plain names', async () => {
      const names = injections.flatMap((text) => [text, `cn=${text}`, `${text},dc=example,dc=org`]);
      const isName = (text: string) => LdapConfigInput.shape.baseDn.safeParse(text).success;
      const accepted = names.filter((text) => isName(text) && text !== slapd.peopleDn);
      expect(accepted.length).toBeGreaterThan(20);
      for (const dn of accepted) {
        const below = await testLdap(await admin(), settings({ baseDn: dn }));
        expect({ dn, ...below }).toMatchObject({ dn, userCount: 0 });
        const bound = await testLdap(await admin(), settings({ bindDn: dn, bindPassword: 'x' }));
        expect({ dn, ...bound }).toMatchObject({ dn, ok: false, error: { kind: 'credentials' } });
      }
    });

    it('refuses an invalid filter before connecting', async () => {
      const gate = await openTcpGate(slapd.url);
      await expect(
        testLdap(await admin(), settings({ serverUrl: gate.url, userFilter: 'uid=*' })),
      ).rejects.toMatchObject({
        kind: 'invalid',
      });
      expect(gate.connections()).toBe(0);
      await gate.shut();
    });
  });

  const configured = async (overrides?: object): Promise<UserContext> => {
    const ctx = await admin();
    await putLdapConfig(ctx, settings(overrides));
    return ctx;
  };

  it('treats an injection attempt in the exclude list as a plain name', async () => {
    const ctx = await configured({ userExcludeList: injections });
    expect((await previewSync(ctx)).counts).toMatchObject({ read: 1_204, created: 1_204, skipped: 0 });
    const one = await configured({ userExcludeList: [...injections, 'USER7'] });
    expect((await previewSync(one)).counts).toMatchObject({ read: 1_204, created: 1_203, skipped: 1 });
  });

  describe('live groups', () => {
    const names = async (ctx: UserContext, search?: string) =>
      (await listLiveGroups(ctx, { search })).map(({ name }) => name);

    it('are groups and units by name, at most two hundred', async () => {
      const found = await listLiveGroups(await configured(), {});
      expect(found).toHaveLength(200);
      expect(found.map(({ name }) => name)).toEqual(
        found.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'de')),
      );
      expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['group', 'ou']));
      expect(found.every(({ dn }) => dn.endsWith('dc=example,dc=org'))).toBe(true);
    });

    it('are found by any part of the name, even while the directory is switched off', async () => {
      const ctx = await configured({ isActive: false });
      expect(await listLiveGroups(ctx, { search: 'süd' })).toEqual([
        { dn: expect.stringMatching(/^ou=Werke/), name: 'Werke Süd', kind: 'ou' },
      ]);
      expect(await names(ctx, 'haltung (k')).toEqual(['Buchhaltung (Köln)']);
      expect(await names(ctx, '*')).toEqual(['A+B, "C" \\ *']);
      expect(await names(ctx, '\\')).toEqual(['A+B, "C" \\ *']);
      expect(await names(ctx, 'b, "c')).toEqual(['A+B, "C" \\ *']);
      expect(await names(ctx, 'team 22')).toHaveLength(10);
    });

    it('treat an injection attempt in the search as plain text', async () => {
      const ctx = await configured();
      for (const search of injections)
        expect({ search, names: await names(ctx, search) }).toEqual({ search, names: [] });
    });

    it('answer 502 with a plain reason if the directory fails, 409 if there is none', async () => {
      await expect(listLiveGroups(await admin(), {})).rejects.toMatchObject({
        kind: 'conflict',
        code: 'DIRECTORY_NOT_CONFIGURED',
      });
      const failure = await listLiveGroups(await configured({ bindPassword: 'wrong' }), {}).catch((error) => error);
      expect(failure).toMatchObject({ kind: 'upstream', code: 'DIRECTORY_UNAVAILABLE', message: sentence });
      expect(String(failure.message)).not.toMatch(/dc=|wrong/);
    });
  });
});

it('recognizes an Active Directory and does not count its computers as users', async () => {
  const computer = adUser('PC-7$', { objectClass: ['top', 'person', 'organizationalPerson', 'user', 'computer'] });
  const directory = await startActiveDirectory({ objects: [adUser('Anna'), computer, adGroup('Staff', [])] });
  try {
    const ctx = await admin();
    const input = LdapConfigInput.parse({
      serverUrl: directory.url,
      baseDn: directory.baseDn,
      bindDn: directory.adminDn,
      bindPassword: directory.adminPassword,
    });
    expect(await testLdap(ctx, input)).toEqual({
      ok: true,
      serverType: 'active-directory',
      userCount: 2,
      isCountComplete: true,
      sample: [
        { username: 'administrator', displayName: 'Person Administrator', mail: 'administrator@corp.example' },
        { username: 'anna', displayName: 'Person Anna', mail: 'anna@corp.example' },
      ],
    });
    await putLdapConfig(ctx, input);
    expect((await listLiveGroups(ctx, {})).map(({ name, kind }) => [name, kind])).toEqual([
      ['Domain Users', 'group'],
      ['Staff', 'group'],
      ['Users', 'ou'],
    ]);
  } finally {
    await directory.stop();
  }
});

it('stops waiting for a silent directory after some seconds', async () => {
  const gate = await openTcpGate('ldap://127.0.0.1:1');
  gate.hold();
  const anonymous = { bindDn: null, bindPassword: null };
  const policy = { reach: 'private' as const, allowHosts: [] };
  const server = { url: gate.url, startTls: false, skipTlsVerify: false, caCertificatePem: null, policy, ...anonymous };
  await expect(askDirectory({ tenantId: 'one' }, server, async () => 'found', 200)).rejects.toMatchObject({
    kind: 'timeout',
    message: sentence,
  });
  gate.letGo();
  await gate.shut();
});

/** Searches that would find too much, or something else, if the filter contained them unescaped. */
const injections = [
  '**',
  'Team*',
  '*Team',
  'T*m',
  'Team 0*',
  '*)(cn=*',
  '*)(ou=*',
  '*)(objectClass=*)',
  '*))(|(cn=*',
  '*)))(|(cn=*',
  ')(cn=*',
  ')(|(cn=*',
  'x)(|(cn=*)',
  'x)(cn=*)(cn=x',
  'x*)(objectClass=*)(cn=x',
  '*)(userPassword=*',
  '*)(uid=user0',
  '*)(!(cn=x))(cn=',
  '(cn=*)',
  '(&(objectClass=*))',
  '(|(cn=Team 000)(cn=Team 001))',
  '(!(cn=x))',
  '&(cn=*)',
  '|(cn=*)',
  '!(cn=x)',
  '\\2a',
  '\\54eam',
  'Te\\61m',
  '\\28',
  '\\29(cn=\\2a',
  '\\5c2a',
  '\\00',
  'Team\\00',
  'Team 000\\',
  'cn=Team 000',
  'cn=*',
  'ou=people',
  'cn:=Team 000',
  'cn~=Team',
  'cn>=A',
  'cn<=z',
  '1.2.840.113556.1.4.803:=2',
  'Team 000)(1.2.840.113556.1.4.1941:=x',
  'Team 000,ou=groups',
  'Team 000,ou=groups,dc=example,dc=org',
  '#546561',
  '<Team>',
  'Team;binary',
  "Team' or '1'='1",
  "'; drop table groups; --",
  'Team" or ""="',
  '%',
  'Te_m',
  'Team%',
  '${Team}',
  '{{Team}}',
  '$(Team)',
  '`Team`',
  '../Team',
  'Team?sub?(cn=*)',
  'Team//',
  '%2a',
  '&#42;',
];
