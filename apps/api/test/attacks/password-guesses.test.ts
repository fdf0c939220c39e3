import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';
import { passwordHashing } from '@portal/usecases/accounts/password-hashing';
import { operatorResetPassword } from '@portal/usecases/accounts/temporary-passwords';
import { testApp } from '../../testing/app.ts';

const { app, make, request, runtime, cookieOf } = await testApp();
const system = () => runtime.system({ requestId: newId(), ip: null, userAgent: null });
const password = 'correct horse battery';
const newPassword = 'four candles and a fork';
let passwordHash: string;
beforeAll(async () => {
  passwordHash = await passwordHashing(system()).hash(password);
});

let last = 0;
const logIn = (username: string, given: string) =>
  request({
    method: 'POST',
    url: '/auth/login',
    payload: { username, password: given },
    remoteAddress: `198.51.100.${(last += 1)}`,
  });

describe('guesses at the current password with a stolen session', () => {
  it('are limited to five in ten minutes, even if a concurrent guess is right', async () => {
    const user = await make.user({ passwordHash });
    const cookie = await cookieOf(user);
    const guesses = [...Array.from({ length: 30 }, (_, n) => `guess number ${n}`), password];
    const answers = await Promise.all(
      guesses.map((currentPassword) =>
        app.inject({
          method: 'POST',
          url: '/auth/change-password',
          headers: { cookie },
          payload: { currentPassword, newPassword },
        }),
      ),
    );
    const count = (status: number) => answers.filter(({ statusCode }) => statusCode === status).length;
    expect([count(401), count(429)]).toEqual([5, 26]);
  });

  it('are not counted and reveal nothing while the policy refuses the new password', async () => {
    const user = await make.user({ passwordHash });
    const cookie = await cookieOf(user);
    const change = (currentPassword: string, chosen: string) =>
      app.inject({
        method: 'POST',
        url: '/auth/change-password',
        headers: { cookie },
        payload: { currentPassword, newPassword: chosen },
      });
    const [wrong, right] = [await change('wrong', 'short'), await change(password, 'short')];
    expect([wrong.statusCode, wrong.body]).toEqual([400, right.body]);
    for (let n = 0; n < 6; n += 1) await change('wrong', 'password2026!');
    expect((await change(password, newPassword)).statusCode).toBe(204);
  });
});

describe('a temporary password', () => {
  const expire = (id: string) =>
    runtime.database.acrossTenants('a test lets time pass', (tx) =>
      tx
        .update(users)
        .set({ temporaryPasswordUntil: sql`${users.temporaryPasswordUntil} - interval '7 days'` })
        .where(eq(users.id, id)),
    );

  it('cannot stay if it must be changed', async () => {
    const user = await make.user({ passwordHash, mustChangePassword: true });
    const change = { method: 'POST' as const, url: '/auth/change-password', as: user };
    const unchanged = await request({ ...change, payload: { currentPassword: password, newPassword: password } });
    expect(unchanged.json()).toMatchObject({ statusCode: 400, code: 'PASSWORD_POLICY' });
    expect((await request({ ...change, payload: { currentPassword: password, newPassword } })).statusCode).toBe(204);
  });

  it.each([
    [
      'an administrator’s reset',
      async (admin: object) => {
        const user = await make.user(admin);
        const { temporaryPassword } = await reset(user.id, admin);
        return { user, temporaryPassword };
      },
    ],
    [
      'the operator’s command',
      async () => {
        const user = await make.user();
        return { user, ...(await operatorResetPassword(system(), user.username)) };
      },
    ],
    [
      'the creation of the account',
      async (admin: object) => {
        const payload = { username: `made-${newId()}`, password };
        const answer = await request({ method: 'POST', url: '/users', as: await adminOf(admin), payload });
        return { user: answer.json<{ id: string; username: string }>(), temporaryPassword: password };
      },
    ],
  ])('from %s expires after seven days and is then refused like a wrong one; a new one works', async (_, give) => {
    const { id: tenantId } = await make.tenant();
    const { user, temporaryPassword } = await give({ tenantId });
    const opened = await logIn(user.username, temporaryPassword);
    expect(opened.json()).toMatchObject({ user: { mustChangePassword: true } });
    await expire(user.id);
    const [late, wrong] = [await logIn(user.username, temporaryPassword), await logIn(user.username, 'wrong')];
    expect([late.statusCode, late.body]).toEqual([401, wrong.body]);
    // A session opened before the expiry cannot use it either.
    const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? '';
    const change = await app.inject({
      method: 'POST',
      url: '/auth/change-password',
      headers: { cookie },
      payload: { currentPassword: temporaryPassword, newPassword },
    });
    expect(change.json()).toMatchObject({ statusCode: 401, code: 'CURRENT_PASSWORD_WRONG' });
    const again = await operatorResetPassword(system(), user.username);
    const back = await logIn(user.username, again.temporaryPassword);
    expect(back.statusCode).toBe(200);
    const chosen = await app.inject({
      method: 'POST',
      url: '/auth/change-password',
      headers: { cookie: String(back.headers['set-cookie']).split(';')[0] ?? '' },
      payload: { currentPassword: again.temporaryPassword, newPassword },
    });
    expect(chosen.statusCode).toBe(204);
    await expire(user.id);
    expect((await logIn(user.username, newPassword)).statusCode).toBe(200);
  });

  const adminOf = (of: object) => make.user({ ...of, role: 'ADMIN' });
  const reset = async (id: string, of: object) =>
    (await request({ method: 'POST', url: `/users/${id}/reset-password`, as: await adminOf(of), payload: {} })).json<{
      temporaryPassword: string;
    }>();
});
