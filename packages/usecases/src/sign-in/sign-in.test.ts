import { hash } from '@node-rs/argon2';
import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { tenants } from '@portal/db/schema/tenants';
import type { SystemContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { authenticate } from '../accounts/authenticate.ts';
import { type PasswordHashing, passwordHashing } from '../accounts/password-hashing.ts';
import { changePassword } from '../accounts/passwords.ts';
import { sessionTokens } from '../accounts/session-token.ts';
import { endOwnSessions, endSession, listSessions, signOut } from '../accounts/sessions.ts';
import { signIn } from './sign-in.ts';

const { runtime, make, system, signedIn } = await testRuntime();
const password = 'correct horse battery';
let passwordHash: string;
beforeAll(async () => {
  passwordHash = await passwordHashing(runtime).hash(password);
});

let address = 0;
/** A system with its own address, so that tests do not throttle one another. */
const visitor = () => system({ ip: `198.51.100.${(address += 1)}` });
const invalidCredentials = {
  kind: 'unauthenticated',
  code: 'INVALID_CREDENTIALS',
  message: 'Username or password is wrong.',
};

/** The same system with a hook between the check of the password and the rest of the sign-in. */
function during(here: SystemContext, happens: () => Promise<unknown>): SystemContext {
  const hashing = passwordHashing(here);
  const watched: PasswordHashing = {
    ...hashing,
    async verify(stored, given) {
      const matches = await hashing.verify(stored, given);
      await happens();
      return matches;
    },
  };
  return { ...here, resources: new Map([...here.resources, [passwordHashing, watched]]) };
}

/** The traces that sign-ins of an account leave in its tenant. */
const written = ({ id, tenantId }: { id: string; tenantId: string }) =>
  runtime.database.inTenant(tenantId).tx(async (tx) => {
    const [user] = await tx.select({ lastLoginAt: users.lastLoginAt }).from(users).where(eq(users.id, id));
    const entries = await tx.select({ action: auditEntries.action }).from(auditEntries);
    return {
      sessions: await tx.select({ id: sessions.id }).from(sessions),
      entries: entries.map(({ action }) => action),
      lastLoginAt: user?.lastLoginAt,
    };
  });

describe('sign-in', () => {
  it('opens a session that authenticates, regardless of the case of the username', async () => {
    const user = await make.user({ passwordHash });
    const { profile, token } = await signIn(visitor(), { username: ` ${user.username.toUpperCase()} `, password });
    expect(profile).toMatchObject({
      id: user.id,
      username: user.username,
      isLocalUser: true,
      hasAvatar: false,
      dashboardBackground: { kind: 'none' },
    });
    expect(profile.lastLoginAt).toBeInstanceOf(Date);
    expect(profile).not.toHaveProperty('passwordHash');
    const ctx = await authenticate(system(), token);
    expect(ctx.actor).toMatchObject({ id: user.id, tenantId: user.tenantId, role: 'USER' });
  });

  it('answers the same for an unknown, inactive, password-less or directory account, a wrong password and an inactive tenant', async () => {
    const inactiveTenant = await make.tenant({ isActive: false });
    const attempts = [
      { username: 'nobody-has-this-name', password },
      { username: (await make.user({ passwordHash })).username, password: 'wrong' },
      { username: (await make.user({ passwordHash, isActive: false })).username, password },
      { username: (await make.user({})).username, password: 'no account has this password' },
      { username: (await make.user({ ldapDn: 'uid=x,dc=example' })).username, password },
      { username: (await make.user({ passwordHash, tenantId: inactiveTenant.id })).username, password },
    ];
    for (const attempt of attempts) await expect(signIn(visitor(), attempt)).rejects.toMatchObject(invalidCredentials);
  });

  it('refuses even the right password for a while after ten failures of one username from one address', async () => {
    const user = await make.user({ passwordHash });
    const here = visitor();
    for (let failure = 0; failure < 10; failure += 1) {
      await expect(signIn(here, { username: user.username, password: 'wrong' })).rejects.toMatchObject(
        invalidCredentials,
      );
    }
    await expect(signIn(here, { username: user.username, password })).rejects.toMatchObject({
      kind: 'busy',
      code: 'RATE_LIMITED',
    });
    const refusal = await signIn(here, { username: user.username, password }).catch(
      (error: { retryAfterSec: number }) => error,
    );
    expect(refusal).toMatchObject({
      retryAfterSec: expect.toSatisfy((seconds: number) => seconds > 800 && seconds <= 900),
    });
    // The account itself is not locked: sign-in works from another address, and from this one with another name.
    await expect(signIn(visitor(), { username: user.username, password })).resolves.toBeDefined();
    await expect(
      signIn(here, { username: (await make.user({ passwordHash })).username, password }),
    ).resolves.toBeDefined();
  });

  it('gives concurrent guesses no more answers than sequential ones', async () => {
    const user = await make.user({ passwordHash });
    const here = visitor();
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, () => signIn(here, { username: user.username, password: 'wrong' })),
    );
    const codes = answers.map((answer) =>
      answer.status === 'rejected' ? (answer.reason as { code: string }).code : 'in',
    );
    expect(codes.filter((code) => code === 'INVALID_CREDENTIALS')).toHaveLength(10);
    expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(30);
  });

  it('refuses an address after sixty failures with many names', async () => {
    const here = visitor();
    const answers = await Promise.allSettled(
      Array.from({ length: 61 }, (_, n) => signIn(here, { username: `nobody-${n}`, password })),
    );
    expect(
      answers.filter(
        (answer) => answer.status === 'rejected' && (answer.reason as { code: string }).code === 'RATE_LIMITED',
      ),
    ).toHaveLength(1);
    await expect(
      signIn(here, { username: (await make.user({ passwordHash })).username, password }),
    ).rejects.toMatchObject({ kind: 'busy' });
  });

  it('forgets failures of a username after a success', async () => {
    const user = await make.user({ passwordHash });
    const here = visitor();
    for (let round = 0; round < 3; round += 1) {
      for (let failure = 0; failure < 9; failure += 1)
        await signIn(here, { username: user.username, password: 'wrong' }).catch(() => undefined);
      await expect(signIn(here, { username: user.username, password })).resolves.toBeDefined();
    }
  });

  it.each([
    ['switched off', { isActive: false }],
    ['given another password', { passwordHash: 'another' }],
    ['taken over by a directory', { passwordHash: null, ldapDn: 'uid=x,dc=example' }],
  ])('opens no session for an account that was %s while its password was checked', async (_, set) => {
    const user = await make.user({ passwordHash });
    const here = during(visitor(), () =>
      runtime.database.inTenant(user.tenantId).tx((tx) => tx.update(users).set(set).where(eq(users.id, user.id))),
    );
    await expect(signIn(here, { username: user.username, password })).rejects.toMatchObject(invalidCredentials);
    expect(await written(user)).toEqual({ sessions: [], entries: [], lastLoginAt: null });
  });

  it('opens no session if failures reach the limit while the password is checked', async () => {
    const user = await make.user({ passwordHash });
    const visiting = visitor();
    // Within one process they run one after the other.
    const atAnotherProcess = { ...visiting, resources: new Map() };
    const here = during(visiting, async () => {
      for (let failure = 0; failure < 10; failure += 1)
        await signIn(atAnotherProcess, { username: user.username, password: 'wrong' }).catch(() => undefined);
    });
    await expect(signIn(here, { username: user.username, password })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterSec: expect.toSatisfy((seconds: number) => seconds > 800 && seconds <= 900),
    });
    const { sessions: open, entries, lastLoginAt } = await written(user);
    expect({ open, lastLoginAt }).toEqual({ open: [], lastLoginAt: null });
    expect(new Set(entries)).toEqual(new Set(['auth.login_failed']));
    await expect(signIn(visiting, { username: user.username, password })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    });
  });

  it('renews a hash whose parameters are outdated', async () => {
    const user = await make.user({
      passwordHash: await hash(password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 }),
    });
    await signIn(visitor(), { username: user.username, password });
    const [row] = await runtime.database
      .inTenant(user.tenantId)
      .read((db) => db.select({ hash: users.passwordHash }).from(users).where(eq(users.id, user.id)));
    expect(row?.hash).toContain('m=19456');
    await expect(signIn(visitor(), { username: user.username, password })).resolves.toBeDefined();
  });

  it('accepts concurrent sign-ins with an outdated hash, whichever renews it', async () => {
    const user = await make.user({
      passwordHash: await hash(password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 }),
    });
    const come = () => signIn(visitor(), { username: user.username, password });
    const signedIn = await Promise.all([come(), come(), come(), come()]);
    expect(new Set(signedIn.map(({ token }) => token)).size).toBe(4);
    expect((await written(user)).entries).toEqual(Array(4).fill('auth.login'));
  });

  it('records sign-ins and failures in the audit log of the tenant, and unknown names without a tenant', async () => {
    const user = await make.user({ passwordHash });
    const here = visitor();
    await signIn(here, { username: user.username, password });
    await signIn(here, { username: user.username, password: 'wrong-and-secret' }).catch(() => undefined);
    await signIn(here, { username: 'nobody-at-all', password }).catch(() => undefined);
    const entries = await runtime.database.acrossTenants('a test reads the log', (tx) =>
      tx
        .select()
        .from(auditEntries)
        .where(eq(auditEntries.ip, here.ip ?? '')),
    );
    expect(entries.map(({ action, tenantId, targetId }) => ({ action, tenantId, targetId }))).toEqual([
      { action: 'auth.login', tenantId: user.tenantId, targetId: user.id },
      { action: 'auth.login_failed', tenantId: user.tenantId, targetId: user.id },
      { action: 'auth.login_failed', tenantId: null, targetId: null },
    ]);
    expect(JSON.stringify(entries)).not.toContain('wrong-and-secret');
  });
});

