import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '@portal/platform/log';
import type { Metrics } from '@portal/platform/metrics';
import { actorOf } from './access.ts';
import { addressOf } from './client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the log line reports besides: a failure on our side, or input that got further than it should have. */
    failure: unknown;
  }
}

export type WatchRequest = (request: FastifyRequest, reply: FastifyReply) => void;

/** Writes one log line and one observation per request, once its answer has gone out or its caller has gone away. */
export function requestWatcher(log: Log, metrics: Metrics): WatchRequest {
  // The fields below hold no secrets, and searching them for some costs more than writing the line.
  const lines = log.child({}, { redact: [] });
  return (request, reply) => {
    const startedAt = performance.now();
    // Read now: a socket that was hung up on does not know its peer any more.
    const ip = addressOf(request);
    reply.raw.once('close', () => {
      const ms = performance.now() - startedAt;
      const { method, failure } = request;
      const route = request.is404 ? null : (request.routeOptions.url ?? null);
      // 499: what proxies write for a caller that left before the answer
      const status = reply.raw.headersSent ? reply.raw.statusCode : 499;
      metrics.observeRequest(method, route ?? 'unknown', status, ms / 1_000);
      const actor = actorOf(request);
      const line = {
        requestId: request.id,
        method,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        tenantId: actor?.tenantId,
        actorId: actor?.id,
        ip,
      };
      if (failure === undefined) lines.info(line, 'request');
      else lines[status >= 500 ? 'error' : 'warn']({ ...line, err: failure }, 'request');
    });
  };
}
