import cors, { type FastifyCorsOptionsDelegateCallback } from '@fastify/cors';
import { forbidden } from '@portal/domain/errors';
import type { Config } from '@portal/platform/config';
import type { App } from '../zod-app.ts';

const readsOnly = new Set(['GET', 'HEAD', 'OPTIONS']);

const rules = {
  credentials: true,
  exposedHeaders:
    'Link, X-Next-Cursor, X-Total-Count, X-List-Version, X-Request-Id, X-Server-Time, Retry-After, ETag, Content-Disposition, Preference-Applied',
  methods: 'GET, HEAD, POST, PUT, PATCH, DELETE',
  allowedHeaders: 'Accept, Content-Type, If-Match, If-None-Match, Prefer, X-Request-Id',
  maxAge: 600,
};

/**
 * Lets the listed origins read answers (with credentials). Call it before the hooks that refuse requests, so that
 * browsers can read refusals too, and before `guardRoutes`, which would demand an access marker on the plugin's route.
 */
export async function answerOrigins(app: App, { http }: Config): Promise<void> {
  const listed = new Set(http.corsOrigins);
  if (listed.size === 0) return;
  // Called for each request: with a list of origins, the plugin would send its headers to other origins, too, and answer an OPTIONS request
  // that is no preflight with 400.
  const delegator: FastifyCorsOptionsDelegateCallback = ({ headers }, rulesOf) => {
    const { origin = '', 'access-control-request-method': asksFor } = headers;
    // An OPTIONS request that is no preflight gets 405.
    rulesOf(null, { ...rules, origin: listed.has(origin) && origin, preflight: asksFor !== undefined });
  };
  await app.register(cors, { delegator });
}

/** A request that changes something must come from a listed origin, the service's own origin, or a client that is not a browser. */
export function checkOrigins(app: App, config: Config): void {
  const listed = new Set(config.http.corsOrigins);
  const own = ownOrigins(config);

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
