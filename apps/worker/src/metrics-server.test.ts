import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { Secret } from '@portal/domain/secret';
import { openMetrics } from '@portal/platform/metrics';
import { serveMetrics } from './metrics-server.ts';

const metrics = openMetrics('worker', {
  pool: () => ({ total: 1, idle: 1, waiting: 0, max: 5 }),
  queues: async () => ({}),
});
const server = await serveMetrics(metrics, { port: 0, host: '127.0.0.1', token: new Secret('a-token-of-some-length') });
afterAll(() => server.close());
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { headers, method });

it('answers the metrics as text for a scraper and as JSON for the API', async () => {
  const text = await get('/metrics');
  expect(text.headers.get('content-type')).toContain('text/plain');
  expect(await text.text()).toContain('process="worker"');
  const families = (await (await get('/metrics.json')).json()) as { name: string }[];
  expect(families.map(({ name }) => name)).toContain('portal_job_seconds');
});

it('answers 404 to all other requests', async () => {
  expect((await get('/')).status).toBe(404);
  expect((await get('/metrics?x=1')).status).toBe(404);
  expect((await get('/metrics', {}, 'POST')).status).toBe(404);
});

/** The status of a request with another Host header, which `fetch` does not allow. */
async function statusUnder(host: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const sent = request({ host: '127.0.0.1', port: server.port, path: '/metrics', headers: { host, ...headers } }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

it('answers 404 under a foreign host name without the token, as after DNS rebinding', async () => {
  for (const host of ['127.0.0.1:1', '[::1]', 'localhost:9464']) expect(await statusUnder(host)).toBe(200);
  for (const host of ['evil.example', 'localhost.evil.example:9464', '127.0.0.1.evil.example'])
    expect(await statusUnder(host)).toBe(404);
  expect(await statusUnder('worker:9464', { authorization: 'Bearer a-token-of-some-length' })).toBe(200);
});

it('answers 404 to a caller behind a proxy without the token', async () => {
  const proxied = { 'x-forwarded-for': '198.51.100.7' };
  expect((await get('/metrics', proxied)).status).toBe(404);
  expect((await get('/metrics', { ...proxied, authorization: 'Bearer wrong' })).status).toBe(404);
  expect((await get('/metrics', { ...proxied, authorization: 'Bearer a-token-of-some-length' })).status).toBe(200);
});
