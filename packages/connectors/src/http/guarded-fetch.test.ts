import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { startDnsServer } from '@portal/testing/servers/dns-server';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { guardedFetch, type OutboundPolicy, type OutboundRequest } from './guarded-fetch.ts';
import { resolveByDns } from './resolve-host.ts';

// Node encodes headers as latin1: one character per UTF-8 byte.
const utf8InHeader = Buffer.from('/echo?a=ü#part').toString('latin1');

const routes: Record<string, (...parts: Parameters<RequestListener>) => unknown> = {
  '/hello': (_request, response) => response.setHeader('x-answer', '42').end('hello'),
  '/reasoned': (_request, response) => response.writeHead(401, 'permission check failed (/, Sys.Audit)').end(),
  '/missing': (_request, response) => response.writeHead(404).end('not here'),
  '/none': (_request, response) => response.writeHead(204, { 'content-encoding': 'gzip' }).end(),
  '/echo': async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
  },
  '/to-echo': (request, response) =>
    response
      .writeHead(Number(new URL(request.url ?? '', site.origin).searchParams.get('status')), { location: utf8InHeader })
      .end(),
  '/elsewhere': (_request, response) => response.writeHead(302, { location: `${other.origin}/` }).end(),
  '/nowhere': (_request, response) => response.writeHead(302, { location: 'http://[' }).end(),
  '/no-location': (_request, response) => response.writeHead(302).end('stays'),
  '/two': (_request, response) => response.writeHead(302, { location: '/one' }).end(),
  '/one': (_request, response) => response.writeHead(302, { location: '/zero' }).end(),
  '/zero': (_request, response) => response.writeHead(302, { location: '/hello' }).end(),
  '/three': (_request, response) => response.writeHead(302, { location: '/two' }).end(),
  '/round': (_request, response) => response.writeHead(302, { location: '/round' }).end(),
  '/silent': () => undefined,
  '/slow-body': (_request, response) => void response.write('a'),
  '/drops': (request) => request.socket.destroy(),
  '/breaks-off': (request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => request.socket.destroy());
  },
  '/large-headers': (_request, response) => response.setHeader('x-large', 'a'.repeat(20_000)).end(),
  '/endless': (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'a')));
    };
    response.on('drain', more);
    more();
  },
};
const encoded: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};
for (const [name, pack] of Object.entries(encoded)) {
  routes[`/packed-${name}`] = (_request, response) =>
    response.setHeader('content-encoding', name).end(pack(Buffer.from('packed')));
  const bomb = pack(Buffer.alloc(50_000_000));
  routes[`/bomb-${name}`] = (_request, response) => response.setHeader('content-encoding', name).end(bomb);
}
routes['/cut-gzip'] = (_request, response) =>
  response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(99)).subarray(0, 20));
routes['/no-gzip'] = (_request, response) => response.setHeader('content-encoding', 'gzip').end('plain');
routes['/unknown-encoding'] = (_request, response) => response.setHeader('content-encoding', 'zstd').end('?');
routes['/in-pieces'] = (_request, response) => {
  const pieces = Buffer.from('1\r\na\r\n'.repeat(10_000));
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  let left = 100;
  const more = () => {
    while (left > 0 && !socket?.destroyed) {
      left -= 1;
      if (!socket?.write(pieces)) return;
    }
    socket?.end('0\r\n\r\n');
  };
  socket?.on('drain', more);
  more();
};
routes['/gzip-of-nothing'] = (_request, response) => {
  response.setHeader('content-encoding', 'gzip');
  const nothing = Buffer.concat(Array.from({ length: 1_000 }, () => gzipSync('')));
  const more = () => {
    while (!response.destroyed && response.write(nothing));
  };
  response.on('drain', more);
  more();
};

const site = await startHttpServer((request, response) => {
  const route = routes[new URL(request.url ?? '/', 'http://site.test').pathname];
  if (route) route(request, response);
  else response.writeHead(500).end();
});
const other = await startHttpServer((request, response) => response.end(JSON.stringify(request.headers)));
afterAll(() => Promise.all([site.close(), other.close()]));

