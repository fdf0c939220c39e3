import { beforeAll, describe, expect, it } from 'vitest';
import { passwordHashing } from '@portal/usecases/accounts/password-hashing';
import { testApp } from '../../testing/app.ts';

const { app, make, request, runtime, cookieOf } = await testApp();
const password = 'correct horse battery';
let passwordHash: string;
beforeAll(async () => {
  passwordHash = await passwordHashing(runtime).hash(password);
});

let last = 0;
/** An address from which no other test of this file signs in. */
const remoteAddress = () => `198.51.100.${(last += 1)}`;
const logIn = (payload: object, from = remoteAddress()) =>
  request({ method: 'POST', url: '/auth/login', payload, remoteAddress: from });
const cookieIn = (answer: Awaited<ReturnType<typeof logIn>>): string =>
  String(answer.headers['set-cookie']).split(';')[0] ?? '';

describe('POST /auth/login', () => {
  it('returns the profile and sets a cookie for 30 days that scripts cannot read', async () => {
    const user = await make.user({ passwordHash, email: 'profile@example.org', displayName: 'Änne', role: 'ADMIN' });
    const answer = await logIn({ username: user.username.toUpperCase(), password });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      user: {
        id: user.id,
        username: user.username,
        email: 'profile@example.org',
        displayName: 'Änne',
        firstName: null,
        lastName: null,
        role: 'ADMIN',
        tenantId: user.tenantId,
        tenantName: expect.any(String),
        isLocalUser: true,
        hasAvatar: false,
        accentColor: '#2563eb',
        language: null,
        theme: null,
        dashboardBackground: { kind: 'none' },
        mustChangePassword: false,
        lastLoginAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        lastSeenReleaseVersion: null,
        pendingEmail: null,
      },
    });
    expect(answer.headers['set-cookie']).toMatch(/^portal_session=[\w.-]+; /);
    for (const attribute of ['Max-Age=2592000', 'Path=/', 'HttpOnly', 'SameSite=Lax'])
      expect(answer.headers['set-cookie']).toContain(attribute);
    expect(answer.headers['set-cookie']).not.toContain('Secure');
    const me = await app.inject({ url: '/auth/me', headers: { cookie: cookieIn(answer) } });
    expect(me.json()).toEqual(answer.json<{ user: object }>().user);
    expect(me.headers['cache-control']).toBe('no-store');
  });

  it('answers every refused sign-in with the same 401 body', async () => {
    const inactive = await make.user({ passwordHash, isActive: false });
    const known = await make.user({ passwordHash });
    const bodies = new Set<string>();
    for (const payload of [
      { username: 'nobody', password },
      { username: known.username, password: 'wrong' },
      { username: inactive.username, password },
    ]) {
      const answer = await logIn(payload);
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['set-cookie']).toBeUndefined();
      bodies.add(answer.body);
    }
    expect([...bodies]).toEqual([
      JSON.stringify({
        statusCode: 401,
        error: 'Unauthorized',
        code: 'INVALID_CREDENTIALS',
        message: 'Username or password is wrong.',
      }),
    ]);
  });

  it('answers 429 with Retry-After after too many failures', async () => {
    const from = remoteAddress();
    for (let n = 0; n < 10; n += 1)
      expect((await logIn({ username: 'somebody', password: 'wrong' }, from)).statusCode).toBe(401);
    const answer = await logIn({ username: 'Somebody', password: 'wrong' }, from);
    expect(answer.statusCode).toBe(429);
    expect(answer.json()).toMatchObject({ statusCode: 429, code: 'RATE_LIMITED' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(800);
  });

  it.each([
    {},
    { username: 'a' },
    { username: '', password: 'x' },
    { username: 1, password: 'x' },
    { username: 'a', password: null },
    [],
  ])('answers 400 to %j', async (payload) => {
    const answer = await logIn(payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]),
    });
  });
});

describe('the session cookie over https', () => {
  it('is bound to the host and never sent unencrypted', async () => {
    const secure = await testApp({ env: { PUBLIC_URL: 'https://portal.example.org' } });
    const user = await secure.make.user({ passwordHash });
    const answer = await secure.request({
      method: 'POST',
      url: '/auth/login',
      payload: { username: user.username, password },
    });
    expect(answer.headers['set-cookie']).toMatch(/^__Host-portal_session=/);
    expect(answer.headers['set-cookie']).toContain('Secure');
    expect(answer.headers['strict-transport-security']).toMatch(/max-age/);
    expect((await secure.request({ url: '/auth/me', as: user })).statusCode).toBe(200);
  });
});

