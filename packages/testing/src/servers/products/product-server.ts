import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerKind } from '@portal/domain/monitoring/servers';
import { type ServerCertificate, serverCertificatePem, serverKeyPem } from '../tls.ts';

/** The answer of a path: the `data` of a success, or a refusal in the product's words. */
export type ProductAnswer = { data: unknown } | { status: number; reason?: string; body?: string };

/** Answers a path below the root with its query; undefined for an unknown path. */
export type ProductAnswers = (path: string, query: URLSearchParams, now: number) => ProductAnswer | undefined;

export interface ProductCall {
  method: string;
  /** Path below the root of the interface, without query. */
  path: string;
  query: string;
  authorization: string | null;
  cookie: string | null;
  status: number;
}

export interface ProductServer {
  kind: ServerKind;
  address: string;
  port: number;
  /** Its answers; tests may replace them at any time. */
  answers: ProductAnswers;
  /** The accounts that may sign in. */
  accounts: { token: { id: string; secret: string }; username: string; password: string };
  /** Peculiarity of the sign-in answer. */
  signIn: 'plain' | 'second-factor' | 'cookie' | 'no-ticket' | 'nonsense';
  /** How far its clock is ahead, milliseconds; tickets expire by this clock. */
  clockMs: number;
  /** Delay of a refused sign-in; the real products take three seconds. */
  refusalMs: number;
  /** Delay of every answer. */
  latencyMs: number;
  /** Handles a call before the server does; true if it has answered the call. */
  intercept: ((path: string, request: IncomingMessage, response: ServerResponse) => boolean) | null;
  calls: ProductCall[];
  /** Number of encrypted connections so far. */
  connections(): number;
  /** Ends every connection and accepts no new one. */
  switchOff(): Promise<void>;
  switchOn(): Promise<void>;
}

const root = '/api2/json';
const ticketLivesMs = 2 * 60 * 60_000 - 5 * 60_000;

interface Wording {
  tokenPrefix: string | null;
  separator: string;
  ticketPrefix: string;
  cookies: string[];
  unknownPath: (
    method: string,
    path: string,
  ) => Required<Omit<Extract<ProductAnswer, { status: number }>, 'body'>> & { body: string };
  badTicket: { reason: string; body: string };
  nothingSent: { reason: string; body: string };
  badPassword: { reason: string; body: string };
}

const json = (message: string): string => JSON.stringify({ data: null, message: `${message}\n` });
const perl = (tokenPrefix: string | null, ticketPrefix: string): Wording => ({
  tokenPrefix,
  separator: '=',
  ticketPrefix,
  cookies: [`${ticketPrefix}AuthCookie`],
  unknownPath: (method, path) => ({ status: 501, reason: `Method '${method} ${path}' not implemented`, body: '' }),
  badTicket: {
    reason: tokenPrefix === null ? 'permission denied - invalid PMG ticket' : 'Authentication failed!',
    body: '',
  },
  nothingSent: { reason: 'No ticket', body: '' },
  badPassword: { reason: 'authentication failure', body: json('authentication failure') },
});

const wordings: Record<ServerKind, Wording> = {
  virtualization: perl('PVEAPIToken', 'PVE'),
  'mail-gateway': perl(null, 'PMG'),
  backup: {
    tokenPrefix: 'PBSAPIToken',
    separator: ':',
    ticketPrefix: 'PBS',
    cookies: ['__Host-PBSAuthCookie', 'PBSAuthCookie'],
    unknownPath: (_method, path) => ({ status: 404, reason: 'Not Found', body: `Path '${root}${path}' not found.` }),
    badTicket: { reason: 'Unauthorized', body: 'authentication failed' },
    nothingSent: { reason: 'Unauthorized', body: 'authentication failed' },
    badPassword: { reason: 'Unauthorized', body: 'permission check failed.' },
  },
};

export interface ProductOptions {
  /** Another loopback address is another host for the limits of polls; no certificate names it. */
  host?: string;
  port?: number;
  certificate?: ServerCertificate;
}

