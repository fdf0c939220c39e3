import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { ServerKind } from '@portal/domain/monitoring/servers';
import { Secret } from '@portal/domain/secret';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { caCertificatePem, otherCaCertificatePem, type ServerCertificate } from '@portal/testing/servers/tls';
import { the } from '@portal/testing/the';
import { type MonitoredServer, openServer, type TicketSlot } from './server-session.ts';

const start: Record<ServerKind, (certificate?: ServerCertificate) => Promise<ProductServer>> = {
  virtualization: (certificate) => startVirtualizationServer(undefined, certificate && { certificate }),
  backup: (certificate) => startBackupServer(undefined, certificate && { certificate }),
  'mail-gateway': (certificate) => startMailGatewayServer(undefined, certificate && { certificate }),
};
const started: ProductServer[] = [];
afterAll(() => Promise.all(started.map((server) => server.switchOff())));
async function startServer(kind: ServerKind, certificate?: ServerCertificate): Promise<ProductServer> {
  const server = await start[kind](certificate);
  started.push(server);
  return server;
}

const trust = { caCertificatePem, skipTlsVerify: false };
const policy = { reach: 'private', allowHosts: [] } as const;
const byPassword = (server: ProductServer, more: Partial<MonitoredServer> = {}): MonitoredServer => ({
  kind: server.kind,
  address: server.address,
  login: { method: 'password', username: server.accounts.username, secret: new Secret(server.accounts.password) },
  trust,
  policy,
  ...more,
});
const byToken = (server: ProductServer, token = server.accounts.token): MonitoredServer =>
  byPassword(server, { login: { method: 'token', id: token.id, secret: new Secret(token.secret) } });

async function asked(server: MonitoredServer, path = '/version', tickets?: TicketSlot) {
  using session = openServer(server, tickets && { tickets });
  return session.row(path, { timeoutMs: 2_000 }).then(
    (row) => ({ row }),
    (error: { failure?: string; message: string }) => ({ failure: error.failure, message: error.message }),
  );
}
const signIns = ({ calls }: ProductServer) => calls.filter(({ path }) => path === '/access/ticket').length;
const gets = ({ calls }: ProductServer) => calls.filter(({ method }) => method === 'GET').length;

describe('a token', () => {
  it.each(['virtualization', 'backup'] as const)('signs in to a %s server in the form it knows', async (kind) => {
    const server = await startServer(kind);
    expect(await asked(byToken(server))).toMatchObject({ row: { version: expect.any(String) } });
    expect(signIns(server)).toBe(0);
    const { id, secret } = server.accounts.token;
    expect(server.calls[0]?.authorization).toBe(
      kind === 'virtualization' ? `PVEAPIToken=${id}=${secret}` : `PBSAPIToken=${id}:${secret}`,
    );
    expect(server.calls[0]?.cookie).toBe(null);
  });

  it.each(['virtualization', 'backup'] as const)('refused by a %s server is tried once a run', async (kind) => {
    const server = await startServer(kind);
    const wrong = byToken(server, { id: server.accounts.token.id, secret: 'not-this-one' });
    using session = openServer(wrong);
    for (let n = 0; n < 3; n += 1)
      await expect(session.row('/version')).rejects.toMatchObject({
        failure: 'zugang',
        message: expect.stringMatching(/refused the sign-in: 401 (Authentication failed!|authentication failed)/),
      });
    expect(server.calls).toHaveLength(1);
  });

  it('is not supported by mail gateways', async () => {
    const server = await startServer('mail-gateway');
    expect(await asked(byToken(server))).toMatchObject({ failure: 'zugang' });
    expect(server.calls).toHaveLength(0);
  });
});

