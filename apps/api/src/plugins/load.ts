import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { busy, type PortalError, unavailable } from '@portal/domain/errors';
import type { Metrics } from '@portal/platform/metrics';
import type { App } from '../zod-app.ts';
import { addressOf } from './client-address.ts';

const MiB = 1024 * 1024;
const tooMuchToDo = () => unavailable('The service has too much to do right now. Please try again in a few seconds.');
const tooMany = (what: string) => () => busy(`Too many ${what} are under way. Please wait for their answers.`, 2);

/** What may be under way and held in memory at once: requests until their answer is taken, and the bytes of bodies and answers. */
const bounds = {
  /** Sent on a connection before its first answer is taken. Browsers wait for each; what comes beyond is hung up on. */
  pipeline: { requests: 32, bytes: Number.POSITIVE_INFINITY, refusal: tooMuchToDo },
  /** A browser sends 6 to 10 at once for each of a few tabs, and behind one address may sit a whole office. */
  account: { requests: 48, bytes: 32 * MiB, refusal: tooMany('of your requests') },
  address: { requests: 256, bytes: 64 * MiB, refusal: tooMany('requests from your address') },
  process: { requests: 512, bytes: 96 * MiB, refusal: tooMuchToDo },
  /** Load balancers and supervisors must not end the process because it is busy, nor does anybody pass for them and keep others out. */
  watch: { requests: 1_000, bytes: MiB, refusal: tooMuchToDo },
};
const watched = new Set(['/health', '/health/ready', '/health/version']);
const maxConnections = 2_000;
/** Smaller answers are not counted: the number of requests bounds them. */
const smallBytes = 16 * 1024;
/** What a stream holds while its reader makes it pause: a piece read and a piece handed on. */
const streamBytes = 128 * 1024;

/** What is under way for one connection, account or address, or for all. */
interface Share {
  kind: keyof typeof bounds;
  requests: Set<UnderWay>;
  bytes: number;
}
/** One request from its first hook until its handler is done and its answer taken, or the caller gone. */
interface UnderWay {
  response: ServerResponse;
  shares: Map<unknown, Share>;
  bytes: number;
  isHandedOver: boolean;
  isClosed: boolean;
}
const underWay = Symbol('under way');

declare module 'fastify' {
  interface FastifyRequest {
    [underWay]: UnderWay | undefined;
    /** Counts the request for its account, once that is known; answers why it may not go on. */
    countFor(accountId: string): PortalError | undefined;
    /** Counts bytes held in memory for this request until it is over. Throws 429 or 503 when there is no room for them. */
    holdBytes(bytes: number): void;
  }
}

/** Bounds what is under way, and hangs up on who does not read an answer. Comes after what lets browsers read a refusal. */
export function limitLoad(app: App, metrics: Pick<Metrics, 'countLoad'>): void {
  const shares = new Map<unknown, Share>();

  function refuse(kind: Share['kind']): PortalError {
    metrics.countLoad(kind);
    return bounds[kind].refusal();
  }

  function join(one: UnderWay, kind: Share['kind'], key: unknown = kind): PortalError | undefined {
    const share = shares.get(key) ?? { kind, requests: new Set(), bytes: 0 };
    if (share.requests.size >= bounds[kind].requests) return refuse(kind);
    shares.set(key, share);
    share.requests.add(one);
    share.bytes += one.bytes;
    one.shares.set(key, share);
    return undefined;
  }

  // A handler that is still at work keeps its place: hanging up must not make room for more of the same.
  function leaveWhenOver(one: UnderWay): void {
    if (!one.isClosed || !one.isHandedOver) return;
    for (const [key, share] of one.shares) {
      share.bytes -= one.bytes;
      if (share.requests.delete(one) && share.requests.size === 0) shares.delete(key);
    }
    one.shares.clear();
  }

  /** A share that holds no bytes takes any number of them. */
  function hold(one: UnderWay, bytes: number, mayRefuse = true): PortalError | undefined {
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
      // Node tells only the answer whose turn it was; those behind it hold files and places until `close` as well.
      for (const { response } of shares.get(socket)?.requests ?? []) if (!response.socket) response.emit('close');
    }),
  );
  app.decorateRequest(underWay);
  app.decorateRequest('countFor', function (this: FastifyRequest, accountId: string) {
    return this[underWay] && join(this[underWay], 'account', accountId);
  });
  app.decorateRequest('holdBytes', function (this: FastifyRequest, bytes: number) {
    const refusal = this[underWay] && hold(this[underWay], bytes);
    if (refusal) throw refusal;
  });

  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request;
    const response = reply.raw;
    const one: UnderWay = { response, shares: new Map(), bytes: 0, isHandedOver: false, isClosed: false };
    request[underWay] = one;
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
    } else if (watched.has(request.url)) done(join(one, 'watch'));
    else done(join(one, 'address', addressOf(request)) ?? join(one, 'process'));
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const one = request[underWay];
    if (!one) return done(null, payload);
    // As bytes outside the heap, where it weighs what is counted, and no second time for the socket.
    const body = typeof payload === 'string' && payload.length >= smallBytes ? Buffer.from(payload) : payload;
    // What has been done is told whatever waits; what was only read can be read again.
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

/** What an answer holds until it is taken, as far as it counts. */
function bytesOf(body: unknown): number {
  if (Buffer.isBuffer(body)) return body.length < smallBytes ? 0 : body.length;
  return body instanceof Readable ? streamBytes : 0;
}
