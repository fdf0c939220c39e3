import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { busy, type PortalError, unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { Metrics } from '@portal/platform/metrics';
import type { App } from '../zod-app.ts';
import { addressOf } from './client-address.ts';

const MiB = 1024 * 1024;

/**
 * What may be under way and held in memory at once: requests until their answer is taken, and the bytes of bodies and answers.
 * A browser sends 6 to 10 requests at once for each of a few tabs, and behind one address may sit a whole office.
 */
const limits = {
  account: { requests: 48, bytes: 32 * MiB },
  address: { requests: 256, bytes: 64 * MiB },
  process: { requests: 512, bytes: 96 * MiB },
  /** What watches over the process, whoever that is: neither kept out by the others' requests nor keeping them out. */
  watch: { requests: 1_000, bytes: MiB },
};

/** What load balancers and supervisors look at. */
const watched = new Set(['/health', '/health/ready', '/health/version']);

/** Open connections; what comes beyond is hung up on at once. */
const maxConnections = 2_000;
/** Requests a connection may have sent before the first of their answers is taken; browsers wait for each. */
const maxPipelined = 32;
/** Smaller answers are left out of the count of bytes: the number of requests bounds them. */
const smallBytes = 16 * 1024;
/** What a stream holds while its reader makes it pause: a piece read and a piece handed on. */
const streamBytes = 128 * 1024;

const sweepEveryMs = 5 * SECOND;
/** How often in a row a sweep may find an answer standing still. With the one that first sees it that is half a minute at most. */
const maxStandstill = 5;
/** How often it may find a handler still at work for a caller who has gone: five minutes, ten times the longest wait. */
const maxForsaken = 60;

type Kind = keyof typeof limits;

/** What one account, one address, the process or those who watch over it have under way. */
interface Share {
  kind: Kind;
  key: string;
  requests: number;
  bytes: number;
}

/** One request from its first hook until its handler is done and its answer taken, or the caller gone. */
interface UnderWay {
  response: ServerResponse;
  socket: Socket;
  /** Where it is counted; nowhere once it is refused. */
  shares: Share[];
  bytes: number;
  isHandedOver: boolean;
  isClosed: boolean;
  /** What the connection had sent when the sweep last looked, and how often in a row that was the same. */
  sentBytes: number;
  standstill: number;
}

const underWay = Symbol('under way');
const pipelined = Symbol('pipelined');

declare module 'node:http' {
  interface ServerResponse {
    [underWay]?: UnderWay;
  }
}
declare module 'node:net' {
  interface Socket {
    [pipelined]?: number;
  }
}
declare module 'fastify' {
  interface FastifyRequest {
    [underWay]: UnderWay | undefined;
    /** Counts bytes held in memory for this request until it is over. Throws 429 or 503 when there is no room for them. */
    holdBytes(bytes: number): void;
  }
}

export interface Load {
  /**
   * Counts a request for its address and the process before anything else is done for it; answers why it may not go on.
   * Where far too many come ahead of their answers it hangs up, and the reply counts as sent.
   */
  enter(request: FastifyRequest, reply: FastifyReply): PortalError | undefined;
  /** Counts it for its account, once that is known. */
  enterAccount(request: FastifyRequest, accountId: string): PortalError | undefined;
}

/** Bounds what is under way for each account, each address and the process, and hangs up on clients that do not read their answer. */
export function limitLoad(app: App, metrics: Pick<Metrics, 'countLoad'>, { sweepMs = sweepEveryMs } = {}): Load {
  const all = new Set<UnderWay>();
  const whole: Share = { kind: 'process', key: '', requests: 0, bytes: 0 };
  const watch: Share = { kind: 'watch', key: '', requests: 0, bytes: 0 };
  const shares = { account: new Map<string, Share>(), address: new Map<string, Share>() };

  const isKeyed = (share: Share): share is Share & { kind: keyof typeof shares } => share.kind in shares;
  const shareOf = (kind: keyof typeof shares, key: string): Share =>
    shares[kind].get(key) ?? { kind, key, requests: 0, bytes: 0 };

  function join(one: UnderWay, share: Share): void {
    if (share.requests === 0 && isKeyed(share)) shares[share.kind].set(share.key, share);
    share.requests += 1;
    share.bytes += one.bytes;
    one.shares.push(share);
  }

  function leave(one: UnderWay): void {
    all.delete(one);
    for (const share of one.shares) {
      share.requests -= 1;
      share.bytes -= one.bytes;
      if (share.requests === 0 && isKeyed(share)) shares[share.kind].delete(share.key);
    }
    one.shares = [];
  }

  const hasNoRoom = (share: Share): boolean => share.requests >= limits[share.kind].requests;

  /** The share that has no room for so many bytes more. A share that holds no bytes always takes them. */
  const overfull = (one: UnderWay, bytes: number): Share | undefined =>
    one.shares.find((share) => share.bytes > 0 && share.bytes + bytes > limits[share.kind].bytes);

  function hold(one: UnderWay, bytes: number): void {
    one.bytes += bytes;
    for (const share of one.shares) share.bytes += bytes;
  }

  function refuse(kind: Kind): PortalError {
    metrics.countLoad(kind);
    return refusals[kind]();
  }

  // A listener of every answer, so that none needs a function of its own.
  function onClose(this: ServerResponse): void {
    const one = this[underWay];
    if (!one || one.isClosed) return;
    one.isClosed = true;
    one.standstill = 0;
    one.socket[pipelined] = (one.socket[pipelined] ?? 1) - 1;
    // A handler that is still at work keeps its place: hanging up must not make room for more of the same.
    if (one.isHandedOver) leave(one);
  }

  // Of a lost connection Node tells only the answer whose turn it was; what holds files or places open waits for `close`.
  function onConnectionLost(this: Socket): void {
    if (!this[pipelined]) return;
    for (const one of all) if (one.socket === this && one.response.socket === null) one.response.emit('close');
  }

  app.decorateRequest(underWay);
  app.decorateRequest('holdBytes', function (this: FastifyRequest, bytes: number) {
    const one = this[underWay];
    if (!one) return;
    const full = overfull(one, bytes);
    if (full) throw refuse(full.kind);
    hold(one, bytes);
  });

  app.server.maxConnections = maxConnections;
  app.server.on('connection', (socket: Socket) => socket.on('close', onConnectionLost));
  app.server.on('drop', () => metrics.countLoad('connections'));

  app.addHook('onSend', (request, reply, payload, done) => {
    const one = request[underWay];
    if (!one) return done(null, payload);
    // As bytes outside the heap, where it weighs what is counted, and no second time for the socket.
    const body = typeof payload === 'string' && payload.length >= smallBytes ? Buffer.from(payload) : payload;
    const bytes = bytesOf(body);
    // What has been done is told whatever waits; what was only read can be read again.
    const full =
      bytes > 0 && (request.method === 'GET' || request.method === 'HEAD') ? overfull(one, bytes) : undefined;
    if (full) {
      if (body instanceof Readable) body.destroy();
      reply.header('cache-control', 'no-store').removeHeader('content-length');
      return done(refuse(full.kind));
    }
    hold(one, bytes);
    one.isHandedOver = true;
    if (one.isClosed) leave(one);
    done(null, body);
  });

  function sweep(): void {
    for (const one of all) {
      if (one.isClosed) {
        if ((one.standstill += 1) > maxForsaken) leave(one);
        // Answers behind another one on their connection wait for that one.
      } else if (one.isHandedOver && one.response.socket !== null) {
        const { bytesWritten } = one.socket;
        if (bytesWritten !== one.sentBytes) {
          one.sentBytes = bytesWritten;
          one.standstill = 0;
        } else if ((one.standstill += 1) >= maxStandstill) {
          metrics.countLoad('reader');
          one.socket.destroy();
        }
      }
    }
  }
  const timer = setInterval(sweep, sweepMs).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });

  return {
    enter(request, reply) {
      const { socket } = request;
      const ahead = (socket[pipelined] ?? 0) + 1;
      if (ahead > maxPipelined) {
        if (!socket.destroyed) metrics.countLoad('pipeline');
        reply.hijack();
        socket.destroy();
        return undefined;
      }
      socket[pipelined] = ahead;
      const one: UnderWay = {
        response: reply.raw,
        socket,
        shares: [],
        bytes: 0,
        isHandedOver: false,
        isClosed: false,
        sentBytes: -1,
        standstill: 0,
      };
      all.add(one);
      request[underWay] = one;
      reply.raw[underWay] = one;
      reply.raw.once('close', onClose);
      // Whoever watches over the process must not end it because it is busy.
      const counted = watched.has(request.url) ? [watch] : [whole, shareOf('address', addressOf(request) ?? '')];
      const full = counted.find(hasNoRoom);
      if (full) return refuse(full.kind);
      for (const share of counted) join(one, share);
      return undefined;
    },
    enterAccount(request, accountId) {
      const one = request[underWay];
      if (!one) return undefined;
      const share = shareOf('account', accountId);
      if (hasNoRoom(share)) return refuse('account');
      join(one, share);
      return undefined;
    },
  };
}

const tooMuchToDo = () => unavailable('The service has too much to do right now. Please try again in a few seconds.');

const refusals: Record<Kind, () => PortalError> = {
  account: () => busy('Too many of your requests are under way. Please wait for their answers.', 2),
  address: () => busy('Too many requests from your address are under way. Please wait for their answers.', 2),
  process: tooMuchToDo,
  watch: tooMuchToDo,
};

/** What an answer holds until it is taken, as far as it counts. */
function bytesOf(body: unknown): number {
  if (Buffer.isBuffer(body)) return body.length < smallBytes ? 0 : body.length;
  return body instanceof Readable ? streamBytes : 0;
}
