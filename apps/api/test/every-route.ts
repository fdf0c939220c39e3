import { newId } from '@portal/domain/ids';
import { tinyGif } from '@portal/testing/pictures';
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
  if (example !== undefined && 'host' in example) return { ...example, host: '127.0.0.1', port: 1 };
  if (example !== undefined && 'serverUrl' in example) return { ...example, serverUrl: 'ldap://127.0.0.1:1' };
  return example;
}

/** A request with a good body, as far as the route takes one: the JSON its author shows, or a picture. */
export function withGoodBody(route: ListedRoute): Pick<TestRequest, 'payload' | 'headers'> {
  const { schema } = route;
  if (schema?.body === undefined) return {};
  if (schema.consumes === undefined) return { payload: bodyExample(route) ?? {} };
  const [field] = Object.keys((schema.body as { shape?: object }).shape ?? {});
  const start = `--x\r\ncontent-disposition: form-data; name="${field}"; filename="a"\r\n\r\n`;
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    payload: Buffer.concat([Buffer.from(start), tinyGif, Buffer.from('\r\n--x--\r\n')]),
  };
}

/** Whether the route's body is JSON; the others take files. */
export const takesJson = (route: ListedRoute): boolean =>
  route.schema?.body !== undefined && route.schema.consumes === undefined;
