import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { tinyGif } from '@portal/testing/pictures';
import type { ListedRoute } from '../src/plugins/route-list.ts';
import type { TestRequest } from '../testing/app.ts';

/** A route's address with unknown ids. */
export const addressOf = (url: string): string => url.replaceAll(/:\w+/g, () => newId());

export const methodOf = (route: ListedRoute): NonNullable<TestRequest['method']> => route.method;

/** Redirects the addresses in an example to a closed port of this machine. */
const redirects: Record<string, (value: string) => Record<string, unknown>> = {
  host: () => ({ host: '127.0.0.1', port: 1 }),
  serverUrl: () => ({ serverUrl: 'ldap://127.0.0.1:1' }),
  address: (value) => ({ address: redirected(value) }),
  statusUrl: (value) => ({ statusUrl: redirected(value) }),
  url: (value) => ({ url: redirected(value) }),
};

/** The same address on this machine; an address without a scheme is only a host. */
function redirected(address: string): string {
  if (!URL.canParse(address)) return '127.0.0.1:1';
  const { protocol, pathname, search } = new URL(address);
  return `${protocol}//127.0.0.1:1${pathname}${search}`;
}

/** The valid body that the route shows as its example. */
export function bodyExample(route: ListedRoute): Record<string, unknown> | undefined {
  const body = route.schema?.body as { meta?: () => { example?: Record<string, unknown> } | undefined } | undefined;
  const example = body?.meta?.()?.example;
  if (example === undefined) return undefined;
  const changes = Object.entries(example).map(
    ([name, value]) => (typeof value === 'string' && redirects[name]?.(value)) || {},
  );
  return Object.assign({}, example, ...changes) as Record<string, unknown>;
}

/** A request with the valid body of the route's example, if it takes one: JSON, or a form with pictures as files. */
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

/** Whether the route takes JSON; other routes with a body take forms. */
export const takesJson = (route: ListedRoute): boolean =>
  route.schema?.body !== undefined && route.schema.consumes === undefined;
