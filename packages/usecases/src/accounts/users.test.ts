import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { signIn } from '../sign-in/sign-in.ts';
import { endUserSessions } from './sessions.ts';
import { adminResetPassword, operatorResetPassword } from './temporary-passwords.ts';
import { updateUser } from './update-user.ts';
import { createUser, deleteUser, getUser, listUsers, type NewUser } from './users.ts';

const { runtime, make, system, signedIn } = await testRuntime();

const admin = async (tenantId?: string): Promise<UserContext> =>
  signedIn(await make.user({ role: 'ADMIN', ...(tenantId && { tenantId }) }));
const superAdmin = async (): Promise<UserContext> => signedIn(await make.user({ role: 'SUPER_ADMIN' }));
const newUser = (overrides: Partial<NewUser> = {}): NewUser => ({
  username: `new-${newId()}`,
  role: 'USER',
  isActive: true,
  ...overrides,
});
const notFound = { kind: 'not_found', code: 'NOT_FOUND' };

describe('creating an account', () => {
  it('creates it in the caller’s tenant, with a forced change if a password is given', async () => {
    const ctx = await admin();
    const plain = await createUser(ctx, newUser({ email: 'plain@example.org' }));
    expect(plain).toMatchObject({
      tenantId: ctx.tenantId,
      role: 'USER',
      isActive: true,
      mustChangePassword: false,
      source: 'local',
      email: 'plain@example.org',
    });
    const withPassword = await createUser(ctx, newUser({ password: 'correct horse battery' }));
    expect(withPassword.mustChangePassword).toBe(true);
    expect(
      await createUser(ctx, newUser({ password: 'correct horse battery', mustChangePassword: false })),
    ).toMatchObject({ mustChangePassword: false });
    await expect(
      signIn(system({ ip: '203.0.113.1' }), { username: withPassword.username, password: 'correct horse battery' }),
    ).resolves.toBeDefined();
    await expect(
      signIn(system({ ip: '203.0.113.1' }), { username: plain.username, password: 'correct horse battery' }),
    ).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  });

  it('refuses input that policy, role or tenant do not allow', async () => {
    const ctx = await admin();
    const elsewhere = await make.tenant();
    await expect(createUser(ctx, newUser({ password: 'short' }))).rejects.toMatchObject({ code: 'PASSWORD_POLICY' });
    await expect(createUser(ctx, newUser({ role: 'SUPER_ADMIN' }))).rejects.toMatchObject({
      kind: 'forbidden',
      code: 'ROLE_NOT_ALLOWED',
    });
    await expect(createUser(ctx, newUser({ tenantId: elsewhere.id }))).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(createUser(ctx, newUser({ tenantId: newId() }))).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(createUser(await superAdmin(), newUser({ tenantId: newId() }))).rejects.toMatchObject(notFound);
    expect(
      await createUser(await superAdmin(), newUser({ tenantId: elsewhere.id, role: 'SUPER_ADMIN' })),
    ).toMatchObject({ tenantId: elsewhere.id });
  });

  it.each([
    [
      'username',
      'USERNAME_TAKEN',
      (n: number, id: string) => newUser({ username: `taken-${id}`, email: `${n}-${id}@example.org` }),
    ],
    ['e-mail', 'EMAIL_TAKEN', (_: number, id: string) => newUser({ email: `taken-${id}@example.org` })],
  ])('succeeds for one of fifty concurrent requests with the same %s, across tenants', async (_, code, input) => {
    const id = newId();
    const contexts = [await admin(), await admin()];
    const answers = await Promise.allSettled(
      Array.from({ length: 50 }, (__, n) => createUser(contexts[n % 2] as UserContext, input(n, id))),
    );
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1);
    const codes = new Set(
      answers.flatMap((answer) => (answer.status === 'rejected' ? [(answer.reason as { code: string }).code] : [])),
    );
    expect([...codes]).toEqual([code]);
  });
});

