import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { busy, type PortalError, unavailable } from '@portal/domain/errors';
import type { Metrics } from '@portal/platform/metrics';
import type { App } from '../zod-app.ts';
import { addressOf } from './client-address.ts';

const MiB = 1024 * 1024;
const overloaded = () => unavailable('The service is overloaded right now. Please try again in a few seconds.');
const tooMany = (what: string) => () => busy(`Too many ${what} are in progress. Please wait for their answers.`, 2);

/** Limits of concurrent load: requests until the caller has read the answer, and bytes of bodies and answers in memory. */
const bounds = {
  /** Pipelined requests of one connection. Browsers do not pipeline; beyond the limit the server closes the connection. */
  pipeline: { requests: 32, bytes: Number.POSITIVE_INFINITY, refusal: overloaded },
  /** A browser sends 6 to 10 requests at once for each of a few tabs; a whole office may share one address. */
  account: { requests: 48, bytes: 32 * MiB, refusal: tooMany('of your requests') },
  address: { requests: 256, bytes: 64 * MiB, refusal: tooMany('requests from your address') },
  process: { requests: 512, bytes: 96 * MiB, refusal: overloaded },
  /** Health checks: a busy process must not fail them, and a flood of them must not block other requests. */
  watch: { requests: 1_000, bytes: MiB, refusal: overloaded },
};
const healthPaths = new Set(['/health', '/health/ready', '/health/version']);
const maxConnections = 2_000;
/** Smaller answers are not counted: the request limits bound them. */
const smallBytes = 16 * 1024;
/** Memory of a paused stream: one chunk read and one chunk passed on. */
const streamBytes = 128 * 1024;

/** Current load of one connection, account or address, or of the process. */
interface Share {
  kind: keyof typeof bounds;
  requests: Set<OpenRequest>;
  bytes: number;
}
/** A request from its first hook until its handler is done and the caller has read the answer or disconnected. */
interface OpenRequest {
  response: ServerResponse;
  shares: Map<unknown, Share>;
  bytes: number;
  isHandedOver: boolean;
  isClosed: boolean;
}
const openRequest = Symbol('open request');

declare module 'fastify' {
  interface FastifyRequest {
    [openRequest]: OpenRequest | undefined;
    /** Counts the request for its account once the account is known; answers the refusal, if any. */
    countFor(accountId: string): PortalError | undefined;
    /** Counts bytes in memory until the end of the request. Throws 429 or 503 beyond a limit. */
    holdBytes(bytes: number): void;
  }
}

/** Limits load and disconnects callers that stop reading. Call it after `answerOrigins`, so that browsers can read refusals. */
export function limitLoad(app: App, metrics: Pick<Metrics, 'countLoad'>): void {
  const shares = new Map<unknown, Share>();

  function refuse(kind: Share['kind']): PortalError {
    metrics.countLoad(kind);
    return bounds[kind].refusal();
  }

  function join(one: OpenRequest, kind: Share['kind'], key: unknown = kind): PortalError | undefined {
    const share = shares.get(key) ?? { kind, requests: new Set(), bytes: 0 };
    if (share.requests.size >= bounds[kind].requests) return refuse(kind);
    shares.set(key, share);
    share.requests.add(one);
    share.bytes += one.bytes;
    one.shares.set(key, share);
    return undefined;
  }

  // A handler that still works keeps its place: callers must not gain capacity by disconnecting.
  function leaveWhenOver(one: OpenRequest): void {
    if (!one.isClosed || !one.isHandedOver) return;
    for (const [key, share] of one.shares) {
      share.bytes -= one.bytes;
      if (share.requests.delete(one) && share.requests.size === 0) shares.delete(key);
    }
    one.shares.clear();
  }

  /** A share without bytes accepts any number of bytes, so that one large request always passes. */
  function hold(one: OpenRequest, bytes: number, mayRefuse = true): PortalError | undefined {
    for (const share of one.shares.values())
      if (mayRefuse && bytes > 0 && share.bytes > 0 && share.bytes + bytes > bounds[share.kind].bytes)
        return refuse(share.kind);
    for (const share of one.shares.values()) share.bytes += bytes;
    one.bytes += bytes;
    return undefined;
  }

  app.server.maxConnections = maxConnections;
  app.server.on('drop', () => metrics.countLoad('connections'));
  app.server.on('connection', (socket: Socket) =>
    socket.on('close', () => {
      // Node emits `close` only on the answer whose turn it was; the pipelined answers behind it would keep files and places open.
      for (const { response } of shares.get(socket)?.requests ?? []) if (!response.socket) response.emit('close');
    }),
  );
  app.decorateRequest(openRequest);
  app.decorateRequest('countFor', function (this: FastifyRequest, accountId: string) {
    return this[openRequest] && join(this[openRequest], 'account', accountId);
  });
  app.decorateRequest('holdBytes', function (this: FastifyRequest, bytes: number) {
    const refusal = this[openRequest] && hold(this[openRequest], bytes);
    if (refusal) throw refusal;
  });

  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request;
    const response = reply.raw;
    const one: OpenRequest = { response, shares: new Map(), bytes: 0, isHandedOver: false, isClosed: false };
    request[openRequest] = one;
    response.once('close', () => {
      one.isClosed = true;
      leaveWhenOver(one);
    });
    // No byte has moved for `connectionTimeout`: handlers may take longer, readers may not.
    response.on('timeout', () => {
      if (socket.writableLength === 0) return;
      metrics.countLoad('reader');
      socket.destroy();
    });
    if (socket.destroyed || join(one, 'pipeline', socket)) {
      reply.hijack();
      socket.destroy();
    } else if (healthPaths.has(request.url)) done(join(one, 'watch'));
    else done(join(one, 'address', addressOf(request)) ?? join(one, 'process'));
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const one = request[openRequest];
    if (!one) return done(null, payload);
    // A buffer lies outside the heap, has exactly the counted size, and is not copied again for the socket.
    const body = typeof payload === 'string' && payload.length >= smallBytes ? Buffer.from(payload) : payload;
    // Never drop the answer to a write; a GET can be retried.
    const refusal = hold(one, bytesOf(body), request.method === 'GET' || request.method === 'HEAD');
    if (refusal) {
      if (body instanceof Readable) body.destroy();
      reply.header('cache-control', 'no-store').removeHeader('content-length');
      return done(refusal);
    }
    one.isHandedOver = true;
    leaveWhenOver(one);
    done(null, body);
  });
}

/** Counted memory of an answer until the caller has read it. */
function bytesOf(body: unknown): number {
  if (Buffer.isBuffer(body)) return body.length < smallBytes ? 0 : body.length;
  return body instanceof Readable ? streamBytes : 0;
}
