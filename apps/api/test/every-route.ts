import { newId } from '@portal/domain/ids';
import type { ListedRoute } from '../src/plugins/route-list.ts';
import type { TestRequest } from '../testing/app.ts';

/** A route's address with ids of nothing in it. */
export const addressOf = (url: string): string => url.replaceAll(/:\w+/g, () => newId());

export const methodOf = (route: ListedRoute): NonNullable<TestRequest['method']> => route.method;

/** What the route's author shows as a good body. */
export function bodyExample(route: ListedRoute): Record<string, unknown> | undefined {
  const body = route.schema?.body as { meta?: () => { example?: Record<string, unknown> } | undefined } | undefined;
  const example = body?.meta?.()?.example;
  // What a route would dial is this machine, where nobody listens.
  return example !== undefined && 'host' in example ? { ...example, host: '127.0.0.1', port: 1 } : example;
}

/** Whether the route's body is JSON; the others take files. */
export const takesJson = (route: ListedRoute): boolean =>
  route.schema?.body !== undefined && route.schema.consumes === undefined;
