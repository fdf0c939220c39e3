import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { LdapConfigInput } from '@portal/domain/directory/config';
import { testRuntime } from '@portal/testing/runtime';
import { adUser, fileTime, startActiveDirectory } from '@portal/testing/servers/active-directory';
import { person, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { openTcpGate, type TcpGate } from '@portal/testing/servers/tcp-gate';
import { caCertificatePem, otherCaCertificatePem } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { authenticate } from '../accounts/authenticate.ts';
import { passwordHashing } from '../accounts/password-hashing.ts';
import { openDirectoryBinds } from '../directory/directory-binds.ts';
import { putLdapConfig } from '../directory/ldap-config.ts';
import { signIn } from './sign-in.ts';

// A refusal takes as long as the slowest recent one, seconds on a slow machine, and some tests cause a dozen in a row.
vi.setConfig({ testTimeout: 240_000 });

const refused = { kind: 'unauthenticated', code: 'INVALID_CREDENTIALS', message: 'Username or password is wrong.' };
const password = 'directory secret';

/** Its own portal, because refusals in a portal take as long as its slowest directory. */
async function openPortal() {
  const { runtime, make, system, signedIn } = await testRuntime();
  let address = 0;
  return {
    runtime,
    make,
    /** A system with its own address, so that tests do not throttle one another. */
    visitor: () => system({ ip: `198.51.100.${(address += 1)}` }),
    signIns: async (outcome: string): Promise<number> => {
      const lines = (await runtime.metrics.render()).body.split('\n');
      const line = lines.find((one) => one.startsWith('portal_sign_ins_total') && one.includes(`"${outcome}"`));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
    failures: (tenantId: string): Promise<string[]> =>
      runtime.database.acrossTenants('a test reads the log', async (tx) =>
        (
          await tx
            .select({ summary: auditEntries.summary })
            .from(auditEntries)
            .where(and(eq(auditEntries.tenantId, tenantId), eq(auditEntries.action, 'auth.login_failed')))
        ).map(({ summary }) => summary),
      ),
    /** A tenant with its directory at this address, and a function that creates its accounts. */
    async tenantAt(serverUrl: string, settings: object = {}) {
      const admin = await make.user({ role: 'ADMIN' });
      const ctx = await signedIn(admin);
      await putLdapConfig(ctx, LdapConfigInput.parse({ serverUrl, baseDn: 'dc=example,dc=org', ...settings }));
      const account = (ldapDn: string, overrides: object = {}) =>
        make.user({ tenantId: admin.tenantId, ldapDn, ...overrides });
      return { ctx, tenantId: admin.tenantId, account };
    },
  };
}
const { runtime, make, visitor, failures, tenantAt } = await openPortal();
const withoutDirectory = await openPortal();

describe.skipIf(!serviceBinary('slapd'))('signing in with the password of the directory', () => {
  const anna = person('anna', { password });
  /** Exists only in the directory, not as an account. */
  const berta = person('berta', { password });
  const nasty = ['ö, ü & ß', 'a+b=c', '"quoted" <x>', ' leading and trailing ', '#hash;semi\\slash', 'Ελένη 🔑'].map(
    (uid) => person(uid, { password }),
  );
  let slapd: TestSlapd;
  let gate: TcpGate;
  beforeAll(async () => {
    // Like many directories, accepts a bind with a name and no password.
    slapd = await startSlapd({ entries: [anna, berta, ...nasty], configuration: 'allow bind_anon_cred' });
    gate = await openTcpGate(slapd.url);
  });
  afterAll(async () => {
    await gate.shut();
    await slapd.stop();
  });

  it('opens a session that authenticates and shows no DN', async () => {
    const { account } = await tenantAt(gate.url);
    const user = await account(anna.dn);
    const opened = await signIn(visitor(), { username: user.username.toUpperCase(), password });
    expect(opened.profile).toMatchObject({ id: user.id, isLocalUser: false, mustChangePassword: false });
    expect(opened.profile.lastLoginAt).toBeInstanceOf(Date);
    expect(JSON.stringify(opened.profile)).not.toContain('dc=example');
    expect((await authenticate(visitor(), opened.token)).actor.id).toBe(user.id);
  });

  it.each(['wrong', '*', 'directory secret ', `${password}\u0000`, '{SSHA}', 'DIRECTORY SECRET'])(
    'refuses the password "%s"',
    async (wrong) => {
      const { account, tenantId } = await tenantAt(gate.url);
      const user = await account(anna.dn);
      await expect(signIn(visitor(), { username: user.username, password: wrong })).rejects.toMatchObject(refused);
      expect(await failures(tenantId)).toEqual([`Sign-in as ${user.username} failed.`]);
    },
  );

  it('refuses an unknown DN like a wrong password', async () => {
    const { account } = await tenantAt(gate.url);
    const user = await account('uid=gone,ou=people,dc=example,dc=org');
    await expect(signIn(visitor(), { username: user.username, password })).rejects.toMatchObject(refused);
  });

  it.each(['', ' ', '\t', '\n \r\n', '\u00a0', '\u3000'])(
    'binds nothing for the blank password "%s"',
    async (blank) => {
      const { account } = await tenantAt(gate.url);
      const user = await account(anna.dn);
      const before = gate.connections();
      await expect(signIn(visitor(), { username: user.username, password: blank })).rejects.toMatchObject(refused);
      expect(gate.connections()).toBe(before);
    },
  );

  it('accepts DNs with any characters', async () => {
    const { account } = await tenantAt(gate.url);
    for (const { dn } of nasty) {
      const user = await account(dn);
      await expect(signIn(visitor(), { username: user.username, password })).resolves.toBeDefined();
      await expect(signIn(visitor(), { username: user.username, password: 'x' })).rejects.toMatchObject(refused);
    }
  });

  it('never asks the directory about an account with its own password', async () => {
    const { account } = await tenantAt(gate.url);
    const own = await passwordHashing(visitor()).hash('a password of its own');
    const user = await account(anna.dn, { passwordHash: own });
    const before = gate.connections();
    await expect(signIn(visitor(), { username: user.username, password })).rejects.toMatchObject(refused);
    await expect(
      signIn(visitor(), { username: user.username, password: 'a password of its own' }),
    ).resolves.toBeDefined();
    expect(gate.connections()).toBe(before);
  });

  it('asks no directory for an inactive account, an inactive tenant, an unknown username, or settings that are off or missing', async () => {
    const { account, tenantId } = await tenantAt(gate.url);
    const off = await tenantAt(gate.url, { isActive: false });
    const resting = await make.tenant({ isActive: false });
    const names = [
      (await account(anna.dn, { isActive: false })).username,
      (await account(anna.dn, { isActive: false, deactivatedBySync: true })).username,
      (await make.user({ tenantId: resting.id, ldapDn: anna.dn })).username,
      (await make.user({ ldapDn: anna.dn })).username,
      (await off.account(anna.dn)).username,
      (await make.user({ tenantId, ldapDn: null })).username,
      'nobody-has-this-name',
      'berta',
    ];
    const before = gate.connections();
    for (const username of names)
      await expect(signIn(visitor(), { username, password })).rejects.toMatchObject(refused);
    expect(gate.connections()).toBe(before);
  });

  it('finds no account by a username that is a filter, a DN or an SQL statement', async () => {
    const { account } = await tenantAt(gate.url);
    await account(anna.dn, { username: 'anna' });
    const before = gate.connections();
    for (const username of injections)
      await expect(signIn(visitor(), { username, password })).rejects.toMatchObject(refused);
    expect(gate.connections()).toBe(before);
    await expect(signIn(visitor(), { username: 'anna', password })).resolves.toBeDefined();
    await runtime.database.acrossTenants('a test frees a name', (tx) =>
      tx.delete(users).where(eq(users.username, 'anna')),
    );
  });

  it('lets only ten wrong guesses reach the directory, sequential or concurrent', async () => {
    for (const atOnce of [true, false]) {
      const { account } = await tenantAt(gate.url);
      const user = await account(anna.dn);
      const here = visitor();
      const before = gate.connections();
      const guess = (wrong: string) =>
        signIn(here, { username: user.username, password: wrong }).then(
          () => 'in',
          ({ code }: { code: string }) => code,
        );
      const codes: string[] = [];
      if (atOnce) codes.push(...(await Promise.all(Array.from({ length: 40 }, (_, n) => guess(`wrong ${n}`)))));
      else for (let n = 0; n < 12; n += 1) codes.push(await guess(`wrong ${n}`));
      expect(codes.filter((code) => code === 'INVALID_CREDENTIALS')).toHaveLength(10);
      expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(codes.length - 10);
      const bound = gate.connections() - before;
      // Concurrent guesses share one timeout: on a slow machine some of the ten may not bind before it ends.
      expect(bound).toSatisfy((count: number) => (atOnce ? count > 0 && count <= 10 : count === 10));
      expect(await guess(password)).toBe('RATE_LIMITED');
      expect(gate.connections()).toBe(before + bound);
      // The account is not locked: from another address the right password works.
      await expect(signIn(visitor(), { username: user.username, password })).resolves.toBeDefined();
    }
  });

  it('accepts many concurrent sign-ins with the right password', async () => {
    const { account } = await tenantAt(gate.url);
    const user = await account(anna.dn);
    const here = visitor();
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => signIn(here, { username: user.username, password })),
    );
    expect(new Set(opened.map(({ token }) => token)).size).toBe(5);
  });

  it('forgets failures after a success', async () => {
    const { account } = await tenantAt(gate.url);
    const user = await account(anna.dn);
    const here = visitor();
    for (let round = 0; round < 2; round += 1) {
      for (let failure = 0; failure < 9; failure += 1)
        await signIn(here, { username: user.username, password: 'wrong' }).catch(() => undefined);
      await expect(signIn(here, { username: user.username, password })).resolves.toBeDefined();
    }
  });

  it.each<[string, object]>([
    ['was switched off', { isActive: false }],
    ['was moved', { ldapDn: 'uid=somebody-else,ou=people,dc=example,dc=org' }],
    ['was given a password of its own', { passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$x$x' }],
  ])('refuses an account that %s during the directory check', async (_, change) => {
    const { account } = await tenantAt(gate.url);
    const user = await account(anna.dn);
    const before = gate.connections();
    gate.hold();
    const outcome = signIn(visitor(), { username: user.username, password }).catch((error: unknown) => error);
    await expect.poll(() => gate.connections(), { timeout: 20_000 }).toBe(before + 1);
    await runtime.database.acrossTenants('a test changes a row', (tx) =>
      tx.update(users).set(change).where(eq(users.id, user.id)),
    );
    gate.letGo();
    expect(await outcome).toMatchObject(refused);
  });

  it('asks the directory of the account’s own tenant, not another’s', async () => {
    const theirs = await startSlapd({ entries: [person('anna', { password: 'their secret' })] });
    try {
      const [ours, other] = [await tenantAt(gate.url), await tenantAt(theirs.url)];
      const [our, their] = [await ours.account(anna.dn), await other.account(anna.dn)];
      await expect(signIn(visitor(), { username: our.username, password })).resolves.toBeDefined();
      await expect(signIn(visitor(), { username: their.username, password: 'their secret' })).resolves.toBeDefined();
      await expect(signIn(visitor(), { username: our.username, password: 'their secret' })).rejects.toMatchObject(
        refused,
      );
      await expect(signIn(visitor(), { username: their.username, password })).rejects.toMatchObject(refused);
    } finally {
      await theirs.stop();
    }
  });

  it('uses StartTLS and ldaps with the tenant’s own authority, and refuses certificates of others', async () => {
    const local = (url: string) => url.replace('127.0.0.1', 'localhost');
    const ways = [{ serverUrl: local(slapd.url), startTls: true }, { serverUrl: local(slapd.ldapsUrl) }];
    for (const { serverUrl, ...settings } of ways) {
      for (const [trust, isFine] of [
        [{ caCertificatePem }, true],
        [{ skipTlsVerify: true }, true],
        [{ caCertificatePem: otherCaCertificatePem }, false],
        [{}, false],
      ] as const) {
        const { account, tenantId } = await tenantAt(serverUrl, { ...settings, ...trust });
        const user = await account(anna.dn);
        const outcome = signIn(visitor(), { username: user.username, password });
        if (isFine) await expect(outcome).resolves.toBeDefined();
        else await expect(outcome).rejects.toMatchObject(refused);
        expect(await failures(tenantId)).toEqual(
          isFine ? [] : [expect.stringMatching(/: The directory server .*certificate/)],
        );
      }
    }
  });

  it('does not delay other tenants while a directory hangs, and waits in turn within its own', async () => {
    const hanging = await openTcpGate(slapd.url);
    hanging.hold();
    const binds = openDirectoryBinds({ reach: 'private', allowHosts: [] }, { perKey: 3 });
    const host = { url: hanging.url, startTls: false, skipTlsVerify: false, caCertificatePem: null };
    const deadline = performance.now() + 60_000;
    let finished = 0;
    const stuck = Array.from({ length: 9 }, () =>
      binds.check('one', host, { dn: anna.dn, password }, deadline).finally(() => (finished += 1)),
    );
    const all = Promise.all(stuck);
    await expect.poll(() => hanging.connections(), { timeout: 20_000 }).toBe(3);
    await expect(binds.check('two', { ...host, url: slapd.url }, { dn: anna.dn, password }, deadline)).resolves.toBe(
      true,
    );
    expect(finished).toBe(0);
    expect(hanging.connections()).toBe(3);
    hanging.letGo();
    expect(await all).toEqual(stuck.map(() => true));
    await hanging.shut();
  });
});

describe('at an Active Directory', () => {
  it('accepts the right password unless the directory blocks the account', async () => {
    const anna = adUser("Änne O'Neil, Ökö+1", { password });
    const disabled = adUser('disabled', { password, userAccountControl: '514' });
    const expired = adUser('expired', { password, accountExpires: fileTime(new Date('2020-01-01')) });
    const directory = await startActiveDirectory({ objects: [anna, disabled, expired] });
    try {
      const { account, tenantId } = await tenantAt(directory.url, { baseDn: directory.baseDn });
      const user = await account(anna.dn);
      await expect(signIn(visitor(), { username: user.username, password })).resolves.toBeDefined();
      await expect(signIn(visitor(), { username: user.username, password: ' ' })).rejects.toMatchObject(refused);
      await expect(signIn(visitor(), { username: user.username, password: 'wrong' })).rejects.toMatchObject(refused);
      for (const { dn } of [disabled, expired]) {
        const { username } = await account(dn);
        await expect(signIn(visitor(), { username, password })).rejects.toMatchObject(refused);
      }
      expect(directory.binds).toHaveLength(4);
      expect(directory.binds.every(({ hadPassword }) => hadPassword)).toBe(true);
      for (const summary of await failures(tenantId)) expect(summary).toMatch(/ failed\.$/);
    } finally {
      await directory.stop();
    }
  });
});

describe('a directory that cannot be reached', () => {
  it('looks like a wrong password to the caller but appears in metrics and audit log', async () => {
    const gate = await openTcpGate('ldap://127.0.0.1:1');
    await gate.shut();
    const { account, tenantId } = await withoutDirectory.tenantAt(gate.url);
    const user = await account('uid=anna,ou=people,dc=example,dc=org');
    const before = await withoutDirectory.signIns('directory_unreachable');
    const here = withoutDirectory.visitor();
    for (let failure = 0; failure < 10; failure += 1)
      await expect(signIn(here, { username: user.username, password })).rejects.toMatchObject(refused);
    await expect(signIn(here, { username: user.username, password })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await withoutDirectory.signIns('directory_unreachable')).toBe(before + 10);
    const summaries = await withoutDirectory.failures(tenantId);
    expect(summaries).toHaveLength(10);
    for (const summary of summaries) {
      expect(summary).toMatch(/^Sign-in as .* failed: The directory server 127\.0\.0\.1:\d+ .*\.$/);
      expect(summary).not.toContain('dc=example');
      expect(summary).not.toContain(password);
    }
  });

  it('times out after some seconds if it stays silent, including the sign-ins that wait behind it', async () => {
    const gate = await openTcpGate('ldap://127.0.0.1:1');
    gate.hold();
    const { account, tenantId } = await withoutDirectory.tenantAt(gate.url);
    const user = await account('uid=anna,ou=people,dc=example,dc=org');
    const here = withoutDirectory.visitor();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 3 }, () => signIn(here, { username: user.username, password })),
    );
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: refused });
    for (const summary of await withoutDirectory.failures(tenantId)) expect(summary).toMatch(/did not answer/);
    gate.letGo();
    await gate.shut();
  });
});