describe('signing out', () => {
  it('ends the session and clears the cookie; the answer without a session is the same', async () => {
    const user = await make.user();
    const cookie = await cookieOf(user);
    const answer = await app.inject({ method: 'POST', url: '/auth/logout', headers: { cookie } });
    expect(answer.statusCode).toBe(204);
    expect(answer.body).toBe('');
    expect(answer.headers['set-cookie']).toMatch(/^portal_session=; .*Max-Age=0/);
    expect((await app.inject({ url: '/auth/me', headers: { cookie } })).statusCode).toBe(401);
    expect((await request({ method: 'POST', url: '/auth/logout' })).statusCode).toBe(204);
    expect(
      (await app.inject({ method: 'POST', url: '/auth/logout', headers: { cookie: 'portal_session=rubbish' } }))
        .statusCode,
    ).toBe(204);
  });

  it('ends every session of the account if done everywhere', async () => {
    const user = await make.user();
    const [here, there] = [await cookieOf(user), await cookieOf(user)];
    expect((await app.inject({ method: 'POST', url: '/auth/logout-all', headers: { cookie: here } })).statusCode).toBe(
      204,
    );
    for (const cookie of [here, there])
      expect((await app.inject({ url: '/auth/me', headers: { cookie } })).statusCode).toBe(401);
  });

  it('ends a single session from the list', async () => {
    const user = await make.user();
    const [here, there] = [await cookieOf(user), await cookieOf(user)];
    const list = await app.inject({ url: '/auth/sessions', headers: { cookie: here } });
    const other = list.json<{ id: string; current: boolean }[]>().find(({ current }) => !current);
    expect(list.json()).toHaveLength(2);
    expect(
      (await app.inject({ method: 'DELETE', url: `/auth/sessions/${other?.id}`, headers: { cookie: here } }))
        .statusCode,
    ).toBe(204);
    expect((await app.inject({ url: '/auth/me', headers: { cookie: there } })).statusCode).toBe(401);
    const admin = await make.user({ tenantId: user.tenantId, role: 'ADMIN' });
    const log = await request({ url: '/audit-log?action=auth.logout', as: admin });
    expect(log.json()).toMatchObject([
      { actorId: user.id, summary: `${user.username} ended one of their own sessions.` },
    ]);
    for (const id of [other?.id, 'no-uuid']) {
      const answer = await app.inject({ method: 'DELETE', url: `/auth/sessions/${id}`, headers: { cookie: here } });
      expect(answer.json()).toEqual({
        statusCode: 404,
        error: 'Not Found',
        code: 'NOT_FOUND',
        message: expect.any(String),
      });
    }
  });
});

describe('a forced password change', () => {
  it('allows only change-password, logout and me, by exact method and path, and open routes', async () => {
    const user = await make.user({ mustChangePassword: true, role: 'SUPER_ADMIN' });
    for (const [method, url] of [
      ['GET', '/users'],
      ['GET', '/auth/sessions'],
      ['POST', '/auth/logout-all'],
      ['GET', '/tenants'],
      ['POST', '/users'],
      ['GET', '/audit-log'],
    ] as const) {
      const answer = await request({ method, url, as: user });
      expect([url, answer.statusCode, answer.json<{ code: string }>().code]).toEqual([
        url,
        403,
        'PASSWORD_CHANGE_REQUIRED',
      ]);
    }
    expect((await request({ url: '/auth/me', as: user })).json()).toMatchObject({ mustChangePassword: true });
    expect((await request({ url: '/health', as: user })).statusCode).toBe(200);
    expect((await request({ url: '/auth/me/', as: user })).statusCode).toBe(404);
    expect((await request({ url: '/nowhere', as: user })).statusCode).toBe(404);
    expect((await request({ method: 'POST', url: '/auth/logout', as: user })).statusCode).toBe(204);
  });

  it('ends with the change, with the new cookie of the answer', async () => {
    const user = await make.user({ passwordHash, mustChangePassword: true, role: 'ADMIN' });
    const cookie = cookieIn(await logIn({ username: user.username, password }));
    const change = await app.inject({
      method: 'POST',
      url: '/auth/change-password',
      headers: { cookie },
      payload: { currentPassword: password, newPassword: 'four candles and a fork' },
    });
    expect(change.statusCode).toBe(204);
    const fresh = String(change.headers['set-cookie']).split(';')[0] ?? '';
    expect((await app.inject({ url: '/users', headers: { cookie: fresh } })).statusCode).toBe(200);
    expect((await app.inject({ url: '/auth/me', headers: { cookie } })).statusCode).toBe(401);
  });
});

describe('a forgotten password', () => {
  it('can be reset by any name, always with the same answer', async () => {
    const user = await make.user({ passwordHash });
    for (const payload of [
      { identifier: user.username },
      { email: user.email },
      { username: 'nobody' },
      { identifier: user.email, language: 'en' },
    ]) {
      const answer = await request({ method: 'POST', url: '/auth/request-reset', payload });
      expect([answer.statusCode, answer.json()]).toEqual([202, { accepted: true }]);
    }
    for (const payload of [{}, { identifier: '' }, { identifier: user.username, language: 'fr' }, { identifier: 5 }]) {
      expect((await request({ method: 'POST', url: '/auth/request-reset', payload })).statusCode).toBe(400);
    }
  });

  it('cannot be set with an invalid token', async () => {
    const answer = await request({
      method: 'POST',
      url: '/auth/reset-password',
      payload: { token: 'x', newPassword: 'four candles and a fork' },
    });
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, 'TOKEN_INVALID']);
  });
});
