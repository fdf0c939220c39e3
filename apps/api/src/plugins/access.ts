import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { type Access, type Actor, hasRole } from '@portal/domain/access';
import { forbidden, type PortalError } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import type { Runtime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { checkModuleAccess } from '@portal/usecases/modules/module-access';
import { sessionTokenOf } from '../session-cookie.ts';
import type { App } from '../zod-app.ts';
import { addressOf } from './client-address.ts';

type Guard = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

// Routes for an account that must change its password: exact method and path.
const openDuringForcedChange = new Set(['POST /auth/change-password', 'POST /auth/logout', 'GET /auth/me']);

/** Limit of bodies without a session: usernames, passwords and tokens are far shorter. */
const openBodyMaxBytes = 16 * 1024;

const session = Symbol('session');

declare module 'fastify' {
  interface FastifyRequest {
    [session]: UserContext | undefined;
  }
  interface FastifyInstance {
    accessOfPluginRoutes: Access | undefined;
  }
}

/**
 * Deny by default: every route states in `config.access` who may call it, or the server does not start.
 * The guard runs before the server reads the request body.
 */
export function guardRoutes(app: App, runtime: Runtime): void {
  app.decorateRequest('system');
  app.decorateRequest(session);
  app.decorateRequest('ctx', {
    getter(this: FastifyRequest) {
      const ctx = this[session];
      if (!ctx)
        throw new Error(
          `${this.method} ${this.routeOptions.url} is an open route: use request.system, not request.ctx`,
        );
      return ctx;
    },
  });
  app.decorate('accessOfPluginRoutes', undefined);
  // `this` is the instance that registers the route.
  app.addHook('onRoute', function (route) {
    const access = route.config?.access ?? this.accessOfPluginRoutes;
    if (!access)
      throw new Error(`${String(route.method)} ${route.url} does not say who may call it: give it config.access`);
    route.config = { ...route.config, access };
    if (access.kind === 'open') route.bodyLimit ??= openBodyMaxBytes;
    const others = route.onRequest === undefined ? [] : [route.onRequest].flat();
    route.onRequest = [guardOf(access, `${String(route.method)} ${route.url}`, runtime), ...others];
  });
}

/** The signed-in account; undefined on open routes and before the session check. */
export const actorOf = (request: FastifyRequest): Actor | undefined => request[session]?.actor;

/** Sets the access of the routes that a plugin registers. Call it inside the plugin's own `register` scope. */
export function markPluginRoutes(scope: App, access: Access): void {
  scope.accessOfPluginRoutes = access;
}

function guardOf(access: Access, route: string, runtime: Runtime): Guard {
  const systemContextOf = (request: FastifyRequest) =>
    runtime.system({ requestId: request.id, ip: addressOf(request), userAgent: request.headers['user-agent'] ?? null });

  if (access.kind === 'open') {
    return (request, _reply, done) => {
      request.system = systemContextOf(request);
      done();
    };
  }
  const refusal = refusalOf(access, openDuringForcedChange.has(route));
  return (request, _reply, done) => {
    request.system = systemContextOf(request);
    authenticate(request.system, sessionTokenOf(request)).then((ctx) => {
      request[session] = ctx;
      const refused = request.countFor(ctx.actor.id) ?? refusal(ctx);
      if (refused || access.kind !== 'module') return done(refused);
      checkModuleAccess(ctx, access).then(() => done(), done);
    }, done);
  };
}

/** Returns a check of the signed-in account, which answers the refusal or undefined. */
function refusalOf(
  access: Exclude<Access, { kind: 'open' }>,
  isOpenDuringForcedChange: boolean,
): (ctx: UserContext) => PortalError | undefined {
  const lacksRights =
    access.kind === 'role' ? (ctx: UserContext) => !hasRole(ctx.actor.role, access.role) : () => false;
  return (ctx) => {
    if (ctx.account.mustChangePassword && !isOpenDuringForcedChange) {
      return forbidden('PASSWORD_CHANGE_REQUIRED');
    }
    return lacksRights(ctx) ? forbidden() : undefined;
  };
}
