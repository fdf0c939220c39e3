import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '@portal/platform/log';
import type { Metrics } from '@portal/platform/metrics';
import { actorOf } from './access.ts';
import { addressOf } from './client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The error to log: a failure on our side, or input that our checks should have refused. */
    failure: unknown;
  }
}

export type WatchRequest = (request: FastifyRequest, reply: FastifyReply) => void;

/** Writes one log line and one metric observation per request, when its answer is sent or its caller disconnects. */
export function requestWatcher(log: Log, metrics: Metrics): WatchRequest {
  // The fields below contain no secrets, and redaction would cost more than writing the line.
  const lines = log.child({}, { redact: [] });
  return (request, reply) => {
    const startedAt = performance.now();
    // Read now: a closed socket no longer knows its peer.
    const ip = addressOf(request);
    reply.raw.once('close', () => {
      const ms = performance.now() - startedAt;
      const { method, failure } = request;
      const route = request.is404 ? null : (request.routeOptions.url ?? null);
      // 499: the status that proxies log for a caller that disconnected before the answer
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
