import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { openMetrics } from '@portal/platform/metrics';
import { testApp } from '../../testing/app.ts';

const token = 'a-token-for-scrapers';
const local = await testApp();
const guarded = await testApp({ env: { METRICS_TOKEN: token } });

/** Starts a substitute for the worker's metrics and returns its port. */
async function standIn(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(listener).listen(0, host);
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

describe('GET /metrics without a token in the settings', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])(
    'shows the metrics to a caller at %s',
    async (remoteAddress) => {
      const answer = await local.request({ url: '/metrics', remoteAddress });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(answer.body).toMatch(/^process_cpu_seconds_total\{process="script"\}/m);
      expect(answer.headers['cache-control']).toBe('no-store');
    },
  );

  it.each(['192.0.2.7', '10.0.0.1', '2001:db8::1', '::ffff:192.0.2.7'])(
    'is 404 for a caller at %s',
    async (remoteAddress) => {
      const answer = await local.request({ url: '/metrics', remoteAddress });
      expect(answer.json()).toEqual((await local.request({ url: '/nowhere', remoteAddress })).json());
      expect(answer.statusCode).toBe(404);
    },
  );

  it.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-client-ip'])(
    'is 404 for a request forwarded with %s',
    async (header) => {
      expect((await local.request({ url: '/metrics', headers: { [header]: '127.0.0.1' } })).statusCode).toBe(404);
    },
  );
});

describe('GET /metrics under a host name', () => {
  it.each(['127.0.0.1', '127.0.0.1:3000', '[::1]', '[::1]:3000', 'localhost', 'LOCALHOST:1'])(
    'shows the metrics to a caller that names %s',
    async (host) => {
      expect((await local.request({ url: '/metrics', headers: { host } })).statusCode).toBe(200);
    },
  );

  // After DNS rebinding, a page of evil.example still sends its own name.
  it.each([
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example#localhost',
    '127.0.0.1:3000@evil.example',
    'localhost.',
    '127.0.0.2',
  ])('is 404 for a caller that names "%s"', async (host) => {
    const answer = await local.request({ url: '/metrics', headers: { host } });
    expect(answer.statusCode).toBe(404);
    expect(answer.body).not.toContain('process_cpu_seconds_total');
  });
});

describe('GET /metrics with a token in the settings', () => {
  it('shows the metrics to any caller that sends it', async () => {
    const answer = await guarded.request({
      url: '/metrics',
      remoteAddress: '192.0.2.7',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.statusCode).toBe(200);
  });

  it.each([
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: `Bearer ${token}x` },
    { authorization: `Bearer ${token.slice(1)}` },
    { authorization: token },
  ])('is 404 for %j', async (headers) => {
    expect((await guarded.request({ url: '/metrics', headers: headers })).statusCode).toBe(404);
  });
});

describe('GET /metrics beside a worker', () => {
  it('includes the worker’s metrics', async () => {
    const worker = openMetrics('worker', {
      pool: () => ({ total: 0, idle: 0, waiting: 0, max: 0 }),
      queues: async () => ({}),
    });
    const port = await standIn(
      (_request, response) => void worker.json().then((families) => response.end(JSON.stringify(families))),
    );
    const { request } = await testApp({ env: { WORKER_METRICS_PORT: port } });
    const { body } = await request({ url: '/metrics' });
    expect(body).toMatch(/^process_cpu_seconds_total\{.*process="script".*\}/m);
    expect(body).toMatch(/^process_cpu_seconds_total\{.*process="worker".*\}/m);
    expect(body.match(/^# TYPE process_cpu_seconds_total /gm)).toHaveLength(1);
  });

  it('calls the worker at the address the service listens on, and sends it the token', async () => {
    let shown: string | undefined;
    const port = await standIn((request, response) => {
      shown = request.headers.authorization;
      response.end('[]');
    }, '127.0.0.3');
    const env = { HOST: '127.0.0.3', WORKER_METRICS_PORT: port, METRICS_TOKEN: token };
    const { request } = await testApp({ env });
    const headers = { authorization: `Bearer ${token}` };
    expect((await request({ url: '/metrics', headers })).statusCode).toBe(200);
    expect(shown).toBe(`Bearer ${token}`);
  });

  it.each<[string, RequestListener]>([
    ['refuses', (_request, response) => response.writeHead(500).end('no')],
    ['talks nonsense', (_request, response) => response.end('<html>')],
    ['sends no list', (_request, response) => response.end('{"not":"a list"}')],
    ['says nothing', () => undefined],
    [
      'never stops',
      (_request, response) => {
        const timer = setInterval(() => response.write('x'.repeat(1024 * 1024)), 1);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('leaves out a worker that %s', async (_case, listener) => {
    const { request } = await testApp({ env: { WORKER_METRICS_PORT: await standIn(listener) } });
    const answer = await request({ url: '/metrics' });
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('process="script"');
  });
});
