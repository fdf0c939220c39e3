import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { openPortal } from './client.ts';
import { rememberCookies } from './cookies.ts';
import type { Profile, Reminder, User } from './interface.ts';
import { PortalError } from './portal-error.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;
let answer: Answer = (_request, response) => response.end();
const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  answerWith(status, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8', ...headers });
const answerWith =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: Buffer;
}
let received: Received[] = [];
let baseUrl = '';
// A server for each test: the call that one test gave up may reach its server only during the next.
beforeEach(async () => {
  const ours: Received[] = [];
  received = ours;
  const server = createServer((request, response) => {
    void buffer(request)
      .then((body) => {
        const { method, url, headers } = request;
        ours.push({ method, url, headers, body });
        return answer(request, response, body);
      })
      .catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return () => {
    server.close();
    server.closeAllConnections();
  };
});

const portal = () => openPortal({ baseUrl });
/** The error that a call ends with. */
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('a call', () => {
  it('returns the body, with its type', async () => {
    answer = json(200, { id: '1', title: 'Angebot schicken' });
    const path = { id: 'a/b' };
    const changed = await portal().patch('/reminders/{id}', { params: { path }, body: { note: 'Heute' } });
    expectTypeOf(changed).toExtend<Reminder>();
    expect(changed).toEqual({ id: '1', title: 'Angebot schicken' });
    expect(received).toMatchObject([
      { method: 'PATCH', url: '/reminders/a%2Fb', headers: { 'content-type': 'application/json' } },
    ]);
    expect(received[0]?.body.toString()).toBe('{"note":"Heute"}');
  });

  it('needs no parameters where the route needs none', async () => {
    answer = json(200, []);
    expectTypeOf(await portal().get('/auth/me')).toExtend<Profile>();
    await portal().get('/users', { params: { query: { search: 'ü&=', role: 'ADMIN', limit: 5 } } });
    expect(received.map(({ url }) => url)).toEqual(['/auth/me', '/users?search=%C3%BC%26%3D&role=ADMIN&limit=5']);
    // @ts-expect-error No such role.
    await portal().get('/users', { params: { query: { role: 'KING' } } });
    // @ts-expect-error The reminder is not named.
    await failureOf(portal().get('/reminders/{id}'));
  });

  it('returns nothing for an empty answer', async () => {
    answer = answerWith(204, '');
    const nothing = await portal().delete('/reminders/{id}', { params: { path: { id: '1' } } });
    expectTypeOf(nothing).toEqualTypeOf<undefined>();
    expect(nothing).toBeUndefined();
    expect(await portal().post('/auth/logout')).toBeUndefined();
    expect(received[1]).toMatchObject({ method: 'POST', body: Buffer.alloc(0) });
    expect(received[1]?.headers).not.toHaveProperty('content-type');
  });

  it('returns bytes as a blob if asked to', async () => {
    answer = answerWith(200, Buffer.from([0, 255, 1]), { 'content-type': 'image/webp' });
    const picture = await portal().get('/users/me/avatar', { parseAs: 'blob' });
    expectTypeOf(picture).toEqualTypeOf<Blob>();
    expect([picture.type, [...new Uint8Array(await picture.arrayBuffer())]]).toEqual(['image/webp', [0, 255, 1]]);
  });

  it('shows requests and answers to whom they concern', async () => {
    answer = json(200, [], { 'x-list-version': '7' });
    const asked = portal();
    let version: string | null = null;
    asked.use({
      onRequest: ({ request }) => request.headers.set('prefer', 'wait=5'),
      onResponse: ({ response }) => void (version = response.headers.get('x-list-version')),
    });
    await asked.get('/reminders');
    expect([version, received[0]?.headers['prefer']]).toEqual(['7', 'wait=5']);
  });
});

describe('a refusal', () => {
  it('is a PortalError with all that the service says', async () => {
    const details = [
      { path: 'title', message: 'must not be empty' },
      { path: 'rows.3', message: 'is no number', code: 'NOT_A_NUMBER' },
    ];
    const body = { statusCode: 400, error: 'Bad Request', code: 'VALIDATION_FAILED', message: 'Not valid.', details };
    answer = json(400, body, { 'x-request-id': 'r-1' });
    const error = await failureOf(portal().post('/reminders', { body: { title: '', dueAt: '2036-01-08T08:00:00Z' } }));
    expect(error).toBeInstanceOf(PortalError);
    expect(error).toMatchObject({
      name: 'PortalError',
      status: 400,
      code: 'VALIDATION_FAILED',
      message: 'Not valid.',
      details,
      requestId: 'r-1',
      retryAfterSec: null,
    });
  });

  it.each([
    ['30', 30],
    ['0', 0],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
    ['-1', null],
  ])('says when to try again: Retry-After %s', async (header, retryAfterSec) => {
    answer = json(429, { code: 'RATE_LIMITED', message: 'Too many.' }, { 'retry-after': header });
    expect(await failureOf(portal().get('/auth/me'))).toMatchObject({
      code: 'RATE_LIMITED',
      details: [],
      retryAfterSec,
    });
  });

  it.each([
    [502, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
    [504, 'UNAVAILABLE'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL'],
    [404, 'INTERNAL'],
  ])('of a proxy has a code too: %d', async (status, code) => {
    answer = answerWith(status, '<h1>nginx</h1>', { 'content-type': 'text/html', 'retry-after': '3' });
    expect(await failureOf(portal().get('/auth/me'))).toMatchObject({
      status,
      code,
      message: `The service answered with the status ${status}.`,
      requestId: null,
      retryAfterSec: 3,
    });
    // JSON of another kind, and nothing at all
    for (const body of ['{"code":1,"message":"x"}', '{"message":"x"}', '"code"', 'null', '']) {
      answer = answerWith(status, body, { 'content-type': 'application/json' });
      expect(await failureOf(portal().get('/auth/me'))).toMatchObject({ status, code });
    }
  });
});

describe('a service that cannot be reached', () => {
  const unreachable = { status: 0, code: 'UNREACHABLE', details: [], requestId: null, retryAfterSec: null };

  it('is a PortalError, too', async () => {
    const error = await failureOf(openPortal({ baseUrl: 'http://127.0.0.1:1' }).get('/auth/me'));
    expect(error).toBeInstanceOf(PortalError);
    expect(error).toMatchObject({ ...unreachable, cause: expect.any(TypeError) });
  });

  it('may break off in the middle of an answer', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"id":', () => response.destroy());
    };
    expect(await failureOf(portal().get('/auth/me'))).toMatchObject(unreachable);
  });

  it('may have something before it that answers everything with its own page', async () => {
    answer = answerWith(200, '<h1>Please sign in to the hotel</h1>', { 'content-type': 'text/html' });
    expect(await failureOf(portal().get('/auth/me'))).toMatchObject(unreachable);
  });
});

describe('a call that is aborted', () => {
  it.each<[string, Answer]>([
    ['before the answer', () => undefined],
    ['within the answer', (_request, response) => response.writeHead(200).write('{"id":')],
  ])('%s throws the reason', async (_when, waiting) => {
    answer = waiting;
    const controller = new AbortController();
    const call = failureOf(portal().get('/auth/me', { signal: controller.signal }));
    await expect.poll(() => received.length).toBe(1);
    const reason = new Error('the page was left');
    controller.abort(reason);
    expect(await call).toBe(reason);
  });

  it('by a timeout, or before it began, throws that', async () => {
    answer = () => undefined;
    const slow = await failureOf(portal().get('/auth/me', { signal: AbortSignal.timeout(20) }));
    expect(slow).toMatchObject({ name: 'TimeoutError' });
    const never = await failureOf(portal().get('/auth/me', { signal: AbortSignal.abort() }));
    expect(never).toMatchObject({ name: 'AbortError' });
  });
});

describe('a page of a long list', () => {
  it('says where the next begins and how many there are', async () => {
    answer = json(200, [{ id: '1' }], { 'x-next-cursor': 'abc', 'x-total-count': '120' });
    const page = await portal().page('/users', { params: { query: { limit: 1 } } });
    expectTypeOf(page.items).toExtend<User[]>();
    expect(page).toEqual({ items: [{ id: '1' }], nextCursor: 'abc', totalCount: 120 });
  });

  it('is the last without a cursor, and may not be counted', async () => {
    answer = json(200, []);
    expect(await portal().page('/audit-log')).toEqual({ items: [], nextCursor: null, totalCount: null });
  });

  it('fails like any other call', async () => {
    answer = json(403, { code: 'FORBIDDEN', message: 'No.' });
    expect(await failureOf(portal().page('/users'))).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });
});

describe('a body with files', () => {
  /** The form as the service reads it. */
  const formOf = ({ headers, body }: Received): Promise<FormData> =>
    new Response(new Uint8Array(body), { headers: { 'content-type': String(headers['content-type']) } }).formData();

  it('is sent as a form, one part for each file', async () => {
    answer = json(200, {});
    const file = new File(['a,b'], 'Kantine März.csv', { type: 'text/csv' });
    await portal().post('/accounting/canteen/preview', { body: { file, month: '2026-11' } });
    const files = [new Blob(['1']), new File(['2'], 'b.pem')];
    await portal().post('/certificates/analyze', { body: { files } });
    const [canteen, certificates] = await Promise.all(received.map(formOf));
    const sent = canteen?.get('file');
    expect(sent instanceof File && [sent.name, sent.type, await sent.text()]).toEqual([file.name, file.type, 'a,b']);
    expect(canteen?.get('month')).toBe('2026-11');
    const arrived = certificates?.getAll('files').filter((each) => each instanceof File) ?? [];
    expect(await Promise.all(arrived.map((each) => each.text()))).toEqual(['1', '2']);
  });

  it('has its other fields as text or JSON, and leaves out what is undefined', async () => {
    answer = answerWith(204, '');
    const body = {
      screenshot: new Blob(['x']),
      message: 'ä',
      page: undefined,
      count: 3,
      isOpen: false,
      rows: [1, [2]],
    };
    await portal().post('/bug-reports', { body: body as never });
    const form = received[0] && (await formOf(received[0]));
    const texts = [...(form ?? [])].filter(([, value]) => typeof value === 'string');
    expect(Object.fromEntries(texts)).toEqual({ message: 'ä', count: '3', isOpen: 'false', rows: '[1,[2]]' });
  });
});

describe('cookies', () => {
  const setsCookies =
    (...cookies: string[]): Answer =>
    (_request, response) =>
      response.writeHead(204, { 'set-cookie': cookies }).end();

  it('are remembered outside browsers, until the service removes them', async () => {
    const signedIn = openPortal({ baseUrl, fetch: rememberCookies() });
    answer = setsCookies('portal_session=a.b=c; Path=/; HttpOnly; Max-Age=2592000', 'other=1');
    await signedIn.post('/auth/logout');
    answer = setsCookies('other=; Max-Age=0');
    await signedIn.post('/auth/logout');
    answer = setsCookies('portal_session=d; Path=/');
    await signedIn.post('/auth/logout');
    await signedIn.post('/auth/logout');
    expect(received.map(({ headers }) => headers['cookie'])).toEqual([
      undefined,
      'portal_session=a.b=c; other=1',
      'portal_session=a.b=c',
      'portal_session=d',
    ]);
  });

  it('of two clients are apart, and a client without a memory has none', async () => {
    answer = setsCookies('portal_session=a');
    const [one, another] = [rememberCookies(), rememberCookies()].map((fetch) => openPortal({ baseUrl, fetch }));
    const none = portal();
    for (const client of [one, none, another, none, one]) await client?.post('/auth/logout');
    expect(received.map(({ headers }) => headers['cookie'])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'portal_session=a',
    ]);
  });
});