describe('a session', () => {
  it.each([
    ['was revoked', (id: string) => ({ table: 'session' as const, id, set: { revokedAt: new Date() } })],
    [
      'has expired',
      (id: string) => ({ table: 'session' as const, id, set: { expiresAt: new Date(Date.now() - 1_000) } }),
    ],
    ['belongs to a deactivated account', () => ({ table: 'user' as const, set: { isActive: false } })],
    ['belongs to an account whose sessions were ended', () => ({ table: 'user' as const, set: { sessionVersion: 2 } })],
    ['belongs to an inactive tenant', () => ({ table: 'tenant' as const, set: { isActive: false } })],
  ])('is refused at the next request if it %s', async (_, change) => {
    const user = await make.user();
    const session = await make.session(user);
    const token = sessionTokens(system()).issue({ sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 });
    await expect(authenticate(system(), token)).resolves.toBeDefined();
    const { table, set } = change(session.id);
    await runtime.database.acrossTenants('a test changes a row', async (tx) => {
      if (table === 'session') await tx.update(sessions).set(set).where(eq(sessions.id, session.id));
      if (table === 'user') await tx.update(users).set(set).where(eq(users.id, user.id));
      if (table === 'tenant') await tx.update(tenants).set(set).where(eq(tenants.id, user.tenantId));
    });
    await expect(authenticate(system(), token)).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'UNAUTHENTICATED',
    });
  });

  it('is refused with another tenant, another account or a deleted account', async () => {
    const user = await make.user();
    const other = await make.user();
    const session = await make.session(user);
    const issue = sessionTokens(system()).issue;
    await expect(
      authenticate(system(), issue({ sub: user.id, tid: other.tenantId, sid: session.id, ver: 1 })),
    ).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(
      authenticate(system(), issue({ sub: other.id, tid: user.tenantId, sid: session.id, ver: 1 })),
    ).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await runtime.database.acrossTenants('a test deletes', (tx) => tx.delete(users).where(eq(users.id, user.id)));
    await expect(
      authenticate(system(), issue({ sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 })),
    ).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(authenticate(system(), undefined)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('reads the role and the forced change from the database, not from the token', async () => {
    const user = await make.user({ role: 'ADMIN' });
    const before = await signedIn(user);
    expect(before.actor.role).toBe('ADMIN');
    await runtime.database.acrossTenants('a test changes a row', (tx) =>
      tx.update(users).set({ role: 'USER', mustChangePassword: true }).where(eq(users.id, user.id)),
    );
    expect((await signedIn(user)).account).toMatchObject({ role: 'USER', mustChangePassword: true });
  });

  it('stores when it was last seen, at most once a minute', async () => {
    const user = await make.user();
    const old = new Date(Date.now() - 5 * 60_000);
    const session = await make.session(user, { lastSeenAt: old });
    const token = sessionTokens(system()).issue({ sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 });
    const lastSeen = async () => {
      const [row] = await runtime.database
        .inTenant(user.tenantId)
        .read((db) => db.select({ at: sessions.lastSeenAt }).from(sessions).where(eq(sessions.id, session.id)));
      return row?.at.getTime() ?? 0;
    };
    await authenticate(system(), token);
    await expect.poll(lastSeen).toBeGreaterThan(old.getTime());
    const touched = await lastSeen();
    await authenticate(system(), token);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await lastSeen()).toBe(touched);
  });

  it('can be listed and ended only by its owner', async () => {
    const user = await make.user();
    const here = await signedIn(user);
    const elsewhere = await signedIn(user);
    const stranger = await signedIn(await make.user({ tenantId: user.tenantId }));
    expect((await listSessions(here)).map(({ id, current }) => ({ id, current }))).toEqual([
      { id: elsewhere.sessionId, current: false },
      { id: here.sessionId, current: true },
    ]);
    await expect(endSession(stranger, here.sessionId)).rejects.toMatchObject({ kind: 'not_found' });
    await endSession(here, elsewhere.sessionId);
    await expect(endSession(here, elsewhere.sessionId)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await listSessions(here)).toHaveLength(1);
  });

  it('ends with signing out, which can be repeated', async () => {
    const user = await make.user({ passwordHash });
    const { token } = await signIn(visitor(), { username: user.username, password });
    await signOut(system(), token);
    await expect(authenticate(system(), token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await signOut(system(), token);
    await signOut(system(), undefined);
    await signOut(system(), 'rubbish');
  });

  it('ends with all others if the user signs out everywhere', async () => {
    const user = await make.user({ passwordHash });
    const tokens = [];
    for (let n = 0; n < 3; n += 1) tokens.push((await signIn(visitor(), { username: user.username, password })).token);
    await endOwnSessions(await authenticate(system(), tokens[0]));
    for (const token of tokens)
      await expect(authenticate(system(), token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(signIn(visitor(), { username: user.username, password })).resolves.toBeDefined();
  });
});

describe('changing one’s own password', () => {
  const newPassword = 'four candles and a fork';

  it('needs the current one, clears the forced change, ends every other session and continues with a new token', async () => {
    const user = await make.user({ passwordHash, mustChangePassword: true });
    const { token } = await signIn(visitor(), { username: user.username, password });
    const { token: other } = await signIn(visitor(), { username: user.username, password });
    const ctx = await authenticate(system(), token);
    await expect(changePassword(ctx, { currentPassword: 'wrong', newPassword })).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'CURRENT_PASSWORD_WRONG',
    });
    await expect(changePassword(ctx, { currentPassword: password, newPassword: 'short' })).rejects.toMatchObject({
      code: 'PASSWORD_POLICY',
    });
    await expect(changePassword(ctx, { currentPassword: password, newPassword: '1234567890' })).rejects.toMatchObject({
      code: 'PASSWORD_POLICY',
      message: expect.stringMatching(/common/),
    });
    const { token: fresh } = await changePassword(ctx, { currentPassword: password, newPassword });
    for (const old of [token, other])
      await expect(authenticate(system(), old)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await authenticate(system(), fresh)).account.mustChangePassword).toBe(false);
    await expect(signIn(visitor(), { username: user.username, password })).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    await expect(signIn(visitor(), { username: user.username, password: newPassword })).resolves.toBeDefined();
  });

  it('is refused for a while after five wrong ones', async () => {
    const ctx = await signedIn(await make.user({ passwordHash }));
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, () => changePassword(ctx, { currentPassword: 'wrong', newPassword })),
    );
    const codes = answers.map((answer) =>
      answer.status === 'rejected' ? (answer.reason as { code: string }).code : 'changed',
    );
    expect(codes.filter((code) => code === 'CURRENT_PASSWORD_WRONG')).toHaveLength(5);
    await expect(changePassword(ctx, { currentPassword: password, newPassword })).rejects.toMatchObject({
      kind: 'busy',
    });
  });

  it('is refused for directory accounts', async () => {
    const ctx = await signedIn(await make.user({ ldapDn: 'uid=x,dc=example' }));
    await expect(changePassword(ctx, { currentPassword: 'x', newPassword })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'DIRECTORY_ACCOUNT',
    });
  });

  it('succeeds once if several requests try it at the same time', async () => {
    const ctx = await signedIn(await make.user({ passwordHash }));
    const answers = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) =>
        changePassword(ctx, { currentPassword: password, newPassword: `${newPassword} ${n}` }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1);
  });
});
