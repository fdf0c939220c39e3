import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emailTokens } from '@portal/db/schema/accounts/sessions';
import { newId } from '@portal/domain/ids';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { kinds } from '@portal/testing/mail-kinds';
import { type ReceivedMail, startSmtpServer } from '@portal/testing/servers/smtp-server';
import { passwordHashing } from '@portal/usecases/accounts/password-hashing';
import { testApp } from '../../testing/app.ts';

const smtp = await startSmtpServer();
afterAll(() => smtp.stop());
const { app, make, request, runtime, cookieOf } = await testApp({
  env: {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: `${smtp.port}`,
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'portal@example.org',
    PUBLIC_URL: 'http://portal.example.org',
  },
});

const password = 'correct horse battery';
let passwordHash: string;
beforeAll(async () => {
  passwordHash = await passwordHashing(runtime).hash(password);
});
type User = Awaited<ReturnType<typeof make.user>>;
const account = (overrides: object = {}) => make.user({ passwordHash, ...overrides });
const newAddress = () => `${newId()}@example.org`;

/** Sends requests with one session of the account. */
async function sessionOf(user: User) {
  const cookie = await cookieOf(user);
  return (method: 'GET' | 'PATCH' | 'POST', url: string, payload?: object) =>
    app.inject({ method, url, headers: { cookie }, ...(payload && { payload }) });
}
const changeAddress = async (
  user: User,
  email: string | null | undefined,
  currentPassword: string | undefined = password,
) => request({ method: 'PATCH', url: '/users/me', as: user, payload: { email, currentPassword } });
const confirm = (token: string) => request({ method: 'POST', url: '/auth/confirm-email', payload: { token } });
const profileOf = async (user: User) =>
  (await request({ url: '/auth/me', as: user })).json<{ email: string; pendingEmail: string | null }>();

/** Delivers the tenant's due mails and returns all mails to an address so far. */
async function mailsTo(address: string | null | undefined, tenantId: string): Promise<ReceivedMail[]> {
  const ctx = runtime.tenant({ requestId: newId(), ip: null, userAgent: null }, tenantId);
  await deliverDueMails(ctx, { signal: new AbortController().signal, kinds });
  return smtp.messages.filter(({ envelopeTo }) => envelopeTo.includes(address ?? ''));
}
const tokenIn = (mail: ReceivedMail | undefined, page: string): string =>
  new RegExp(`http://portal\\.example\\.org/${page}#token=([\\w-]{43})`).exec(mail?.text ?? '')?.[1] ?? '';
async function linkTo(user: User, address: string): Promise<string> {
  expect((await changeAddress(user, address)).statusCode).toBe(200);
  return tokenIn((await mailsTo(address, user.tenantId)).at(-1), 'confirm-email');
}
async function resetLinkOf(user: User): Promise<string> {
  await request({ method: 'POST', url: '/auth/request-reset', payload: { identifier: user.username } });
  return tokenIn((await mailsTo(user.email, user.tenantId)).at(-1), 'reset-password');
}
const useReset = async (token: string) =>
  (
    await request({
      method: 'POST',
      url: '/auth/reset-password',
      payload: { token, newPassword: 'four candles and a fork' },
    })
  ).json<{ code: string }>().code;