/** Starts a server of a monitored product over TLS on a loopback address that signs in, refuses and answers as the product does. */
export async function startProductServer(
  kind: ServerKind,
  answers: ProductAnswers,
  { host, port = 0, certificate = 'localhost' }: ProductOptions = {},
): Promise<ProductServer> {
  const wording = wordings[kind];
  const realm = { virtualization: 'pve', backup: 'pbs', 'mail-gateway': 'pmg' }[kind];
  const tickets = new Map<string, number>();
  const sockets = new Set<Socket>();
  let connections = 0;

  const http = createServer(
    { key: serverKeyPem, cert: serverCertificatePem(certificate), keepAliveTimeout: 5_000 },
    (request, response) => {
      answer(request, response).catch(() => response.destroy());
    },
  );
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  http.on('secureConnection', () => (connections += 1));
  http.on('tlsClientError', () => undefined);

  const server: ProductServer = {
    kind,
    address: '',
    port: 0,
    answers,
    accounts: {
      token: { id: `portal@${realm}!monitoring`, secret: '5f1f2c6e-9d2b-4c58-8d3e-000000000001' },
      username: `portal@${realm}`,
      password: 'seven calm otters',
    },
    signIn: 'plain',
    clockMs: 0,
    refusalMs: 0,
    latencyMs: 0,
    intercept: null,
    calls: [],
    connections: () => connections,
    async switchOff() {
      const closed = http.listening ? once(http, 'close') : null;
      http.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async switchOn() {
      http.listen(server.port, host ?? '127.0.0.1');
      await once(http, 'listening');
      server.port = (http.address() as AddressInfo).port;
      server.address = `https://${host ?? 'localhost'}:${server.port}`;
    },
  };
  server.port = port;
  await server.switchOn();
  return server;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://localhost');
    const path = url.pathname.startsWith(root) ? url.pathname.slice(root.length) : url.pathname;
    const call: ProductCall = {
      method: request.method ?? '',
      path,
      query: url.search,
      authorization: request.headers.authorization ?? null,
      cookie: request.headers.cookie ?? null,
      status: 0,
    };
    server.calls.push(call);
    response.on('close', () => (call.status = response.statusCode));
    if (server.intercept?.(path, request, response)) return;
    const body = await bodyOf(request);
    if (server.latencyMs > 0) await pause(server.latencyMs);
    const refuse = async ({ status = 401, reason = '', body: text = '' }) => {
      if (status === 401 && server.refusalMs > 0) await pause(server.refusalMs);
      response.statusMessage = reason;
      // As in the products, errors close the connection and label any text as JSON.
      response.writeHead(status, { connection: 'close', 'content-type': 'application/json' }).end(text);
    };
    if (!url.pathname.startsWith(root)) return refuse(wording.unknownPath(call.method, path));
    if (path === '/access/ticket' && call.method === 'POST') return signIn(request, body, response, refuse);
    const refusal = refusalOf(call);
    if (refusal) return refuse(refusal);
    const answered =
      call.method === 'GET' ? server.answers(path, url.searchParams, Math.floor(now() / 1_000)) : undefined;
    if (!answered) return refuse(wording.unknownPath(call.method, path));
    if ('status' in answered) return refuse(answered);
    response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8' }).end(JSON.stringify(answered));
  }

  function now(): number {
    return Date.now() + server.clockMs;
  }

  /** Null for a signed-in caller. */
  function refusalOf({ authorization, cookie }: ProductCall): { reason: string; body: string } | null {
    const sent = (cookie ?? '').split(/;\s*/).map((one) => one.split('='));
    for (const name of wording.cookies) {
      const value = sent.find(([key]) => key === name)?.[1];
      if (value === undefined) continue;
      // A cookie takes precedence over a token.
      const issued = tickets.get(decodeURIComponent(value));
      return issued !== undefined && now() - issued < ticketLivesMs ? null : wording.badTicket;
    }
    if (authorization === null) return wording.nothingSent;
    if (kind === 'mail-gateway')
      return authorization.startsWith('PVEAPIToken')
        ? { reason: 'API tokens not implemented', body: '' }
        : wording.nothingSent;
    const { id, secret } = server.accounts.token;
    const right = ['=', ' '].map((space) => `${wording.tokenPrefix}${space}${id}${wording.separator}${secret}`);
    return right.includes(authorization) ? null : wording.badTicket;
  }

  async function signIn(
    request: IncomingMessage,
    body: string,
    response: ServerResponse,
    refuse: (answer: { reason: string; body: string }) => Promise<void>,
  ): Promise<void> {
    const isJson = request.headers['content-type']?.includes('json');
    const sent = isJson ? (JSON.parse(body) as Record<string, string>) : Object.fromEntries(new URLSearchParams(body));
    const { username, password } = server.accounts;
    if (sent['username'] !== username || sent['password'] !== password) return refuse(wording.badPassword);
    const half = server.signIn === 'second-factor' ? '!tfa!' : `${username}:`;
    const ticket = `${wording.ticketPrefix}:${half}${Math.floor(now() / 1_000).toString(16)}::${randomBytes(24).toString('base64')}`;
    if (server.signIn !== 'second-factor') tickets.set(ticket, now());
    const data: Record<string, unknown> = {
      username,
      ticket,
      CSRFPreventionToken: `${randomBytes(4).toString('hex')}:x`,
    };
    if (server.signIn === 'second-factor')
      Object.assign(data, kind === 'backup' ? { CSRFPreventionToken: 'invalid' } : { NeedTFA: 1 });
    if (['cookie', 'no-ticket', 'nonsense'].includes(server.signIn)) delete data['ticket'];
    if (server.signIn === 'nonsense') delete data['username'];
    if (server.signIn === 'cookie')
      response.setHeader('set-cookie', `${wording.cookies[0]}=${encodeURIComponent(ticket)}; Path=/; Secure; HttpOnly`);
    response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8' }).end(JSON.stringify({ data }));
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
