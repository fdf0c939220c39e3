import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startHaproxy } from '@portal/testing/servers/haproxy';
import { type HttpServer, startHttpServer } from '@portal/testing/servers/http-server';
import { freePort } from '@portal/testing/servers/private-process';
import { fixturePath } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';

const binary = serviceBinary('haproxy');
const file = join(import.meta.dirname, '../docs/operations/haproxy.cfg');

interface Echo {
  name: string;
  headers: IncomingHttpHeaders;
  bytes: number;
}

/** Answers every call with what arrived. */
const startEcho = (name: string): Promise<HttpServer> =>
  startHttpServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.once('end', () => response.end(JSON.stringify({ name, headers: request.headers, bytes } satisfies Echo)));
  });

/** Starts HAProxy in front of two APIs, and waits until it has found them. */
async function start() {
  const apis = { a: await startEcho('a'), b: await startEcho('b') };
  const haproxy = await startHaproxy({
    apis: [apis.a.port, apis.b.port],
    databases: [await freePort(), await freePort()],
  });
  await haproxy.waitForApi('a');
  await haproxy.waitForApi('b');
  const url = `http://127.0.0.1:${haproxy.port}/`;
  return {
    apis,
    haproxy,
    url,
    call: async (options: RequestInit = {}): Promise<Echo> => (await fetch(url, options)).json() as Promise<Echo>,
    stop: async () => void (await Promise.all([haproxy.stop(), apis.a.close(), apis.b.close()])),
  };
}

describe.skipIf(!binary)('the configuration of HAProxy', async () => {
  if (!binary) return;
  const { haproxy, call, stop } = await start();
  afterAll(stop);

  it('is valid as it stands, with TLS', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portal-test-haproxy-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const pem = join(folder, 'portal.pem');
    writeFileSync(pem, ['localhost', 'key'].map((name) => readFileSync(fixturePath(name as 'key'), 'utf8')).join('\n'));
    const checked = join(folder, 'haproxy.cfg');
    writeFileSync(checked, readFileSync(file, 'utf8').replace('/etc/haproxy/portal.pem', pem));
    const { status, stderr } = spawnSync(binary, ['-c', '-f', checked], { encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
  });

  it('tells an API the address of the caller, and nothing that the caller says of itself', async () => {
    const { headers } = await call({
      headers: {
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'evil.example.org',
        'x-request-id': 'chosen',
        forwarded: 'for=203.0.113.9',
      },
    });
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' });
    expect(Object.keys(headers).filter((name) => /forwarded-host|request-id|^forwarded$/.test(name))).toEqual([]);
  });

  it('passes large bodies on', async () => {
    const { bytes } = await call({ method: 'POST', body: Buffer.alloc(20_000_000) });
    expect(bytes).toBe(20_000_000);
  });

  it('leads callers without TLS to it, and keeps their method', async () => {
    const answer = await fetch(`http://127.0.0.1:${haproxy.plainPort}/users?limit=5`, {
      method: 'POST',
      redirect: 'manual',
    });
    expect(answer.status).toBe(308);
    expect(answer.headers.get('location')).toBe(`https://127.0.0.1:${haproxy.plainPort}/users?limit=5`);
  });

  it('refuses no call while an API stops, and answers 503 with Retry-After without any', async () => {
    const { apis, url, call, stop } = await start();
    onTestFinished(stop);
    await apis.a.close();
    const names = [];
    for (let n = 0; n < 20; n += 1) names.push((await call({ method: n % 2 ? 'GET' : 'POST' })).name);
    expect(new Set(names)).toEqual(new Set(['b']));
    await apis.b.close();
    const answer = await fetch(url, { method: 'POST' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await answer.json()).toMatchObject({ statusCode: 503, code: 'UNAVAILABLE' });
  });
});