describe('a stolen session', () => {
  it('cannot change the address without the password, and has only five guesses', async () => {
    const user = await account();
    const thief = await sessionOf(user);
    const own = { email: newAddress() };
    expect((await thief('PATCH', '/users/me', own)).json()).toMatchObject({
      statusCode: 400,
      code: 'CURRENT_PASSWORD_REQUIRED',
    });
    const guesses = await Promise.all(
      Array.from({ length: 12 }, (_, n) => thief('PATCH', '/users/me', { ...own, currentPassword: `guess ${n}` })),
    );
    const codes = guesses.map((answer) => answer.json<{ code: string }>().code);
    expect(codes.filter((code) => code === 'CURRENT_PASSWORD_WRONG')).toHaveLength(5);
    expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(7);
    const elsewhere = { currentPassword: password, newPassword: 'four candles and a fork' };
    expect((await thief('POST', '/auth/change-password', elsewhere)).statusCode).toBe(429);
    expect(await profileOf(user)).toMatchObject({ email: user.email, pendingEmail: null });
    expect(await mailsTo(own.email, user.tenantId)).toEqual([]);
  });

  it.each(['ADMIN', 'SUPER_ADMIN'] as const)(
    'of an %s cannot change its own address through the user administration either',
    async (role) => {
      const victim = await account({ role, email: newAddress() });
      const session = await sessionOf(victim);
      const stolen = await session('PATCH', `/users/${victim.id}`, { email: newAddress(), displayName: 'Mallory' });
      expect(stolen.json()).toMatchObject({ statusCode: 403, code: 'FORBIDDEN' });
      expect(await profileOf(victim)).toMatchObject({ email: victim.email, displayName: null });
      // An unchanged address is no change.
      expect((await session('PATCH', `/users/${victim.id}`, { email: victim.email })).statusCode).toBe(200);
    },
  );

  it('with the password cannot change the address unnoticed, and the owner stops it with a new password', async () => {
    const user = await account();
    const address = newAddress();
    const token = await linkTo(user, address);
    const [notice] = await mailsTo(user.email, user.tenantId);
    expect(notice?.subject).toBe('Ihre E-Mail-Adresse soll geändert werden');
    expect(notice?.html).toBeFalsy();
    expect(notice?.text).not.toMatch(/https?:/);
    const owner = await sessionOf(user);
    await owner('POST', '/auth/change-password', { currentPassword: password, newPassword: 'four candles and a fork' });
    expect((await confirm(token)).json()).toMatchObject({ statusCode: 400, code: 'TOKEN_INVALID' });
  });
});

describe('a user’s own address', () => {
  it('changes once with its link; old reset links become invalid, and the old address is notified', async () => {
    const user = await account();
    const reset = await resetLinkOf(user);
    const address = newAddress();
    const answer = await changeAddress(user, address.toUpperCase());
    expect(answer.json()).toMatchObject({ email: user.email, pendingEmail: address });
    const [link] = await mailsTo(address, user.tenantId);
    expect(link?.subject).toBe('E-Mail-Adresse bestätigen');
    const token = tokenIn(link, 'confirm-email');
    expect(await profileOf(user)).toMatchObject({ email: user.email, pendingEmail: address });
    const uses = await Promise.all([confirm(token), confirm(token), confirm(token)]);
    expect(uses.map(({ statusCode }) => statusCode).toSorted()).toEqual([204, 400, 400]);
    expect(await profileOf(user)).toMatchObject({ email: address, pendingEmail: null });
    expect(await useReset(reset)).toBe('TOKEN_INVALID');
    const notice = (await mailsTo(user.email, user.tenantId)).at(-1);
    expect(notice?.subject).toBe('Ihre E-Mail-Adresse wurde geändert');
    expect(notice?.text).not.toContain(address);
    const admin = await make.user({ tenantId: user.tenantId, role: 'ADMIN' });
    const log = (await request({ url: '/audit-log', as: admin })).json<{ action: string }[]>();
    expect(log.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['auth.email_change_requested', 'auth.email_changed']),
    );
    const users = (await request({ url: '/users', as: admin })).json<object[]>();
    for (const one of users) expect(one).not.toHaveProperty('pendingEmail');
  });

  it.each([
    ['nothing', () => null],
    ['the current one', (user: User) => user.email],
  ])('change is cancelled by sending %s, without a password', async (_, named) => {
    const user = await account();
    const token = await linkTo(user, newAddress());
    const answer = await request({ method: 'PATCH', url: '/users/me', as: user, payload: { email: named(user) } });
    expect(answer.json()).toMatchObject({ email: user.email, pendingEmail: null });
    expect((await confirm(token)).statusCode).toBe(400);
  });

  it('accepts only the newest link, and queued mails for older ones are not sent', async () => {
    const user = await account();
    const [first, second, third] = [newAddress(), newAddress(), newAddress()];
    const token = await linkTo(user, first);
    await changeAddress(user, second);
    const last = await linkTo(user, third);
    expect(await mailsTo(second, user.tenantId)).toEqual([]);
    expect((await confirm(token)).statusCode).toBe(400);
    expect((await confirm(last)).statusCode).toBe(204);
    expect(await profileOf(user)).toMatchObject({ email: third });
  });

  it('changes at most five times an hour', async () => {
    const user = await account();
    const answers = [];
    for (let n = 0; n < 6; n += 1) answers.push(await changeAddress(user, newAddress()));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(Number(answers[5]?.headers['retry-after'])).toBeGreaterThan(3_000);
  });

  it('leaves no pending change behind after the account is deleted', async () => {
    const user = await account();
    await linkTo(user, newAddress());
    const admin = await make.user({ tenantId: user.tenantId, role: 'ADMIN' });
    expect((await request({ method: 'DELETE', url: `/users/${user.id}`, as: admin })).statusCode).toBe(204);
    expect(await runtime.database.inTenant(user.tenantId).tx((tx) => tx.$count(emailTokens))).toBe(0);
  });
});

