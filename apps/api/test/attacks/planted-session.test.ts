import { expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { passwordHashing } from '@portal/usecases/accounts/password-hashing';
import { testApp } from '../../testing/app.ts';

const { app, make, runtime, cookieOf } = await testApp();
const password = 'correct horse battery';
const passwordHash = await passwordHashing(runtime.system({ requestId: newId(), ip: null, userAgent: null })).hash(
  password,
);

let last = 0;
const logIn = (username: string, cookie: string, given = password) =>
  app.inject({
    method: 'POST',
    url: '/auth/login',
    headers: { cookie },
    payload: { username, password: given },
    remoteAddress: `198.51.100.${(last += 1)}`,
  });
const isGood = async (cookie: string) =>
  (await app.inject({ url: '/auth/me', headers: { cookie } })).statusCode === 200;

it('a planted session of any account ends with a sign-in under its cookie', async () => {
  const user = await make.user({ passwordHash });
  const planters = [user, await make.user({ tenantId: user.tenantId }), await make.user()];
  for (const planter of planters) {
    const [planted, elsewhere] = [await cookieOf(planter), await cookieOf(planter)];
    const opened = await logIn(user.username, planted);
    expect(opened.statusCode).toBe(200);
    expect(await isGood(planted)).toBe(false);
    expect(await isGood(elsewhere)).toBe(true);
    expect(await isGood(String(opened.headers['set-cookie']).split(';')[0] ?? '')).toBe(true);
  }
});

it('a planted session stays valid if the sign-in fails', async () => {
  const user = await make.user({ passwordHash });
  const planted = await cookieOf(await make.user());
  expect((await logIn(user.username, planted, 'wrong')).statusCode).toBe(401);
  expect(await isGood(planted)).toBe(true);
});

it('a forged cookie ends no session', async () => {
  const user = await make.user({ passwordHash });
  const victim = await cookieOf(await make.user());
  const forged = `${victim.slice(0, -2)}xx`;
  expect((await logIn(user.username, forged)).statusCode).toBe(200);
  expect((await logIn(user.username, 'portal_session=rubbish')).statusCode).toBe(200);
  expect(await isGood(victim)).toBe(true);
});
