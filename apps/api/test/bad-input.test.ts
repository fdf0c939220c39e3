import { expect, it } from 'vitest';
import { z } from 'zod';
import { SecretInput } from '@portal/domain/secret-input';
import { needsBody } from '../src/plugins/json-body.ts';
import { testApp } from '../testing/app.ts';
import { addressOf, bodyExample, methodOf, takesJson, withGoodBody } from './every-route.ts';

const { app, request, make } = await testApp();
// One for each request: some routes end all sessions of who calls them.
// Without an address nobody waits for a mail that no worker sends here.
const everyRight = () => make.user({ role: 'SUPER_ADMIN', email: null });
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

/** What a refusal says, once it is seen to have the one error shape. */
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
    const answer = await request({
      method: methodOf(route),
      url: addressOf(route.url),
      as: await everyRight(),
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
    const answer = await request({
      method: methodOf(route),
      url: addressOf(route.url),
      as: await everyRight(),
      payload,
      headers,
    });
    // What an upload holds is looked at once its target is found, and here there is none.
    const isLookedUpFirst = status === 400 && route.url.includes(':');
    const own = status === 413 && route.config.errors?.[413]?.includes('TOO_LARGE');
    expect(refusalOf(answer, route)).toMatchObject(
      isLookedUpFirst ? { status: 404, code: 'NOT_FOUND' } : { status, code: own ? 'TOO_LARGE' : code },
    );
  }
});

const needsQuery = (schema: unknown): boolean => schema instanceof z.ZodType && !schema.safeParse({}).success;

it('no body at all is fine where none is needed, whatever content type is named', async () => {
  for (const route of routes.filter(
    ({ method, schema }) =>
      method !== 'GET' &&
      schema?.consumes === undefined &&
      !needsBody(schema?.body) &&
      !needsQuery(schema?.querystring),
  )) {
    const answer = await request({
      method: methodOf(route),
      url: addressOf(route.url),
      as: await everyRight(),
      headers: json,
    });
    // 409: nothing is set up that could be done here.
    expect([200, 201, 202, 204, 404, 409]).toContain(answer.statusCode);
  }
});

it('a wrong type in any field of a body is refused by name', async () => {
  for (const route of withBody) {
    const good = bodyExample(route);
    expect({ route: route.url, good }).toMatchObject({ good: expect.any(Object) });
    for (const field of Object.keys(good ?? {})) {
      for (const wrong of [{ wrong: { wrong: [] } }, [[]], 12.5]) {
        const answer = await request({
          method: methodOf(route),
          url: addressOf(route.url),
          as: await everyRight(),
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

it('a nasty string in any field of a body never fails inside', { timeout: 120_000 }, async () => {
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
      // Each trial of a mailbox is a process of its own.
      for (const value of route.url.endsWith('/test') ? nasty.slice(0, 4) : nasty) {
        const answer = await request({
          method: methodOf(route),
          url: addressOf(route.url),
          as: await everyRight(),
          payload: { ...good, [field]: value },
        });
        expect({ route: `${route.method} ${route.url}`, field, value, status: answer.statusCode }).toMatchObject({
          // 502: the mail server somebody named is not there.
          status: expect.toSatisfy(
            (status: number) => status < 500 || (status === 502 && route.url === '/smtp-config/test'),
          ),
        });
        if (answer.statusCode >= 400) ErrorShape.parse(answer.json());
      }
    }
  }
});

it('a secret that is no valid Unicode is refused by name, for it would be stored as another one', async () => {
  const { description } = SecretInput.meta() ?? {};
  const tried: string[] = [];
  for (const route of withBody) {
    const { properties = {} } = z.toJSONSchema(route.schema?.body as z.ZodType, {
      io: 'input',
      unrepresentable: 'any',
    });
    for (const [field, property] of Object.entries(properties)) {
      if ((property as z.core.JSONSchema.BaseSchema).description !== description) continue;
      const answer = await request({
        method: methodOf(route),
        url: addressOf(route.url),
        as: await everyRight(),
        payload: { ...bodyExample(route), [field]: 'half a \ud800 pair' },
      });
      expect(refusalOf(answer, route)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.json()).toMatchObject({ details: [{ path: field, message: 'must be valid Unicode text' }] });
      tried.push(`${route.method} ${route.url}`);
    }
  }
  // Of mail server, directory, calendars, monitored servers and mailboxes.
  expect(tried.length).toBeGreaterThanOrEqual(17);
});

it('a wrong value in any part of a query is refused', async () => {
  for (const route of routes) {
    const { schema } = route;
    const parameters = Object.keys((schema?.querystring as z.ZodObject | undefined)?.shape ?? {});
    for (const name of parameters) {
      for (const query of [`${name}=1&${name}=2`, `${name}=${'x'.repeat(5_000)}`, `${name}=%00`]) {
        const answer = await request({
          method: methodOf(route),
          url: `${addressOf(route.url)}?${query}`,
          as: await everyRight(),
          ...(uploads.includes(route) && { headers: multipart }),
        });
        expect(refusalOf(answer, route)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
      }
    }
  }
});

it('a query nobody asked for changes nothing, and a NUL character in it is refused everywhere', async () => {
  for (const route of routes.filter((one) => !uploads.includes(one))) {
    const url = addressOf(route.url);
    const send = async (query: string) =>
      request({
        method: methodOf(route),
        url: `${url}?${query}`,
        as: await everyRight(),
        ...(route.schema?.body !== undefined && { payload: {} }),
      });
    expect((await send('__proto__[x]=1&constructor=2&a[b][c]=3&=&&')).statusCode).toBeLessThan(500);
    expect(refusalOf(await send('x=%00'), route)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  }
});

it('an id that is no id is the id of nothing', async () => {
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
      const answer = await request({
        method: methodOf(route),
        url: route.url.replaceAll(/:\w+/g, id),
        as: await everyRight(),
        ...withGoodBody(route),
      });
      expect(refusalOf(answer, route)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
  }
});

it('rubbish in cookies and other headers is nobody’s problem', async () => {
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

/** Whether a pattern takes the address another one names in full, as `/users/:id` takes `/users/me`. */
const serves = (pattern: string, url: string): boolean =>
  pattern === url || (!url.includes(':') && new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(url));

it('a path answers 405 to the methods it does not have', async () => {
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
