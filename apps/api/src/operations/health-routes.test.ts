import { describe, expect, it } from 'vitest';
import { testApp } from '../../testing/app.ts';

// Nothing listens there.
const nowhere = '127.0.0.1:9';

const well = await testApp({ env: { RELEASE_VERSION: '1.4.0', RELEASE_CHANNEL: 'live' } });
const withoutQueue = await testApp({ env: { REDIS_URL: `redis://${nowhere}` } });
const withoutDatabase = await testApp({ env: { DATABASE_URL: `postgres://portal@${nowhere}/portal` } });

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('GET /health', () => {
  it('is ok even without the queue or the database', async () => {
    for (const { request } of [well, withoutQueue, withoutDatabase]) {
      const answer = await request({ url: '/health' });
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toEqual({ status: 'ok', timestamp: instant });
    }
  });
});

describe('GET /health/ready', () => {
  it('is ok if database and queue answer', async () => {
    expect((await well.request({ url: '/health/ready' })).json()).toEqual({
      status: 'ok',
      timestamp: instant,
      checks: { database: 'ok', queue: 'ok' },
    });
  });

  it('is degraded without the queue', async () => {
    const answer = await withoutQueue.request({ url: '/health/ready' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      status: 'degraded',
      timestamp: instant,
      checks: { database: 'ok', queue: 'unreachable' },
    });
  });

  it('answers 503 without the database', async () => {
    const answer = await withoutDatabase.request({ url: '/health/ready' });
    expect(answer.json()).toMatchObject({ statusCode: 503, code: 'UNAVAILABLE' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });
});

it('answers 503 with Retry-After to everything that needs the database while it is unavailable', async () => {
  const cookie = await well.cookieOf(await well.make.user());
  for (const [method, url, payload] of [
    ['GET', '/auth/me', undefined],
    ['POST', '/auth/login', { username: 'anna', password: 'wrong' }],
  ] as const) {
    const answer = await withoutDatabase.request({ method, url, headers: { cookie }, ...(payload && { payload }) });
    expect(answer.json()).toMatchObject({ statusCode: 503, code: 'UNAVAILABLE' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  }
});

it('GET /health/version returns the values of the image build', async () => {
  expect((await well.request({ url: '/health/version' })).json()).toEqual({
    name: 'portal',
    version: '1.4.0',
    channel: 'live',
    commit: 'unknown',
    buildTime: 'unknown',
  });
  expect((await withoutQueue.request({ url: '/health/version' })).json()).toMatchObject({
    version: 'dev',
    channel: 'dev',
  });
});
