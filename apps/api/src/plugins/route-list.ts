import type { RouteOptions } from 'fastify';
import type { App } from '../zod-app.ts';

/** A route as documents and checks need it: everything but what it does. */
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

/** Keeps the list of all routes, those of plugins included. Call it after `guardRoutes`, which gives each its access. */
export function listRoutes(app: App): void {
  const routeList: ListedRoute[] = [];
  app.decorate('routeList', routeList);
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    if (config) for (const each of [method].flat()) routeList.push({ method: each, url, schema, config });
  });
}