describe('an address of another account', () => {
  it('gets the same answer as a free one, and its owner gets a notice instead of a link', async () => {
    const [user, owner] = [await account(), await account({ displayName: 'Olga' })];
    const free = newAddress();
    const answers = [await changeAddress(user, owner.email), await changeAddress(user, free)];
    const [taken, fresh] = answers.map((answer) => ({
      status: answer.statusCode,
      headers: Object.keys(answer.headers).toSorted(),
      body: answer.body.replace(owner.email ?? '', 'X').replace(free, 'X'),
    }));
    expect(taken).toEqual(fresh);
    await mailsTo(null, user.tenantId);
    const [notice, ...more] = await mailsTo(owner.email, owner.tenantId);
    expect(more).toEqual([]);
    expect(notice?.text).toMatch(/bei\s+einem\s+anderen\s+Konto\s+eingetragen/);
    expect(notice?.text).not.toContain(user.username);
    expect(notice?.text).not.toMatch(/https?:/);
  });

  it('is answered in the same time as a free one', async () => {
    const owner = await account();
    const times: Record<'taken' | 'free', number[]> = { taken: [], free: [] };
    for (let n = 0; n < 24; n += 1) {
      const user = await account();
      const cookie = await cookieOf(user);
      const which = n % 2 === 0 ? 'taken' : 'free';
      const email = which === 'taken' ? owner.email : newAddress();
      const startedAt = performance.now();
      const payload = { email, currentPassword: password };
      await app.inject({ method: 'PATCH', url: '/users/me', headers: { cookie }, payload });
      times[which].push(performance.now() - startedAt);
    }
    const median = (all: number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
    expect(median(times.taken) / median(times.free)).toBeGreaterThan(0.6);
    expect(median(times.taken) / median(times.free)).toBeLessThan(1.6);
  });

  it('is not reserved by a request: a link to an address taken meanwhile is invalid', async () => {
    const [user, rival] = [await account(), await account()];
    const address = newAddress();
    const [mine, theirs] = [await linkTo(user, address), await linkTo(rival, address)];
    expect((await confirm(theirs)).statusCode).toBe(204);
    const [late, unknown] = [await confirm(mine), await confirm('x'.repeat(43))];
    expect([late.statusCode, late.body]).toEqual([400, unknown.body]);
    expect(await profileOf(user)).toMatchObject({ email: user.email });
  });

  it('gets at most five mails an hour, even from many accounts', async () => {
    const address = newAddress();
    const many = await Promise.all(Array.from({ length: 7 }, () => account()));
    for (const user of many) {
      expect((await changeAddress(user, address)).statusCode).toBe(200);
      await mailsTo(address, user.tenantId);
    }
    expect(await mailsTo(address, many[0]?.tenantId ?? '')).toHaveLength(5);
  });
});

describe('an administrator’s change of an address', () => {
  it('counts as confirmed, invalidates every unused link, and notifies the old address', async () => {
    const user = await account();
    const admin = await make.user({ tenantId: user.tenantId, role: 'ADMIN' });
    const [reset, pending] = [await resetLinkOf(user), await linkTo(user, newAddress())];
    const email = newAddress();
    const change = { method: 'PATCH' as const, url: `/users/${user.id}`, as: admin };
    expect((await request({ ...change, payload: { email } })).json()).toMatchObject({ email });
    expect(await useReset(reset)).toBe('TOKEN_INVALID');
    expect((await confirm(pending)).statusCode).toBe(400);
    expect(await profileOf(user)).toMatchObject({ email, pendingEmail: null });
    expect((await mailsTo(user.email, user.tenantId)).at(-1)?.subject).toBe('Ihre E-Mail-Adresse wurde geändert');
    // The same applies if the administrator removes the address.
    expect((await request({ ...change, payload: { email: null } })).json()).toMatchObject({ email: null });
    expect(await mailsTo(email, user.tenantId)).toHaveLength(1);
  });
});
