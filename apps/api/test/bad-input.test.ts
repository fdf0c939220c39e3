import { expect, it } from 'vitest';
import { z } from 'zod';
import { SecretInput } from '@portal/domain/secret-input';
import { needsBody } from '../src/plugins/json-body.ts';
import { testApp } from '../testing/app.ts';
import { addressOf, bodyExample, methodOf, takesJson, withGoodBody } from './every-route.ts';

const { app, request, make } = await testApp();
// Without an address, because no worker sends mails here and a route would wait for one.
const operator = () => make.user({ role: 'SUPER_ADMIN', email: null });
let current = await operator();

/** Sends a request with an account that the requests before have neither changed nor used up. */
async function send(input: Omit<Parameters<typeof request>[0], 'as'>): Promise<Answer> {
  const answer = await request({ ...input, as: current });
  // What an account does at will may end its sessions; what it does often has a limit.
  if (answer.statusCode < 400 || [401, 403, 429].includes(answer.statusCode)) current = await operator();
  return answer.statusCode === 429 ? request({ ...input, as: current }) : answer;
}
const routes = app.routeList.filter(({ method }) => method !== 'HEAD');
const withBody = routes.filter(takesJson);
const needingBody = withBody.filter(({ schema }) => needsBody(schema?.body));
const uploads = routes.filter(({ schema }) => schema?.consumes !== undefined);
const json = { 'content-type': 'application/json' };
const multipart = { 'content-type': 'multipart/form-data; boundary=x' };

const ErrorShape = z.strictObject({
  statusCode: z.int(),
  error: z.string().min(3),
  code: z.string().regex(/^[A-Z][A-Z_]+$/),
  message: z.string().regex(/^[A-Z].*\.$/),
  details: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
});

type Answer = Awaited<ReturnType<typeof request>>;

/** Checks the error shape of a refusal and returns its status and code. */
function refusalOf(answer: Answer, route: { method: string; url: string }) {
  const { statusCode, code } = ErrorShape.parse(answer.json());
  expect(statusCode).toBe(answer.statusCode);
  return { route: `${route.method} ${route.url}`, status: answer.statusCode, code };
}

