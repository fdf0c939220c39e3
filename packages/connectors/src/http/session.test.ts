import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { startDnsServer } from '@portal/testing/servers/dns-server';
import { startHttpServer } from '@portal/testing/servers/http-server';
import {
  caCertificatePem,
  otherCaCertificatePem,
  type ServerCertificate,
  serverCertificatePem,
  serverKeyPem,
} from '@portal/testing/servers/tls';
import { guardedFetch, openSession, type OutboundPolicy } from './guarded-fetch.ts';
import { resolveByDns } from './resolve-host.ts';

const policy: OutboundPolicy = { reach: 'private', httpsOnly: false, allowHosts: [] };
const limits = { maxBytes: 100_000, timeoutMs: 20_000 };

const methods: string[] = [];
const site = await startHttpServer((request, response) => {
  methods.push(request.method ?? '');
  if (request.url === '/closes') return void request.socket.destroy();
  if (request.url === '/moved') return void response.writeHead(302, { location: '/here' }).end('x'.repeat(50_000));
  response.end('here');
});
afterAll(() => site.close());

describe('a session', () => {
  it('reuses one connection for the calls of a run', async () => {
    using session = openSession(policy);
    const before = site.connections();
    // Longer than the time limit of the first call, which ends only that call.
    await session.fetch(site.origin, { ...limits, timeoutMs: 1_000 });
    await pause(1_100);
    for (const method of ['GET', 'POST', 'PROPFIND', 'REPORT'])
      expect(await session.fetch(`${site.origin}/${method}`, { ...limits, method })).toMatchObject({ status: 200 });
    await Promise.all(Array.from({ length: 5 }, () => session.fetch(site.origin, limits)));
    expect(site.connections() - before).toBe(1);
  });

  it('resolves its host name once', async () => {
    const dns = await startDnsServer({
      'reused.test': (asked) => ({ addresses: [asked === 1 ? '127.0.0.1' : '10.0.0.1'] }),
    });
    using session = openSession({ ...policy, resolve: resolveByDns([dns.server]) });
    const url = `http://reused.test:${site.port}/`;
    await session.fetch(url, limits);
    await session.fetch(url, { ...limits, maxBytes: 1, overflow: 'cut' });
    expect((await session.fetch(url, limits)).body.toString()).toBe('here');
    expect(dns.asked.get('reused.test')).toBe(1);
    await dns.close();
  });

  it('checks other origins again and calls them over separate connections', async () => {
    using session = openSession(policy);
    await session.fetch(site.origin, limits);
    await expect(session.fetch('http://169.254.169.254/', limits)).rejects.toMatchObject({ reason: 'blocked' });
    const other = await startHttpServer((_request, response) => response.end());
    await session.fetch(other.origin, limits);
    await session.fetch(other.origin, limits);
    expect(other.connections()).toBe(2);
    await other.close();
    await expect(session.fetch('ftp://127.0.0.1/', limits)).rejects.toMatchObject({ reason: 'blocked' });
  });

  it('follows redirects and continues after them', async () => {
    using session = openSession(policy);
    for (let round = 0; round < 3; round += 1)
      expect((await session.fetch(`${site.origin}/moved`, limits)).body.toString()).toBe('here');
  });

  it('repeats a call if the server closed the idle connection, but no POST', async () => {
    using session = openSession(policy);
    for (const [method, times] of [
      ['GET', 2],
      ['PROPFIND', 2],
      ['POST', 1],
    ] as const) {
      await session.fetch(site.origin, limits);
      methods.length = 0;
      await expect(session.fetch(`${site.origin}/closes`, { ...limits, method })).rejects.toMatchObject({
        reason: 'unreachable',
      });
      expect(methods).toEqual(Array(times).fill(method));
    }
  });

  it('closes its connection at the end', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await startHttpServer((request, response) => {
      request.socket.on('close', closed.resolve);
      response.end();
    });
    {
      using session = openSession(policy);
      await session.fetch(server.origin, limits);
    }
    await closed.promise;
    await server.close();
  });
});

async function startHttps(
  certificate: ServerCertificate,
  listener: RequestListener = (_, response) => response.end('x'),
) {
  const options: ServerOptions = { key: serverKeyPem, cert: serverCertificatePem(certificate) };
  let connections = 0;
  const server = createServer(options, listener);
  server.on('secureConnection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `https://localhost:${port}`, connections: () => connections };
}

describe('a certificate', () => {
  const trusting = (trust: OutboundPolicy['trust']): OutboundPolicy => ({ ...policy, ...(trust && { trust }) });
  const own = { caCertificatePem, skipTlsVerify: false };
  const none = { caCertificatePem: null, skipTlsVerify: true };

  it('is checked against the authority of the policy', async () => {
    const { origin } = await startHttps('localhost');
    expect(await guardedFetch(origin, trusting(own), limits)).toMatchObject({ status: 200 });
    for (const trust of [
      undefined,
      { ...own, caCertificatePem: otherCaCertificatePem },
      { ...own, caCertificatePem: '?' },
    ])
      await expect(guardedFetch(origin, trusting(trust), limits)).rejects.toMatchObject({ reason: 'certificate' });
  });

  it.each(['elsewhere', 'expired', 'self-signed'] as const)(
    'that is %s passes only without verification',
    async (name) => {
      const { origin } = await startHttps(name);
      await expect(guardedFetch(origin, trusting(own), limits)).rejects.toMatchObject({ reason: 'certificate' });
      expect(await guardedFetch(origin, trusting(none), limits)).toMatchObject({ status: 200 });
    },
  );

  it('reports its expiry, on a reused connection too, and even without verification', async () => {
    const { origin, connections } = await startHttps('localhost');
    const { certificateValidTo } = await guardedFetch(origin, trusting(own), limits);
    expect(certificateValidTo?.getTime()).toBeGreaterThan(Date.now());
    const expired = await startHttps('expired');
    expect((await guardedFetch(expired.origin, trusting(none), limits)).certificateValidTo?.getTime()).toBeLessThan(
      Date.now(),
    );
    expect((await guardedFetch(site.origin, policy, limits)).certificateValidTo).toBeNull();
    using session = openSession(trusting(own));
    for (let round = 0; round < 3; round += 1)
      expect(await session.fetch(origin, limits)).toMatchObject({ certificateValidTo });
    expect(connections()).toBe(2);
  });

  it('of a redirect target is checked even if the first host skips the check', async () => {
    const other = await startHttps('self-signed');
    const first = await startHttps('self-signed', (_, response) =>
      response.writeHead(302, { location: other.origin }).end(),
    );
    await expect(guardedFetch(first.origin, trusting(none), limits)).rejects.toMatchObject({ reason: 'certificate' });
  });
});
