import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { ldapConfigs } from '@portal/db/schema/directory';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { LdapConfigInput, LdapMappingInput } from '@portal/domain/directory/config';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { caCertificatePem, serverKeyPem } from '@portal/testing/servers/tls';
import { ReadableLdapConfigInput } from './ldap-config.ts';
import { deleteLdapConfig, getLdapConfig, putLdapConfig } from './ldap-config.ts';
import { addLdapMapping, deleteLdapMapping, listLdapMappings } from './ldap-mappings.ts';
import { ldapServerOf, storedLdapConfig } from './stored-ldap-config.ts';

const { make, signedIn } = await testRuntime();

const admin = async (): Promise<UserContext> => signedIn(await make.user({ role: 'ADMIN' }));
const settings = (overrides: object = {}) =>
  LdapConfigInput.parse({
    serverUrl: 'ldap://ldap.example.org',
    baseDn: 'dc=example,dc=org',
    bindDn: 'cn=portal,dc=example,dc=org',
    ...overrides,
  });
const stored = async (ctx: UserContext) => {
  const [row] = await ctx.read((db) => db.select().from(ldapConfigs));
  if (!row) throw new Error('nothing is stored');
  return row;
};
const summaries = async (ctx: UserContext, action: string): Promise<string[]> =>
  (await ctx.read((db) => db.select().from(auditEntries).where(eq(auditEntries.action, action)))).map(
    ({ summary }) => summary,
  );

describe('directory settings', () => {
  it('are nulls and empty lists while nothing is set, never a 404', async () => {
    expect(await getLdapConfig(await admin())).toEqual({
      serverUrl: null,
      startTls: null,
      baseDn: null,
      bindDn: null,
      bindPassword: null,
      userFilter: null,
      syncIntervalMin: null,
      isActive: null,
      includeDns: [],
      userExcludeList: [],
      skipTlsVerify: null,
      caCertificatePem: null,
    });
  });

  it('are replaced completely, except the password: blank, masked and missing keep it, null removes it', async () => {
    const ctx = await admin();
    const first = settings({
      bindPassword: 'first secret',
      userFilter: '(objectClass=inetOrgPerson)',
      includeDns: ['ou=People,dc=example,dc=org'],
      userExcludeList: ['scanner'],
    });
    const { bindPassword: _, ...shown } = first;
    expect(await putLdapConfig(ctx, first)).toEqual({ ...shown, bindPassword: '********' });
    const sealed = (await stored(ctx)).bindPassword;
    expect(sealed).toMatch(/^v1:test:/);
    for (const bindPassword of ['', '********', undefined]) {
      expect(await putLdapConfig(ctx, settings({ bindPassword }))).toMatchObject({
        bindPassword: '********',
        userFilter: null,
        includeDns: [],
        userExcludeList: [],
      });
      expect((await stored(ctx)).bindPassword).toBe(sealed);
    }
    await putLdapConfig(ctx, settings({ bindPassword: 'second secret' }));
    expect(ldapServerOf(ctx, await stored(ctx)).bindPassword?.reveal()).toBe('second secret');
    expect(await putLdapConfig(ctx, settings({ bindPassword: null }))).toMatchObject({ bindPassword: null });
    expect((await stored(ctx)).bindPassword).toBeNull();
  });

  it.each(['objectClass=person', '(objectClass=person', '(&)(', '(uid=*)(', '(cn=a\\z)', '()'])(
    'refuse the filter %s',
    async (userFilter) => {
      await expect(putLdapConfig(await admin(), settings({ userFilter }))).rejects.toMatchObject({
        kind: 'invalid',
        details: [{ path: 'userFilter' }],
      });
    },
  );

  it('refuse a key and invalid text as a certificate', () => {
    const none = '-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----';
    const problemsOf = (pem: string | null, overrides: object = {}) =>
      ReadableLdapConfigInput.safeParse({ ...settings(overrides), caCertificatePem: pem }).error?.issues.map(
        ({ path, message }) => `${path.join('.')} ${message}`,
      ) ?? [];
    const problem = 'caCertificatePem must be one or more certificates in PEM form and nothing else';
    for (const pem of [serverKeyPem, `${caCertificatePem}\n${serverKeyPem}`, none, `${caCertificatePem}\n${none}`, 'x'])
      expect(problemsOf(pem)).toEqual([problem]);
    for (const pem of [`${caCertificatePem}\n${caCertificatePem}`, caCertificatePem, ' ', null])
      expect(problemsOf(pem)).toEqual([]);
    const others = { serverUrl: 'ldaps://ldap.example.org', startTls: true };
    expect(
      ReadableLdapConfigInput.safeParse({ ...settings(), ...others, caCertificatePem: none }).error?.issues,
    ).toMatchObject([{ path: ['caCertificatePem'] }, { path: ['startTls'] }]);
  });

  it('plan the next synchronization while they are switched on, within the new interval', async () => {
    const ctx = await admin();
    const minutesAhead = async () => {
      const { nextSyncAt } = await stored(ctx);
      return nextSyncAt === null ? null : (nextSyncAt.getTime() - Date.now()) / 60_000;
    };
    await putLdapConfig(ctx, settings({ syncIntervalMin: 1_000 }));
    expect(await minutesAhead()).toSatisfy((ahead: number) => ahead > 900 && ahead < 1_001);
    await putLdapConfig(ctx, settings({ syncIntervalMin: 30 }));
    expect(await minutesAhead()).toSatisfy((ahead: number) => ahead > 10 && ahead < 31);
    await putLdapConfig(ctx, settings({ isActive: false }));
    expect(await minutesAhead()).toBeNull();
    await putLdapConfig(ctx, settings());
    expect(await minutesAhead()).not.toBeNull();
  });

  it('are deleted with their password, while the imported accounts stay', async () => {
    const ctx = await admin();
    const imported = await make.user({ tenantId: ctx.tenantId, ldapDn: 'uid=a,dc=example,dc=org' });
    await putLdapConfig(ctx, settings({ bindPassword: 'secret' }));
    await deleteLdapConfig(ctx);
    await deleteLdapConfig(ctx);
    expect(await getLdapConfig(ctx)).toMatchObject({ serverUrl: null, bindPassword: null });
    expect(await summaries(ctx, 'ldap_config.delete')).toHaveLength(1);
    const [left] = await ctx.read((db) => db.select().from(users).where(eq(users.id, imported.id)));
    expect(left).toMatchObject({ isActive: true, ldapDn: 'uid=a,dc=example,dc=org' });
  });

  it('record the new and the old server in the audit log, but never the password', async () => {
    const ctx = await admin();
    await putLdapConfig(ctx, settings({ bindPassword: 'very-secret' }));
    await putLdapConfig(
      ctx,
      settings({ serverUrl: 'ldaps://elsewhere.example.org', bindPassword: 'as-secret', isActive: false }),
    );
    const recorded = await summaries(ctx, 'ldap_config.update');
    expect(recorded).toEqual([
      'Changed the directory settings: server ldap://ldap.example.org, switched on.',
      'Changed the directory settings: server ldaps://elsewhere.example.org, before ldap://ldap.example.org, switched off.',
    ]);
  });

  it('cannot be opened in another tenant’s row, and say so plainly', async () => {
    const [ours, theirs] = [await admin(), await admin()];
    await putLdapConfig(theirs, settings({ bindPassword: 'their secret' }));
    await putLdapConfig(ours, settings({ bindPassword: 'our secret' }));
    const { bindPassword } = await stored(theirs);
    await ours.tx((tx) => tx.update(ldapConfigs).set({ bindPassword }));
    const row = await ours.read(storedLdapConfig);
    expect(() => row && ldapServerOf(ours, row)).toThrow(
      expect.objectContaining({
        kind: 'credentials',
        message: expect.stringMatching(/bind password can no longer be read\. Please enter it again\.$/),
      }),
    );
  });
});