/** Usernames of a hostile caller. */
const injections = [
  '*',
  'a*',
  '*nna',
  'an*a',
  'anna*',
  '*)(uid=*',
  '*)(uid=*))(|(uid=*',
  'anna)(|(password=*))',
  'anna)(&)',
  'anna))(|(objectClass=*',
  '*)(objectClass=*',
  '*))%00',
  'admin*)((|userPassword=*)',
  '*(|(mail=*))',
  '*(|(objectclass=*))',
  'x)(|(cn=*))',
  ')(cn=*',
  '(uid=anna)',
  '(&(uid=anna))',
  '(|(uid=anna)(uid=bert))',
  '!(uid=x)',
  '\\2a',
  'ann\\61',
  '\\61nna',
  'anna\\00',
  'anna\\',
  '\\',
  '\\\\',
  'uid=anna',
  'uid=anna,ou=people,dc=example,dc=org',
  'anna,ou=people',
  'anna,ou=people,dc=example,dc=org',
  'anna+cn=x',
  'cn=admin,dc=example,dc=org',
  'cn=config',
  '""',
  '#616e6e61',
  '#04046e6e6e61',
  'anna;x=y',
  '<anna>',
  'EXAMPLE\\anna',
  'anna@example.org',
  "anna' or '1'='1",
  "anna'--",
  "'; drop table users; --",
  'anna" or ""="',
  '%',
  '_nna',
  'ann_',
  'anna%',
  '${anna}',
  '{{anna}}',
  '$(anna)',
  '`anna`',
  'anna\u200b',
  'an\u00adna',
  '\uff41nna',
  'аnna',
  'anna\u0301',
  'anna\u202e',
  '../anna',
  'anna#',
];