describe('an ADMIN', () => {
  it('neither sees nor changes another tenant’s accounts', async () => {
    const ctx = await admin();
    const theirs = await make.user();
    await expect(getUser(ctx, theirs.id)).rejects.toMatchObject(notFound);
    await expect(updateUser(ctx, theirs.id, { displayName: 'x' })).rejects.toMatchObject(notFound);
    await expect(deleteUser(ctx, theirs.id)).rejects.toMatchObject(notFound);
    await expect(adminResetPassword(ctx, theirs.id, undefined)).rejects.toMatchObject(notFound);
    await expect(endUserSessions(ctx, theirs.id)).rejects.toMatchObject(notFound);
    await expect(listUsers(ctx, { limit: 10, tenantId: theirs.tenantId })).rejects.toMatchObject({ kind: 'forbidden' });
    expect((await listUsers(ctx, { limit: 500 })).items.map(({ id }) => id)).toEqual([ctx.actor.id]);
  });

  it('sees a SUPER_ADMIN of their own tenant but cannot change them', async () => {
    const ctx = await admin();
    const boss = await make.user({ tenantId: ctx.tenantId, role: 'SUPER_ADMIN' });
    expect(await getUser(ctx, boss.id)).toMatchObject({ role: 'SUPER_ADMIN' });
    for (const attempt of [
      () => updateUser(ctx, boss.id, { displayName: 'x' }),
      () => updateUser(ctx, boss.id, { isActive: false }),
      () => deleteUser(ctx, boss.id),
      () => adminResetPassword(ctx, boss.id, undefined),
      () => endUserSessions(ctx, boss.id),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ kind: 'forbidden', code: 'FORBIDDEN' });
    }
  });

  it('cannot change their own role or activity', async () => {
    const ctx = await admin();
    await expect(updateUser(ctx, ctx.actor.id, { role: 'USER' })).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(updateUser(ctx, ctx.actor.id, { isActive: false })).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(deleteUser(ctx, ctx.actor.id)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(adminResetPassword(ctx, ctx.actor.id, undefined)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(updateUser(ctx, ctx.actor.id, { role: 'SUPER_ADMIN' })).rejects.toMatchObject({
      code: 'ROLE_NOT_ALLOWED',
    });
    expect(await updateUser(ctx, ctx.actor.id, { role: 'ADMIN', displayName: 'Me' })).toMatchObject({
      displayName: 'Me',
    });
  });
});

describe('changing an account', () => {
  it('changes the given fields and logs their names without values', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId });
    const changed = await updateUser(ctx, user.id, {
      role: 'ADMIN',
      displayName: 'Private Name',
      accentColor: '#112233',
    });
    expect(changed).toMatchObject({
      role: 'ADMIN',
      displayName: 'Private Name',
      accentColor: '#112233',
      username: user.username,
    });
    const entries = await ctx.read((db) => db.select().from(auditEntries).where(eq(auditEntries.targetId, user.id)));
    expect(entries).toHaveLength(1);
    expect(entries[0]?.summary).toMatch(/role, displayName, accentColor .*role USER to ADMIN/);
    expect(entries[0]?.summary).not.toContain('Private Name');
  });

  it('writes nothing when nothing changes', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId, displayName: 'Same' });
    const before = await getUser(ctx, user.id);
    expect(await updateUser(ctx, user.id, { displayName: 'Same', isActive: true })).toEqual(before);
    expect(await ctx.read((db) => db.select().from(auditEntries).where(eq(auditEntries.targetId, user.id)))).toEqual(
      [],
    );
  });

  it('refuses name and address of a directory account but changes role and activity', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId, ldapDn: 'uid=x,dc=example' });
    for (const change of [
      { username: 'other' },
      { email: 'other@example.org' },
      { displayName: 'x' },
      { firstName: 'x' },
      { lastName: 'x' },
    ]) {
      await expect(updateUser(ctx, user.id, change)).rejects.toMatchObject({
        kind: 'conflict',
        code: 'DIRECTORY_ACCOUNT',
      });
    }
    await expect(adminResetPassword(ctx, user.id, undefined)).rejects.toMatchObject({ code: 'DIRECTORY_ACCOUNT' });
    expect(await updateUser(ctx, user.id, { role: 'ADMIN', isActive: false })).toMatchObject({
      role: 'ADMIN',
      isActive: false,
      source: 'directory',
    });
  });

  it.each([
    [true, 'Changed isActive of the account'],
    [false, 'Left the account'],
  ])('no longer lets synchronizations reactivate an account if isActive is sent as %s', async (isActive, summary) => {
    const ctx = await admin();
    const user = await make.user({
      tenantId: ctx.tenantId,
      ldapDn: 'uid=x,dc=example',
      isActive: false,
      deactivatedBySync: true,
    });
    const activity = async () => {
      const [row] = await ctx.read((db) => db.select().from(users).where(eq(users.id, user.id)));
      return { isActive: row?.isActive, deactivatedBySync: row?.deactivatedBySync };
    };
    await updateUser(ctx, user.id, { accentColor: '#123456' });
    expect(await activity()).toEqual({ isActive: false, deactivatedBySync: true });
    for (let time = 0; time < 2; time += 1) {
      expect(await updateUser(ctx, user.id, { isActive })).toMatchObject({ isActive });
      expect(await activity()).toEqual({ isActive, deactivatedBySync: false });
    }
    const entries = await ctx.read((db) => db.select().from(auditEntries).where(eq(auditEntries.targetId, user.id)));
    expect(entries.slice(1).map((entry) => entry.summary)).toEqual([expect.stringContaining(summary)]);
  });

  it('names the field that another account already has', async () => {
    const ctx = await admin();
    const taken = await make.user();
    const user = await make.user({ tenantId: ctx.tenantId });
    await expect(updateUser(ctx, user.id, { username: taken.username })).rejects.toMatchObject({
      code: 'USERNAME_TAKEN',
    });
    await expect(updateUser(ctx, user.id, { email: taken.email })).rejects.toMatchObject({ code: 'EMAIL_TAKEN' });
    expect(await updateUser(ctx, user.id, { email: null })).toMatchObject({ email: null });
  });
});

