import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { open } from '@portal/domain/access';
import { testApp } from '../../testing/app.ts';
import type { App } from '../zod-app.ts';

const routes = (app: App) => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    app.route({
      method,
      url: '/thing',
      config: { access: open('a test calls it') },
      handler: (_request, reply) => void reply.send({ done: true }),
    });
  }
};

const alone = await testApp({ routes });
const slow = await testApp({
  routes: (app) =>
    void app.get('/slow', { config: { access: open('a test calls it') } }, async () => pause(300, { done: true })),
  env: { CORS_ORIGINS: 'https://front.example.org' },
});
const listing = await testApp({ routes, env: { CORS_ORIGINS: 'https://front.example.org, https://desk.example.org' } });
const published = await testApp({
  routes,
  env: { PUBLIC_URL: 'https://portal.example.org', CORS_ORIGINS: 'https://front.example.org' },
});

const front = 'https://front.example.org';

describe('a request that changes something', () => {
  it.each([
    ['no header at all', {}, 200],
    ['the service’s origin', { origin: 'http://127.0.0.1:3000' }, 200],
    ['the service’s origin by name', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }, 200],
    ['another port', { origin: 'http://127.0.0.1:3001' }, 403],
    ['another scheme', { origin: 'https://127.0.0.1:3000' }, 403],
    ['an unlisted origin', { origin: front }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['an empty origin', { origin: '' }, 403],
    ['a similar origin', { origin: 'http://127.0.0.1:3000.example.org' }, 403],
    ['two origins', { origin: 'http://127.0.0.1:3000, https://evil.example.org' }, 403],
    ['a cross-site fetch without origin', { 'sec-fetch-site': 'cross-site' }, 403],
    [
      'a cross-site fetch with the service’s origin',
      { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'cross-site' },
      403,
    ],
    ['a fetch typed by the user', { 'sec-fetch-site': 'none' }, 200],
  ])('with %s', async (_case, headers, status) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const answer = await alone.request({ method, url: '/thing', headers: headers });
      expect(answer.statusCode).toBe(status);
      if (status === 403) expect(answer.json()).toMatchObject({ statusCode: 403, code: 'ORIGIN_NOT_ALLOWED' });
    }
  });

  it('passes from a listed origin, even cross-site', async () => {
    const headers = { origin: front, 'sec-fetch-site': 'cross-site' };
    expect((await listing.request({ method: 'POST', url: '/thing', headers })).statusCode).toBe(200);
  });

  it('accepts only PUBLIC_URL as the service’s origin if that is set', async () => {
    const from = async (origin: string) =>
      (await published.request({ method: 'POST', url: '/thing', headers: { origin } })).statusCode;
    expect(await from('https://portal.example.org')).toBe(200);
    expect(await from('http://127.0.0.1:3000')).toBe(403);
  });

  it('does not check the origin of a read', async () => {
    const headers = { origin: 'https://evil.example.org', 'sec-fetch-site': 'cross-site' };
    for (const method of ['GET', 'HEAD'] as const)
      expect((await alone.request({ method, url: '/thing', headers })).statusCode).toBe(200);
  });

  it('answers 404 before it checks the origin', async () => {
    expect((await alone.request({ method: 'POST', url: '/nowhere', headers: { origin: front } })).statusCode).toBe(404);
  });
});

describe('a browser of another origin', () => {
  it('may read the answer, with credentials, if its origin is listed', async () => {
    for (const url of ['/thing', '/nowhere', '/auth/me']) {
      const { headers } = await listing.request({ url, headers: { origin: front } });
      expect(headers).toMatchObject({
        'access-control-allow-origin': front,
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      });
      for (const name of [
        'Link',
        'X-Next-Cursor',
        'X-Total-Count',
        'X-Request-Id',
        'Retry-After',
        'X-Server-Time',
        'ETag',
        'Content-Disposition',
      ]) {
        expect(String(headers['access-control-expose-headers']).split(', ')).toContain(name);
      }
    }
  });

  it('may also read the refusals of the earliest hooks', async () => {
    const headers = { origin: front };
    const answers = await Promise.all(Array.from({ length: 300 }, () => slow.request({ url: '/slow', headers })));
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused)
      expect(answer.headers).toMatchObject({ 'access-control-allow-origin': front, 'retry-after': '2' });
  });

  it('may not read the answer if its origin is not listed', async () => {
    for (const origin of ['https://evil.example.org', 'null', `${front}.evil.example.org`]) {
      const { headers } = await listing.request({ url: '/thing', headers: { origin } });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers['vary']).toBe('Origin');
    }
  });

  it('may send a preflight without a session', async () => {
    const preflight = {
      origin: front,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'content-type',
    };
    const answer = await listing.request({ method: 'OPTIONS', url: '/users/1', headers: preflight });
    expect(answer.statusCode).toBe(204);
    expect(answer.body).toBe('');
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': front,
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': expect.stringContaining('Content-Type'),
      'access-control-max-age': '600',
    });
  });

  it('learns nothing from a preflight if its origin is not listed', async () => {
    const headers = { origin: 'https://evil.example.org', 'access-control-request-method': 'POST' };
    for (const { request } of [listing, alone]) {
      const answer = await request({ method: 'OPTIONS', url: '/thing', headers });
      expect(answer.statusCode).toBe(405);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      expect(answer.headers['access-control-allow-methods']).toBeUndefined();
    }
  });
});
