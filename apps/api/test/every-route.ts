import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { tinyGif } from '@portal/testing/pictures';
import type { ListedRoute } from '../src/plugins/route-list.ts';
import type { TestRequest } from '../testing/app.ts';

/** A route's address with ids of nothing in it. */
export const addressOf = (url: string): string => url.replaceAll(/:\w+/g, () => newId());

export const methodOf = (route: ListedRoute): NonNullable<TestRequest['method']> => route.method;

/** What a route would dial is this machine, where nobody listens. */
const nowhere: Record<string, (value: string) => Record<string, unknown>> = {
  host: () => ({ host: '127.0.0.1', port: 1 }),
  serverUrl: () => ({ serverUrl: 'ldap://127.0.0.1:1' }),
  address: (value) => ({ address: addressedNowhere(value) }),
  statusUrl: (value) => ({ statusUrl: addressedNowhere(value) }),
  url: (value) => ({ url: addressedNowhere(value) }),
};

/** The same address on this machine; one without a scheme is but a host. */
function addressedNowhere(address: string): string {
  if (!URL.canParse(address)) return '127.0.0.1:1';
  const { protocol, pathname, search } = new URL(address);
  return `${protocol}//127.0.0.1:1${pathname}${search}`;
}

/** What the route's author shows as a good body. */
export function bodyExample(route: ListedRoute): Record<string, unknown> | undefined {
  const body = route.schema?.body as { meta?: () => { example?: Record<string, unknown> } | undefined } | undefined;
  const example = body?.meta?.()?.example;
  if (example === undefined) return undefined;
  const turned = Object.entries(example).map(
    ([name, value]) => (typeof value === 'string' && nowhere[name]?.(value)) || {},
  );
  return Object.assign({}, example, ...turned) as Record<string, unknown>;
}

/** A request with a good body, as far as the route takes one: the JSON its author shows, or the form, with pictures for files. */
export function withGoodBody(route: ListedRoute): Pick<TestRequest, 'payload' | 'headers'> {
  const { schema } = route;
  if (schema?.body === undefined) return {};
  const example = bodyExample(route) ?? {};
  if (takesJson(route)) return { payload: example };
  const { properties = {} } = z.toJSONSchema(schema.body as z.ZodType, { io: 'input', unrepresentable: 'any' });
  const parts = Object.entries(example).flatMap(([name, value]) => {
    const { type, items, format } = properties[name] as z.core.JSONSchema.BaseSchema;
    const isFile = ((type === 'array' ? items : { format }) as z.core.JSONSchema.BaseSchema).format === 'binary';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [
      `--x\r\ncontent-disposition: form-data; name="${name}"${isFile ? '; filename="a"' : ''}\r\n\r\n`,
      isFile ? tinyGif : text,
      '\r\n',
    ];
  });
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    payload: Buffer.concat([...parts, '--x--\r\n'].map((part) => Buffer.from(part))),
  };
}

/** Whether the route's body is JSON; the others take files. */
export const takesJson = (route: ListedRoute): boolean =>
  route.schema?.body !== undefined && route.schema.consumes === undefined;