describe('the last active SUPER_ADMIN', () => {
  // Each of these tests needs to know all existing SUPER_ADMINs.
  const retireAll = () =>
    runtime.database.acrossTenants('a test deactivates all accounts', (tx) =>
      tx.update(users).set({ isActive: false }).where(eq(users.role, 'SUPER_ADMIN')),
    );

  it('stays for every kind of change', async () => {
    await retireAll();
    const first = await superAdmin();
    const second = await superAdmin();
    await updateUser(first, second.actor.id, { isActive: false });
    // The second still has an old context and now tries to demote the first.
    for (const attempt of [
      () => updateUser(second, first.actor.id, { isActive: false }),
      () => updateUser(second, first.actor.id, { role: 'ADMIN' }),
      () => deleteUser(second, first.actor.id),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ kind: 'conflict', code: 'LAST_SUPER_ADMIN' });
    }
    await deleteUser(first, second.actor.id);
  });

  it('must belong to an active tenant', async () => {
    await retireAll();
    const [first, second] = [await superAdmin(), await superAdmin()];
    await make.user({ role: 'SUPER_ADMIN', tenantId: (await make.tenant({ isActive: false })).id });
    await updateUser(first, second.actor.id, { isActive: false });
    await expect(updateUser(second, first.actor.id, { isActive: false })).rejects.toMatchObject({
      code: 'LAST_SUPER_ADMIN',
    });
  });

  it('stays if several are demoted at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      await retireAll();
      const many = await Promise.all(Array.from({ length: 4 }, superAdmin));
      const attempts = many.map((ctx, n) => {
        const target = many[(n + 1) % many.length]?.actor.id ?? '';
        return n % 2 === 0 ? updateUser(ctx, target, { isActive: false }) : deleteUser(ctx, target);
      });
      const answers = await Promise.allSettled(attempts);
      expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(3);
      expect(answers.find((answer) => answer.status === 'rejected')).toMatchObject({
        reason: { code: 'LAST_SUPER_ADMIN' },
      });
    }
  });
});

describe('accounts of several tenants', () => {
  it('appear once each to a SUPER_ADMIN, with the name of their tenant', async () => {
    const ctx = await superAdmin();
    const mark = newId();
    for (const _ of [1, 2]) {
      const { id: tenantId, name } = await make.tenant();
      const { id } = await make.user({ tenantId, username: `${mark}-${tenantId}` });
      expect(await getUser(ctx, id)).toMatchObject({ id, tenantId, tenantName: name });
      expect(await updateUser(ctx, id, { displayName: 'Max' })).toMatchObject({ id, tenantId, tenantName: name });
      expect((await listUsers(ctx, { limit: 10, tenantId })).items).toMatchObject([{ id, tenantName: name }]);
    }
    expect((await listUsers(ctx, { limit: 10, search: mark })).items).toHaveLength(2);
  });
});