const policy: OutboundPolicy = {
  reach: 'public',
  httpsOnly: false,
  allowHosts: [site, other].map(({ port }) => ({ host: '127.0.0.1', port })),
};
const get = (path: string, request: Partial<OutboundRequest> = {}) =>
  guardedFetch(path.startsWith('/') ? `${site.origin}${path}` : path, policy, {
    maxBytes: 100_000,
    timeoutMs: 20_000,
    ...request,
  });

interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}
const echoOf = ({ body }: { body: Buffer }) => JSON.parse(body.toString()) as Echo;

describe('an answer', () => {
  it('has status, headers, address and body for any status', async () => {
    const answer = await get('/hello#part');
    expect(answer).toMatchObject({ status: 200, headers: { 'x-answer': '42' }, body: Buffer.from('hello') });
    expect(answer.url.href).toBe(`${site.origin}/hello`);
    expect(await get('/reasoned')).toMatchObject({ status: 401, statusText: 'permission check failed (/, Sys.Audit)' });
    expect(await get('/missing')).toMatchObject({ status: 404, body: Buffer.from('not here') });
    expect(await get('/none')).toMatchObject({ status: 204, body: Buffer.alloc(0) });
    expect(await get('/no-location')).toMatchObject({ status: 302, body: Buffer.from('stays') });
    expect(await get('/packed-gzip', { method: 'HEAD' })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });

  it.each(Object.keys(encoded))('is decompressed from %s', async (name) => {
    expect((await get(`/packed-${name}`)).body.toString()).toBe('packed');
  });

  it('comes over its own connection', async () => {
    const before = site.connections();
    await get('/hello');
    await get('/hello');
    expect(site.connections() - before).toBe(2);
  });
});

describe('a request', () => {
  it('carries method, headers and body, and the real Host header', async () => {
    const echo = echoOf(
      await get('/echo?q=1', {
        method: 'REPORT',
        body: '<xml/>',
        headers: { depth: '1', host: 'evil.test', 'accept-encoding': 'zstd' },
      }),
    );
    expect(echo).toMatchObject({ method: 'REPORT', url: '/echo?q=1', body: '<xml/>' });
    expect(echo.headers).toMatchObject({
      depth: '1',
      host: `127.0.0.1:${site.port}`,
      'user-agent': 'Portal',
      'accept-encoding': 'gzip, deflate, br',
    });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [301, 'PROPFIND', 'PROPFIND', 'body'],
    [302, 'REPORT', 'REPORT', 'body'],
    [302, 'PUT', 'PUT', 'body'],
    [303, 'PUT', 'GET', ''],
    [303, 'PROPFIND', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'POST', 'POST', 'body'],
    [308, 'REPORT', 'REPORT', 'body'],
  ])('follows a redirect %i of %s with %s', async (status, method, then, body) => {
    const answer = await get(`/to-echo?status=${status}`, {
      method,
      body: 'body',
      headers: { authorization: 'Basic x' },
    });
    expect(echoOf(answer)).toMatchObject({
      method: then,
      url: '/echo?a=%C3%BC',
      body,
      headers: { authorization: 'Basic x' },
    });
    expect(answer.url.pathname).toBe('/echo');
  });

  it('answers a redirect if none may be followed', async () => {
    const answer = await get('/zero', { redirects: 'answer' });
    expect(answer).toMatchObject({ status: 302, statusText: 'Found', headers: { location: '/hello' } });
    expect(answer.url.pathname).toBe('/zero');
    expect(await get('/nowhere', { redirects: 'answer' })).toMatchObject({ status: 302 });
  });

  it('does not send its headers to another origin', async () => {
    const { body } = await get('/elsewhere', { headers: { authorization: 'Basic x', cookie: 'a=b' } });
    expect(JSON.parse(body.toString())).not.toHaveProperty('authorization');
    expect(JSON.parse(body.toString())).not.toHaveProperty('cookie');
  });

  it('follows three redirects and no more', async () => {
    expect((await get('/two')).body.toString()).toBe('hello');
    await expect(get('/three')).rejects.toMatchObject({
      reason: 'redirects',
      kind: 'upstream',
      code: 'OUTBOUND_REDIRECTS',
    });
    await expect(get('/round')).rejects.toMatchObject({ reason: 'redirects' });
  });

  it('uses only https if the policy demands it', async () => {
    await expect(
      guardedFetch(`${site.origin}/hello`, { ...policy, httpsOnly: true }, { maxBytes: 1, timeoutMs: 20_000 }),
    ).rejects.toMatchObject({ reason: 'blocked', kind: 'invalid' });
  });

  it('ignores proxy settings in the environment', async () => {
    process.env['HTTP_PROXY'] = process.env['http_proxy'] = 'http://127.0.0.1:1';
    process.env['NODE_USE_ENV_PROXY'] = '1';
    try {
      expect((await get('/hello')).status).toBe(200);
    } finally {
      for (const name of ['HTTP_PROXY', 'http_proxy', 'NODE_USE_ENV_PROXY']) delete process.env[name];
    }
  });
});

describe('a body', () => {
  it('has a size limit, which applies after decompression', async () => {
    expect((await get('/hello', { maxBytes: 5 })).body.toString()).toBe('hello');
    await expect(get('/hello', { maxBytes: 4 })).rejects.toMatchObject({ reason: 'too_large' });
    await expect(get('/endless')).rejects.toMatchObject({ reason: 'too_large' });
    for (const name of Object.keys(encoded))
      await expect(get(`/bomb-${name}`)).rejects.toMatchObject({ reason: 'too_large' });
  });

  it('of a million pieces is collected in one buffer', async () => {
    const { body } = await get('/in-pieces', { maxBytes: 2_000_000 });
    expect(body.equals(Buffer.alloc(1_000_000, 'a'))).toBe(true);
    expect(body.buffer.byteLength).toBeLessThanOrEqual(2_000_000);
  });

  it('that decompresses to nothing still ends', async () => {
    await expect(get('/gzip-of-nothing')).rejects.toMatchObject({ reason: 'too_large' });
  });

  it('is cut if its beginning is enough', async () => {
    expect((await get('/hello', { maxBytes: 4, overflow: 'cut' })).body.toString()).toBe('hell');
    expect((await get('/endless', { overflow: 'cut' })).body).toEqual(Buffer.alloc(100_000, 'a'));
    for (const name of Object.keys(encoded))
      expect((await get(`/bomb-${name}`, { overflow: 'cut' })).body).toEqual(Buffer.alloc(100_000));
  });
});

describe('a failure', () => {
  it.each([
    ['an answer that cannot be read', { 'content-encoding': 'zstd' }],
    ['a redirect to an invalid address', { location: 'http://[' }],
    ['a redirect to a blocked address', { location: 'http://10.0.0.1/' }],
  ])('ends the connection: %s', async (_name, headers) => {
    const closed = Promise.withResolvers<void>();
    routes['/hangs'] = (request, response) => {
      request.socket.on('close', () => closed.resolve());
      response.writeHead('location' in headers ? 302 : 200, headers).write('more follows');
    };
    await expect(get('/hangs')).rejects.toMatchObject({ name: 'OutboundError' });
    await closed.promise;
  });

  it.each([
    ['/drops', 'unreachable'],
    ['/breaks-off', 'unreachable'],
    ['/large-headers', 'malformed'],
    ['/nowhere', 'malformed'],
    ['/cut-gzip', 'malformed'],
    ['/no-gzip', 'malformed'],
    ['/unknown-encoding', 'malformed'],
  ])('of %s is %s, and its message names only the host', async (path, reason) => {
    await expect(get(path)).rejects.toMatchObject({
      name: 'OutboundError',
      reason,
      kind: 'upstream',
      message: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:${site.port} [a-z ]+\\.$`)),
    });
  });

  it.each(['/silent', '/slow-body'])('of %s is a timeout', async (path) => {
    await expect(get(path, { timeoutMs: 300 })).rejects.toMatchObject({ reason: 'timeout', code: 'OUTBOUND_TIMEOUT' });
  });

  it.each([{ timeoutMs: 300 }, { timeoutMs: 60_000, connectTimeoutMs: 300 }])(
    'of a connection that is never established is unreachable: %j',
    async (limits) => {
      // Accepts TCP connections and never starts TLS.
      const server = createServer((socket) => void socket.on('error', () => undefined));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const allowed: OutboundPolicy = { ...policy, reach: 'private' };
      await expect(
        guardedFetch(`https://127.0.0.1:${port}/`, allowed, { maxBytes: 1, ...limits }),
      ).rejects.toMatchObject({ reason: 'unreachable' });
      server.close();
    },
  );

  it('of a connected but slow server is a timeout, not unreachable', async () => {
    await expect(get('/silent', { timeoutMs: 500, connectTimeoutMs: 200 })).rejects.toMatchObject({
      reason: 'timeout',
    });
  });

  it('of a silent name server is unreachable', async () => {
    const resolve: OutboundPolicy['resolve'] = () => new Promise(() => undefined);
    await expect(
      guardedFetch('http://silent.test/', { ...policy, resolve }, { maxBytes: 1, timeoutMs: 100 }),
    ).rejects.toMatchObject({ reason: 'unreachable' });
  });

  it('of a name without an address is unreachable', async () => {
    const dns = await startDnsServer({ 'empty.test': () => ({ addresses: [] }) });
    for (const host of ['empty.test', 'unknown.test']) {
      await expect(
        guardedFetch(
          `http://${host}/`,
          { ...policy, resolve: resolveByDns([dns.server]) },
          { maxBytes: 1, timeoutMs: 20_000 },
        ),
      ).rejects.toMatchObject({ reason: 'unreachable' });
    }
    await dns.close();
  });

  it('after an abort is the reason of the caller', async () => {
    const controller = new AbortController();
    const answer = get('/silent', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await expect(get('/hello', { signal: AbortSignal.abort(new Error('never mind')) })).rejects.toThrow('never mind');
  });

  it('of a server with another protocol is malformed', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.end('SSH-2.0-OpenSSH_9.2\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await expect(
      guardedFetch(
        `http://127.0.0.1:${port}/`,
        { ...policy, allowHosts: [{ host: '127.0.0.1', port }] },
        { maxBytes: 1, timeoutMs: 20_000 },
      ),
    ).rejects.toMatchObject({ reason: 'malformed' });
    server.close();
  });

  it('of an untrusted certificate is `certificate`; the TLS server name is the host of the address', async () => {
    const fixture = (name: string) =>
      readFileSync(new URL(`../../../testing/src/servers/mail-fixtures/${name}`, import.meta.url));
    const names: string[] = [];
    const server = createTlsServer({
      key: fixture('key.pem'),
      cert: fixture('localhost.pem'),
      SNICallback(name, done) {
        names.push(name);
        done(null);
      },
    });
    server.on('connection', (socket) => socket.on('error', () => undefined));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const dns = await startDnsServer({ 'secure.test': () => ({ addresses: ['127.0.0.1'] }) });
    const failure: unknown = await guardedFetch(
      `https://secure.test.:${port}/`,
      {
        reach: 'public',
        httpsOnly: true,
        allowHosts: [{ host: 'secure.test', port: null }],
        resolve: resolveByDns([dns.server]),
      },
      { maxBytes: 1, timeoutMs: 20_000 },
    ).catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: 'certificate' });
    expect(names).toEqual(['secure.test']);
    server.close();
    await dns.close();
  });
});