describe.each(['virtualization', 'backup', 'mail-gateway'] as const)('a password of a %s server', (kind) => {
  it('gives a ticket that later runs and parallel calls share', async () => {
    const server = await startServer(kind);
    const tickets: TicketSlot = { ticket: null };
    {
      using session = openServer(byPassword(server), { tickets });
      await Promise.all(Array.from({ length: 5 }, () => session.row('/version')));
    }
    await asked(byPassword(server), '/version', tickets);
    expect([signIns(server), gets(server), server.connections()]).toEqual([1, 6, 2]);
    expect(server.calls.every(({ authorization }) => authorization === null)).toBe(true);
  });

  it('is sent once more when the ticket has expired, even with parallel calls', async () => {
    const server = await startServer(kind);
    const tickets: TicketSlot = { ticket: null };
    await asked(byPassword(server), '/version', tickets);
    server.clockMs = 2 * 60 * 60_000 + 1_000;
    using session = openServer(byPassword(server), { tickets });
    await Promise.all(Array.from({ length: 3 }, () => session.row('/version')));
    expect(signIns(server)).toBe(2);
  });

  it('is not sent again when a new ticket is refused as well', async () => {
    const server = await startServer(kind);
    const tickets: TicketSlot = { ticket: null };
    await asked(byPassword(server), '/version', tickets);
    server.intercept = (path, _request, response) =>
      path !== '/access/ticket' && Boolean(response.writeHead(401, { connection: 'close' }).end());
    using session = openServer(byPassword(server), { tickets });
    for (let n = 0; n < 3; n += 1) await expect(session.row('/version')).rejects.toMatchObject({ failure: 'zugang' });
    expect([signIns(server), gets(server)]).toEqual([2, 3]);
    expect(tickets.ticket).toBe(null);
  });

  it('is sent again before its ticket expires', async () => {
    const server = await startServer(kind);
    const tickets: TicketSlot = { ticket: null };
    await asked(byPassword(server), '/version', tickets);
    if (tickets.ticket) tickets.ticket = { ...tickets.ticket, signedInAt: Date.now() - 91 * 60_000 };
    expect(await asked(byPassword(server), '/version', tickets)).toHaveProperty('row');
    expect(signIns(server)).toBe(2);
    expect(server.calls.some(({ status }) => status === 401)).toBe(false);
  });

  it('that is wrong is sent once a run', async () => {
    const server = await startServer(kind);
    const { username } = server.accounts;
    const wrong = byPassword(server, { login: { method: 'password', username, secret: new Secret('wrong otters') } });
    using session = openServer(wrong);
    for (let n = 0; n < 3; n += 1) await expect(session.row('/version')).rejects.toMatchObject({ failure: 'zugang' });
    expect([signIns(server), gets(server)]).toEqual([1, 0]);
  });

  it('of an account with a second factor is sent once a run, with a hint what to do', async () => {
    const server = await startServer(kind);
    server.signIn = 'second-factor';
    using session = openServer(byPassword(server));
    for (let n = 0; n < 3; n += 1)
      await expect(session.row('/version')).rejects.toMatchObject({
        failure: 'zugang',
        message: expect.stringContaining('second factor'),
      });
    expect([signIns(server), gets(server)]).toEqual([1, 0]);
  });

  it.each([
    ['cookie', undefined],
    ['no-ticket', 'zugang'],
    ['nonsense', 'antwortform'],
  ] as const)('answered with a %s', async (signIn, failure) => {
    const server = await startServer(kind);
    server.signIn = signIn;
    const answer = await asked(byPassword(server));
    if (failure === undefined) expect(answer).toHaveProperty('row');
    else expect(answer).toMatchObject({ failure });
  });

  it('waits the three seconds a refusal takes', async () => {
    const server = await startServer(kind);
    server.refusalMs = 3_000;
    const { username } = server.accounts;
    const wrong = byPassword(server, { login: { method: 'password', username, secret: new Secret('wrong otters') } });
    using session = openServer(wrong);
    await expect(session.row('/version')).rejects.toMatchObject({ failure: 'zugang' });
  });
});

const virtualization = await startVirtualizationServer();
started.push(virtualization);
const backup = await startServer('backup');