describe('a temporary password', () => {
  it('is generated and shown once, ends the sessions and must be changed', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId });
    const { temporaryPassword } = await adminResetPassword(ctx, user.id, undefined);
    expect(temporaryPassword).toMatch(/^\w{4}-\w{4}-\w{4}-\w{4}$/);
    const { profile } = await signIn(system({ ip: '203.0.113.2' }), {
      username: user.username,
      password: temporaryPassword ?? '',
    });
    expect(profile.mustChangePassword).toBe(true);
    await expect(signedIn(user)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('may be chosen by the administrator if the policy allows it', async () => {
    const ctx = await superAdmin();
    const user = await make.user();
    await expect(adminResetPassword(ctx, user.id, user.username)).rejects.toMatchObject({ code: 'PASSWORD_POLICY' });
    expect(await adminResetPassword(ctx, user.id, 'four candles and a fork')).toEqual({});
    await expect(
      signIn(system({ ip: '203.0.113.3' }), { username: user.username, password: 'four candles and a fork' }),
    ).resolves.toBeDefined();
  });

  it('can be set by an operator on the server’s console', async () => {
    const user = await make.user();
    const { temporaryPassword } = await operatorResetPassword(system({ ip: null }), user.username.toUpperCase());
    await expect(
      signIn(system({ ip: '203.0.113.4' }), { username: user.username, password: temporaryPassword }),
    ).resolves.toMatchObject({ profile: { mustChangePassword: true } });
    await expect(operatorResetPassword(system(), 'nobody-there')).rejects.toMatchObject(notFound);
    const imported = await make.user({ ldapDn: 'uid=x,dc=example', role: 'ADMIN' });
    await expect(operatorResetPassword(system(), imported.username)).rejects.toMatchObject(notFound);
  });
});

describe('the list of accounts', () => {
  it('filters, searches literally, and returns every account once across pages', async () => {
    const ctx = await admin();
    const names = Array.from({ length: 7 }, (_, n) => `list-${newId().slice(-6)}-${n}`);
    for (const [n, username] of names.entries()) {
      await make.user({
        tenantId: ctx.tenantId,
        username,
        role: n === 0 ? 'ADMIN' : 'USER',
        isActive: n !== 1,
        displayName: n === 2 ? 'Jürgen 100%_' : null,
        ...(n === 3 && { ldapDn: 'uid=y' }),
      });
    }
    const all: string[] = [];
    let after: string | undefined;
    do {
      const page = await listUsers(ctx, { limit: 3, after });
      expect(page.total).toBe(8);
      all.push(...page.items.map(({ username }) => username));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(all.toSorted()).toEqual([...names, ctx.actor.username].toSorted());
    expect(new Set(all).size).toBe(8);

    const found = async (filter: object) =>
      (await listUsers(ctx, { limit: 100, ...filter })).items.map(({ username }) => username);
    expect(await found({ search: 'JÜRGEN' })).toEqual([names[2]]);
    expect(await found({ search: '100%_' })).toEqual([names[2]]);
    expect(await found({ search: '%' })).toEqual([names[2]]);
    expect(await found({ isActive: false })).toEqual([names[1]]);
    expect(await found({ source: 'directory' })).toEqual([names[3]]);
    expect(await found({ role: 'ADMIN' })).toHaveLength(2);
  });

  it('returns the total on every page, including one beyond the last', async () => {
    const ctx = await admin();
    const { username } = await make.user({ tenantId: ctx.tenantId, username: `b-${newId()}`, isActive: false });
    const total = async (filter: object) => (await listUsers(ctx, { limit: 1, ...filter })).total;
    expect(await total({})).toBe(2);
    expect(await total({ isActive: false })).toBe(1);
    expect(await total({ isActive: false, after: username })).toBe(1);
    expect(await total({ search: 'nobody of this name' })).toBe(0);
    expect(await total({ search: 'nobody of this name', after: username })).toBe(0);
  });

  it('omits the total if there are too many accounts to count', async () => {
    const ctx = await admin();
    const add = (count: number) =>
      ctx.tx((tx) =>
        tx.execute(sql`insert into users (id, tenant_id, username)
          select gen_random_uuid(), ${ctx.tenantId}, gen_random_uuid()::text from generate_series(1, ${count}::int)`),
      );
    await add(9_999);
    expect((await listUsers(ctx, { limit: 1 })).total).toBe(10_000);
    await add(1);
    expect(await listUsers(ctx, { limit: 1, isActive: true })).not.toHaveProperty('total');
  });

  it('covers all tenants for a SUPER_ADMIN, or the one named', async () => {
    const ctx = await superAdmin();
    const theirs = await make.user();
    const search = theirs.username;
    expect((await listUsers(ctx, { limit: 10, search })).items).toMatchObject([{ id: theirs.id }]);
    expect((await listUsers(ctx, { limit: 10, search, tenantId: theirs.tenantId })).items).toMatchObject([
      { id: theirs.id },
    ]);
    expect((await listUsers(ctx, { limit: 10, search, tenantId: ctx.tenantId })).items).toEqual([]);
    await expect(listUsers(ctx, { limit: 10, tenantId: newId() })).rejects.toMatchObject(notFound);
  });
});
