import type { RouteOptions } from 'fastify';
import type { App } from '../zod-app.ts';

/** A route for documents and checks: everything except its handler. */
export interface ListedRoute {
  method: string;
  url: string;
  schema: RouteOptions['schema'];
  config: NonNullable<RouteOptions['config']>;
}

declare module 'fastify' {
  interface FastifyInstance {
    routeList: ListedRoute[];
  }
}

/** Collects all routes, including those of plugins. Call it after `guardRoutes`, which sets their access. */
export function listRoutes(app: App): void {
  const routeList: ListedRoute[] = [];
  app.decorate('routeList', routeList);
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    if (config) for (const each of [method].flat()) routeList.push({ method: each, url, schema, config });
  });
}