describe('an answer', () => {
  const reply =
    (status: number, body: string | Buffer = '', headers: Record<string, string> = {}) =>
    (response: ServerResponse) => {
      response.writeHead(status, { connection: 'close', ...headers }).end(body);
    };
  const page = '<html><body><h1>Sign in</h1></body></html>';
  it.each<[what: string, reply: (response: ServerResponse) => void, failure: string]>([
    ['401', reply(401), 'zugang'],
    ['403', reply(403, '{"data":null,"message":"Permission check failed (/, Sys.Audit)\\n"}'), 'rechte'],
    ['404', reply(404, "Path '/api2/json/nope' not found.", { 'content-type': 'application/json' }), 'antwortform'],
    ['501', reply(501), 'antwortform'],
    ['400', reply(400, '{"data":null,"errors":{"limit":"type check"}}'), 'antwortform'],
    ['a redirect', reply(302, '', { location: 'https://localhost/login' }), 'antwortform'],
    ['429', reply(429), 'server'],
    ['500', reply(500, '{"data":null,"message":"boom"}'), 'server'],
    ['a page of a proxy with 502', reply(502, page), 'server'],
    ['595', reply(595), 'server'],
    ['a page', reply(200, page, { 'content-type': 'application/json' }), 'antwortform'],
    ['JSON of another kind', reply(200, 'null'), 'antwortform'],
    ['JSON without data', reply(200, '{"success":1}'), 'antwortform'],
    ['data of another kind', reply(200, '{"data":"ready"}'), 'antwortform'],
    ['data that is null', reply(200, '{"data":null}'), 'antwortform'],
    ['truncated JSON', reply(200, '{"data":{"version":"9.'), 'antwortform'],
    ['JSON a million deep', reply(200, `{"data":${'['.repeat(1_000_000)}`), 'antwortform'],
    ['20 MB', reply(200, Buffer.alloc(20_000_000, 32)), 'antwortform'],
    [
      '20 MB, compressed',
      reply(200, gzipSync(Buffer.alloc(20_000_000, 32)), { 'content-encoding': 'gzip' }),
      'antwortform',
    ],
    ['invalid gzip', reply(200, '{"data":{}}', { 'content-encoding': 'gzip' }), 'antwortform'],
    [
      'an endless header',
      (response) => void response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`),
      'antwortform',
    ],
    ['another protocol', (response) => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'), 'antwortform'],
    [
      'a reset after the headers',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{');
        setTimeout(() => response.socket?.destroy(), 20);
      },
      'netz',
    ],
    [
      'one byte at a time',
      (response) => {
        response.writeHead(200).write('{');
        const timer = setInterval(() => response.write(' '), 100);
        response.on('close', () => clearInterval(timer));
      },
      'netz',
    ],
    ['millions of empty objects', reply(200, `{"data":[${'{},'.repeat(2_000_000)}{}]}`), 'antwortform'],
    ['silence', () => undefined, 'netz'],
  ])('of %s always becomes a ServerFailure of its class', async (_, answer, failure) => {
    virtualization.intercept = (_path, _request, response) => {
      answer(response);
      return true;
    };
    expect(await asked(byToken(virtualization))).toEqual({ failure, message: expect.any(String) });
    virtualization.intercept = null;
  });

  it('is read with any content type and compression', async () => {
    virtualization.intercept = (_path, _request, response) =>
      Boolean(
        reply(200, gzipSync('{"data":{"version":"9.2"}}'), { 'content-type': 'text/html', 'content-encoding': 'gzip' })(
          response,
        ),
      ) || true;
    expect(await asked(byToken(virtualization))).toEqual({ row: { version: '9.2' } });
    virtualization.intercept = null;
  });

  it('quotes the reason of the server', async () => {
    expect(await asked(byToken(virtualization), '/nope')).toMatchObject({
      failure: 'antwortform',
      message: expect.stringContaining("501 Method 'GET /nope' not implemented"),
    });
    expect(await asked(byToken(backup), '/nope')).toMatchObject({
      failure: 'antwortform',
      message: expect.stringContaining("404 Path '/api2/json/nope' not found."),
    });
    the(virtualization.cluster.nodes[2]).online = false;
    expect(await asked(byToken(virtualization), '/nodes/pve3/status')).toMatchObject({
      failure: 'server',
      message: expect.stringContaining('595 No route to host'),
    });
  });

  it('is quoted in one line of at most 200 characters, without secrets', async () => {
    const { username, password } = virtualization.accounts;
    const tickets: TicketSlot = { ticket: null };
    await asked(byPassword(virtualization), '/version', tickets);
    const ticket = decodeURIComponent(the(the(tickets.ticket).cookie.split('=', 2)[1]));
    for (const text of [
      JSON.stringify({ data: null, message: `${username} ${password} ${ticket}` }),
      `${'x'.repeat(190)}${password}`,
      `a\u0000\r\n\u202eb ${encodeURIComponent(ticket)} ${'y'.repeat(5_000)}`,
    ]) {
      virtualization.intercept = (_path, _request, response) =>
        Boolean(response.writeHead(500, { connection: 'close' }).end(text)) || true;
      const { message = '' } = (await asked(byPassword(virtualization), '/version', tickets)) as { message?: string };
      expect(message.length).toBeLessThan(300);
      expect(message).not.toMatch(/[\p{Cc}\u202e]|otters|seven/u);
      expect(message).not.toContain(ticket.slice(-20));
    }
    virtualization.intercept = null;
  });
});

describe('a sign-in answered with', () => {
  const answering = async (data: unknown, headers: Record<string, string> = {}) => {
    const server = await startServer('virtualization');
    server.intercept = (path, _request, response) => {
      if (path.endsWith('/access/ticket')) response.writeHead(200, headers).end(JSON.stringify({ data }));
      else response.writeHead(403, { connection: 'close' }).end();
      return true;
    };
    return asked(byPassword(server));
  };

  it.each([5_000, 100_000])('a ticket of %i characters fails', async (length) => {
    expect(await answering({ ticket: '/'.repeat(length) })).toMatchObject({
      failure: 'antwortform',
      message: expect.stringContaining(
        length > 64 * 1024 ? 'larger answer than the portal accepts' : `${length} characters`,
      ),
    });
  });

  it.each([
    ['a ticket', { ticket: 'PVE:\ud800' }, {}],
    ['a cookie', {}, { 'set-cookie': 'PVEAuthCookie=%zz' }],
  ])('%s that is not well-formed fails like any other refusal', async (_, data, headers) => {
    expect(await answering(data, headers)).toEqual({ failure: 'rechte', message: expect.stringContaining('403') });
  });
});

describe('a server without a valid certificate', () => {
  it.each<[certificate: ServerCertificate, ca: string | null]>([
    ['self-signed', null],
    ['self-signed', caCertificatePem],
    ['localhost', null],
    ['localhost', otherCaCertificatePem],
    ['expired', caCertificatePem],
    ['elsewhere', caCertificatePem],
  ])('with the certificate %s is refused, but accepted without the check', async (certificate, ca) => {
    const server = await startServer('virtualization', certificate);
    const strict = { ...byToken(server), trust: { caCertificatePem: ca, skipTlsVerify: false } };
    expect(await asked(strict)).toMatchObject({ failure: 'zertifikat' });
    expect(server.calls).toHaveLength(0);
    expect(await asked({ ...strict, trust: { caCertificatePem: ca, skipTlsVerify: true } })).toHaveProperty('row');
  });
});

describe('an unreachable server', () => {
  const at = (address: string) => asked({ ...byToken(virtualization), address });
  it('is a network failure that says what is wrong', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    expect(await at(`https://localhost:${port}`)).toMatchObject({
      failure: 'netz',
      message: expect.stringContaining('refuses connections'),
    });
    expect(await at('https://nowhere.invalid:8006')).toMatchObject({
      failure: 'netz',
      message: expect.stringContaining('no address'),
    });
    expect(await at('https://169.254.169.254:80')).toMatchObject({
      failure: 'netz',
      message: expect.stringContaining('may call'),
    });
    const plain = await startHttpServer((_request, response) => response.end('{"data":{}}'));
    expect(await at(`https://localhost:${plain.port}`)).toMatchObject({
      failure: 'netz',
      message: expect.stringContaining('TLS'),
    });
    await plain.close();
  });
});