const mapping = (ldapAttribute: string, field: string) => LdapMappingInput.parse({ ldapAttribute, field });
const pairs = async (ctx: UserContext) =>
  (await listLdapMappings(ctx)).map(({ ldapAttribute, field, isDefault }) => [ldapAttribute, field, isDefault]);
const defaults = [
  ['displayName', 'displayName', true],
  ['mail', 'email', true],
  ['sAMAccountName', 'username', true],
];

describe('mappings', () => {
  it('start with the defaults, created once under concurrent calls', async () => {
    const ctx = await admin();
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => listLdapMappings(ctx)),
      ...Array.from({ length: 8 }, () => putLdapConfig(ctx, settings()).then(() => listLdapMappings(ctx))),
    ]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await pairs(ctx)).toEqual(expect.arrayContaining(defaults));
    expect(answers[0]).toHaveLength(3);
  });

  it('list custom ones before the defaults, in the order they were added', async () => {
    const ctx = await admin();
    const added = await addLdapMapping(ctx, mapping('givenName', 'firstName'));
    expect(added).toMatchObject({ ldapAttribute: 'givenName', field: 'firstName', isDefault: false });
    await addLdapMapping(ctx, mapping('cn', 'displayName'));
    await addLdapMapping(ctx, mapping('cn', 'lastName'));
    expect((await pairs(ctx)).slice(0, 3)).toEqual([
      ['givenName', 'firstName', false],
      ['cn', 'displayName', false],
      ['cn', 'lastName', false],
    ]);
    expect((await pairs(ctx)).slice(3)).toEqual(expect.arrayContaining(defaults));
  });

  it('contain each pair of attribute and field once, including the defaults, regardless of case', async () => {
    const ctx = await admin();
    const taken = { kind: 'conflict', code: 'CONFLICT' };
    await expect(addLdapMapping(ctx, mapping('MAIL', 'email'))).rejects.toMatchObject(taken);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => addLdapMapping(ctx, mapping(n % 2 ? 'cn' : 'CN', 'displayName'))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(taken);
  });

  it('are limited to fifty, even if many are added at the same time', async () => {
    const ctx = await admin();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => addLdapMapping(ctx, mapping(`extensionAttribute${n}`, 'lastName'))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(47);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it('can be deleted, except the defaults and those of another tenant', async () => {
    const [ours, theirs] = [await admin(), await admin()];
    const added = await addLdapMapping(ours, mapping('cn', 'displayName'));
    await expect(deleteLdapMapping(theirs, added.id)).rejects.toMatchObject({ kind: 'not_found' });
    await deleteLdapMapping(ours, added.id);
    await expect(deleteLdapMapping(ours, added.id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(deleteLdapMapping(ours, newId())).rejects.toMatchObject({ kind: 'not_found' });
    for (const { id } of await listLdapMappings(ours))
      await expect(deleteLdapMapping(ours, id)).rejects.toMatchObject({ kind: 'conflict', code: 'CONFLICT' });
    expect(await pairs(ours)).toHaveLength(3);
    expect(await summaries(ours, 'ldap_mappings.create')).toEqual(['Added the directory mapping cn to displayName.']);
    expect(await summaries(ours, 'ldap_mappings.delete')).toEqual(['Deleted the directory mapping cn to displayName.']);
  });
});