it.each([
  ['broken JSON', '{"a":', json, 400, 'INVALID_JSON'],
  ['no body under a JSON content type', '', json, 400, 'INVALID_JSON'],
  ['a value of another kind', '"text"', json, 400, 'VALIDATION_FAILED'],
  ['null', 'null', json, 400, 'VALIDATION_FAILED'],
  ['a NUL character', '{"a":"\\u0000"}', json, 400, 'VALIDATION_FAILED'],
  ['text', 'hello', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['XML', '<a/>', { 'content-type': 'application/xml' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['bytes without a type', 'hello', {}, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a compressed body', 'hello', { ...json, 'content-encoding': 'gzip' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['too much', JSON.stringify('x'.repeat(1024 * 1024)), json, 413, 'PAYLOAD_TOO_LARGE'],
])('a body that is %s is refused by every route that needs one', async (_case, payload, headers, status, code) => {
  for (const route of needingBody) {
    const answer = await send({
      method: methodOf(route),
      url: addressOf(route.url),
      payload,
      headers: headers,
    });
    expect(refusalOf(answer, route)).toMatchObject({ status, code });
  }
});

it.each([
  ['JSON', '{}', json, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['bytes without a type', 'hello', {}, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['no file', '--x--\r\n', multipart, 400, 'VALIDATION_FAILED'],
  [
    'cut off',
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
    multipart,
    400,
    'VALIDATION_FAILED',
  ],
  ['without a boundary', 'hello', { 'content-type': 'multipart/form-data' }, 400, 'VALIDATION_FAILED'],
  ['too much', 'x'.repeat(11 * 1024 * 1024), multipart, 413, 'PAYLOAD_TOO_LARGE'],
])('an upload that is %s is refused by every route that takes one', async (_case, payload, headers, status, code) => {
  expect(uploads.length).toBeGreaterThan(0);
  for (const route of uploads) {
    const answer = await send({
      method: methodOf(route),
      url: addressOf(route.url),
      payload,
      headers,
    });
    // A route reads the upload after it has found the target, which does not exist here.
    const isTargetMissing = status === 400 && route.url.includes(':');
    const own = status === 413 && route.config.errors?.[413]?.includes('TOO_LARGE');
    expect(refusalOf(answer, route)).toMatchObject(
      isTargetMissing ? { status: 404, code: 'NOT_FOUND' } : { status, code: own ? 'TOO_LARGE' : code },
    );
  }
});

const needsQuery = (schema: unknown): boolean => schema instanceof z.ZodType && !schema.safeParse({}).success;

it('a route that needs no body accepts an empty one with any content type', async () => {
  for (const route of routes.filter(
    ({ method, schema }) =>
      method !== 'GET' &&
      schema?.consumes === undefined &&
      !needsBody(schema?.body) &&
      !needsQuery(schema?.querystring),
  )) {
    const answer = await send({
      method: methodOf(route),
      url: addressOf(route.url),
      headers: json,
    });
    // 409: the feature of the route is not set up.
    expect([200, 201, 202, 204, 404, 409]).toContain(answer.statusCode);
  }
});

it('a wrong type in any field of a body is refused with the field’s name', async () => {
  for (const route of withBody) {
    const good = bodyExample(route);
    expect({ route: route.url, good }).toMatchObject({ good: expect.any(Object) });
    for (const field of Object.keys(good ?? {})) {
      for (const wrong of [{ wrong: { wrong: [] } }, [[]], 12.5]) {
        const answer = await send({
          method: methodOf(route),
          url: addressOf(route.url),
          payload: { ...good, [field]: wrong },
        });
        expect(refusalOf(answer, route)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.json<{ details: { path: string }[] }>().details.map(({ path }) => path.split('.')[0])).toContain(
          field,
        );
      }
    }
  }
});

it('a hostile string in any field of a body never causes a 5xx', { timeout: 120_000 }, async () => {
  const nasty = [
    '\u0001',
    '\u202e',
    '\ud800',
    "'; drop table users; --",
    '%00',
    '../../etc/passwd',
    '{{constructor}}',
    '😀'.repeat(5_000),
    '\r\nSet-Cookie: a=1',
  ];
  for (const route of withBody) {
    const good = bodyExample(route) ?? {};
    for (const field of Object.keys(good).filter((name) => typeof good[name] === 'string')) {
      // Each mailbox test starts its own process.
      for (const value of route.url.endsWith('/test') ? nasty.slice(0, 4) : nasty) {
        const answer = await send({
          method: methodOf(route),
          url: addressOf(route.url),
          payload: { ...good, [field]: value },
        });
        expect({ route: `${route.method} ${route.url}`, field, value, status: answer.statusCode }).toMatchObject({
          // 502: no mail server listens at the given address.
          status: expect.toSatisfy(
            (status: number) => status < 500 || (status === 502 && route.url === '/smtp-config/test'),
          ),
        });
        if (answer.statusCode >= 400) ErrorShape.parse(answer.json());
      }
    }
  }
});

it('a secret that is not valid Unicode is refused with the field’s name, because storing would change it', async () => {
  const { description } = SecretInput.meta() ?? {};
  const tried: string[] = [];
  for (const route of withBody) {
    const { properties = {} } = z.toJSONSchema(route.schema?.body as z.ZodType, {
      io: 'input',
      unrepresentable: 'any',
    });
    for (const [field, property] of Object.entries(properties)) {
      if ((property as z.core.JSONSchema.BaseSchema).description !== description) continue;
      const answer = await send({
        method: methodOf(route),
        url: addressOf(route.url),
        payload: { ...bodyExample(route), [field]: 'half a \ud800 pair' },
      });
      expect(refusalOf(answer, route)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.json()).toMatchObject({ details: [{ path: field, message: 'must be valid Unicode text' }] });
      tried.push(`${route.method} ${route.url}`);
    }
  }
  // Secrets of mail servers, directories, calendars, monitored servers and mailboxes.
  expect(tried.length).toBeGreaterThanOrEqual(17);
});

it('a wrong value in any part of a query is refused', async () => {
  for (const route of routes) {
    const { schema } = route;
    const parameters = Object.keys((schema?.querystring as z.ZodObject | undefined)?.shape ?? {});
    for (const name of parameters) {
      for (const query of [`${name}=1&${name}=2`, `${name}=${'x'.repeat(5_000)}`, `${name}=%00`]) {
        const answer = await send({
          method: methodOf(route),
          url: `${addressOf(route.url)}?${query}`,
          ...(uploads.includes(route) && { headers: multipart }),
        });
        expect(refusalOf(answer, route)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
      }
    }
  }
});

it('an unknown query parameter is ignored, and a NUL character in the query is refused everywhere', async () => {
  for (const route of routes.filter((one) => !uploads.includes(one))) {
    const url = addressOf(route.url);
    const ask = (query: string) =>
      send({
        method: methodOf(route),
        url: `${url}?${query}`,
        ...(route.schema?.body !== undefined && { payload: {} }),
      });
    expect((await ask('__proto__[x]=1&constructor=2&a[b][c]=3&=&&')).statusCode).toBeLessThan(500);
    expect(refusalOf(await ask('x=%00'), route)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  }
});

it('a malformed id answers 404', async () => {
  for (const route of routes.filter(({ url }) => url.includes(':'))) {
    for (const id of [
      '1',
      'null',
      '%20',
      "'",
      '00000000-0000-0000-0000-00000000000g',
      '..%2f..%2fetc',
      'x'.repeat(300),
    ]) {
      const answer = await send({
        method: methodOf(route),
        url: route.url.replaceAll(/:\w+/g, id),
        ...withGoodBody(route),
      });
      expect(refusalOf(answer, route)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
  }
});

it('invalid cookies and headers cause no 5xx', async () => {
  const rubbish = [
    '=',
    ';',
    'portal_session',
    'portal_session="',
    'portal_session=é',
    `x=${'y'.repeat(8_000)}`,
    'portal_session=eyJhbGciOiJub25lIn0.e30.',
  ];
  for (const route of routes) {
    for (const cookie of rubbish) {
      const answer = await request({
        method: methodOf(route),
        url: addressOf(route.url),
        headers: {
          cookie,
          accept: '\\',
          authorization: 'Bearer',
          'accept-language': 'ü',
          'if-none-match': '"',
          prefer: 'wait=-1',
          'user-agent': '',
        },
      });
      expect(answer.statusCode).toBeLessThan(500);
      if (route.config.access.kind !== 'open')
        expect(refusalOf(answer, route)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    }
  }
});

/** Whether a route pattern also matches the path of another route, as `/users/:id` matches `/users/me`. */
const serves = (pattern: string, url: string): boolean =>
  pattern === url || (!url.includes(':') && new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(url));

it('a path answers 405 to unsupported methods', async () => {
  const all = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'];
  for (const url of new Set(routes.map((route) => route.url))) {
    const has = app.routeList.filter((route) => serves(route.url, url)).map(({ method }) => method);
    for (const method of all.filter((name) => !has.includes(name))) {
      const answer = await request({ method: method, url: addressOf(url) });
      expect(refusalOf(answer, { method, url })).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
      const allowed = String(answer.headers['allow']).split(', ');
      expect(allowed).toEqual(allowed.toSorted());
      expect(has).toEqual(expect.arrayContaining(allowed));
    }
  }
});
