import type { FastifyReply, FastifyRequest } from 'fastify';
import { forbidden } from '@portal/domain/errors';
import type { Config } from '@portal/platform/config';
import type { App } from '../zod-app.ts';

const readsOnly = new Set(['GET', 'HEAD', 'OPTIONS']);

const exposedHeaders =
  'Link, X-Next-Cursor, X-Total-Count, X-List-Version, X-Request-Id, X-Server-Time, Retry-After, ETag, Content-Disposition, Preference-Applied';
const preflightSec = 600;
const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Accept, Content-Type, If-Match, If-None-Match, Prefer, X-Request-Id',
  'access-control-max-age': String(preflightSec),
};

/**
 * Says which listed origin may read an answer (contract section 1: with credentials); for every answer, refusals before anything else
 * included.
 */
export function originHeaders({ http }: Config): (request: FastifyRequest, reply: FastifyReply) => void {
  const listed = new Set(http.corsOrigins);
  if (listed.size === 0) return () => undefined;
  return ({ headers: { origin } }, reply) => {
    reply.header('vary', 'Origin');
    if (origin === undefined || !listed.has(origin)) return;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-allow-credentials', 'true');
    reply.header('access-control-expose-headers', exposedHeaders);
  };
}

/**
 * Cross-origin rules (contract section 1): front ends of the listed origins may call with credentials, and a request that
 * changes something must come from such an origin, from the service's own, or from a client that is no browser.
 */
export function checkOrigins(app: App, config: Config): void {
  const listed = new Set(config.http.corsOrigins);
  const own = ownOrigins(config);

  if (listed.size > 0) {
    app.addHook('onRequest', ({ method, headers }, reply, done) => {
      const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
      if (!isPreflight || headers.origin === undefined || !listed.has(headers.origin)) return done();
      reply.code(204).headers(preflightHeaders).send();
    });
  }

  app.addHook('onRequest', (request, _reply, done) => {
    const { takesForeignOrigins = false } = request.routeOptions.config;
    if (readsOnly.has(request.method) || request.is404 || takesForeignOrigins) return done();
    const { origin, 'sec-fetch-site': site } = request.headers;
    const isListed = origin !== undefined && listed.has(origin);
    const isForeign = (origin !== undefined && !isListed && !own.has(origin)) || (site === 'cross-site' && !isListed);
    done(isForeign ? forbidden('ORIGIN_NOT_ALLOWED') : undefined);
  });
}

const ownOrigins = ({ http }: Config): Set<string> =>
  new Set(http.publicUrlIsSet ? [http.publicUrl] : [`http://127.0.0.1:${http.port}`, `http://localhost:${http.port}`]);
