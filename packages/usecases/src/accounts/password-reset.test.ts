import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { passwordTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { queueMail } from '@portal/platform/outbox/queue-mail';
import { testRuntime } from '@portal/testing/runtime';
import { signIn } from '../sign-in/sign-in.ts';
import { issueLink } from './links.ts';
import { passwordResetMail } from './mails/password-reset.ts';
import { passwordHashing } from './password-hashing.ts';
import { requestReset, resetPassword } from './password-reset.ts';

const { runtime, make, system, signedIn } = await testRuntime();
const newPassword = 'four candles and a fork';
const newAddress = () => `${newId()}@example.org`;

/** A token like that in a rendered reset mail. */
async function tokenFor(
  user: { id: string; tenantId: string; email?: string | null | undefined },
  key: string = crypto.randomUUID(),
): Promise<string> {
  return runtime.database.inTenant(user.tenantId).tx(async (tx) => {
    const { mailId } = await queueMail(tx, passwordResetMail, {
      tenantId: user.tenantId,
      key,
      userId: user.id,
      data: {},
    });
    const email = user.email ?? '';
    return (await issueLink(tx, { tenantId: user.tenantId, userId: user.id, purpose: 'reset', email, mailId })).token;
  });
}

const queued = (tenantId: string) =>
  runtime.database.inTenant(tenantId).read((db) => db.select({ kind: mails.kind }).from(mails));

describe('a reset token', () => {
  it('works for exactly one of twenty concurrent uses', async () => {
    const user = await make.user({ mustChangePassword: true });
    const session = await signedIn(user);
    const token = await tokenFor(user);
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => resetPassword(system(), { token, newPassword: `${newPassword} ${n}` })),
    );
    const won = answers.findIndex(({ status }) => status === 'fulfilled');
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'TOKEN_INVALID' });
    const { profile } = await signIn(system({ ip: '203.0.113.30' }), {
      username: user.username,
      password: `${newPassword} ${won}`,
    });
    expect(profile.mustChangePassword).toBe(false);
    await expect(signedIn(user)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(session.actor.id).toBe(user.id);
  });

  it('stays valid if the policy refuses the password, and expires after seven days', async () => {
    const user = await make.user();
    const token = await tokenFor(user);
    await expect(resetPassword(system(), { token, newPassword: user.username })).rejects.toMatchObject({
      code: 'PASSWORD_POLICY',
    });
    await runtime.database
      .inTenant(user.tenantId)
      .tx((tx) => tx.update(passwordTokens).set({ expiresAt: sql`now() - interval '1 second'` }));
    await expect(resetPassword(system(), { token, newPassword })).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
    const [row] = await runtime.database
      .inTenant(user.tenantId)
      .read((db) => db.select().from(passwordTokens).where(eq(passwordTokens.userId, user.id)));
    expect(row?.tokenHash.toString('base64url')).not.toBe(token);
  });

  it('becomes invalid with a newer mail, but not with a retry of its own', async () => {
    const user = await make.user();
    const first = await tokenFor(user, 'one');
    const repeat = await tokenFor(user, 'one');
    await expect(resetPassword(system(), { token: first, newPassword })).resolves.toBeUndefined();
    await expect(resetPassword(system(), { token: repeat, newPassword })).rejects.toMatchObject({
      code: 'TOKEN_INVALID',
    });
    const old = await tokenFor(user, 'two');
    await tokenFor(user, 'three');
    await expect(resetPassword(system(), { token: old, newPassword })).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  it('does not work while the tenant is inactive, and none is sent', async () => {
    await make.tenant();
    const { id: tenantId } = await make.tenant({ isActive: false });
    const user = await make.user({ tenantId });
    await requestReset(system(), { identifier: user.username, language: 'en' });
    expect(await queued(tenantId)).toEqual([]);
    const token = await tokenFor(user);
    await expect(resetPassword(system(), { token, newPassword })).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  it('is invalid once the account has another address, even if issued during the change', async () => {
    const user = await make.user();
    const before = await tokenFor(user);
    await runtime.database.inTenant(user.tenantId).tx((tx) => tx.update(users).set({ email: newAddress() }));
    const meanwhile = await tokenFor(user);
    for (const token of [before, meanwhile])
      await expect(resetPassword(system(), { token, newPassword })).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  it('does not accept the password that must be changed', async () => {
    const passwordHash = await passwordHashing(system()).hash(newPassword);
    const user = await make.user({ passwordHash, mustChangePassword: true });
    const token = await tokenFor(user);
    await expect(resetPassword(system(), { token, newPassword })).rejects.toMatchObject({ code: 'PASSWORD_POLICY' });
    await expect(resetPassword(system(), { token, newPassword: `${newPassword}!` })).resolves.toBeUndefined();
  });

  it.each([{ isActive: false }, { ldapDn: 'uid=x,dc=example' }])(
    'is worthless for an account with %j',
    async (overrides) => {
      const user = await make.user(overrides);
      await expect(resetPassword(system(), { token: await tokenFor(user), newPassword })).rejects.toMatchObject({
        code: 'TOKEN_INVALID',
      });
    },
  );
});

describe('a request for a reset mail', () => {
  it('queues a mail only for active local accounts with an address, found by username or e-mail', async () => {
    const found = await make.user();
    await requestReset(system({ ip: '203.0.113.40' }), { identifier: found.username.toUpperCase(), language: 'de' });
    await requestReset(system({ ip: '203.0.113.40' }), { identifier: found.email ?? '', language: 'en' });
    expect(await queued(found.tenantId)).toHaveLength(2);
    for (const overrides of [{ isActive: false }, { ldapDn: 'uid=x,dc=example' }, { email: null }]) {
      const user = await make.user(overrides);
      await requestReset(system({ ip: '203.0.113.41' }), { identifier: user.username, language: 'de' });
      expect(await queued(user.tenantId)).toEqual([]);
    }
  });

  it('silently stops at three per hour for an account and twenty per hour from an address', async () => {
    const user = await make.user();
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        requestReset(system({ ip: `203.0.113.${50 + n}` }), { identifier: user.username, language: 'de' }),
      ),
    );
    expect(await queued(user.tenantId)).toHaveLength(3);
    const many = await Promise.all(Array.from({ length: 22 }, () => make.user()));
    for (const { username } of many)
      await requestReset(system({ ip: '203.0.113.70' }), { identifier: username, language: 'de' });
    const queuedMails = await Promise.all(many.map(({ tenantId }) => queued(tenantId)));
    expect(queuedMails.flat()).toHaveLength(20);
  });
});
