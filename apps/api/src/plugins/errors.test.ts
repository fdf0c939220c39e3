import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { open } from '@portal/domain/access';
import {
  busy,
  conflict,
  forbidden,
  invalidField,
  notFound,
  PortalError,
  unauthenticated,
  unavailable,
  upstream,
} from '@portal/domain/errors';
import { testApp } from '../../testing/app.ts';

const access = open('a test calls it');

/** The error of a statement that PostgreSQL refuses: the driver's error as the cause of the query builder's. */
const refusedByDatabase = (code: string) =>
  new Error('Failed query: select secret\nparams: hunter2', {
    cause: Object.assign(new Error('driver text'), { code, severity: 'ERROR' }),
  });

const thrown: Record<string, unknown> = {
  invalid: invalidField('filters.cpv.0', 'is no CPV code'),
  unauthenticated: unauthenticated('CURRENT_PASSWORD_WRONG', 'The current password is wrong.'),
  forbidden: forbidden(),
  notFound: notFound(),
  conflict: conflict('USERNAME_TAKEN', 'Another account has this username.'),
  tooLarge: new PortalError('PAYLOAD_TOO_LARGE', 'Too large.'),
  wrongType: new PortalError('UNSUPPORTED_MEDIA_TYPE', 'Not this.'),
  busy: busy('Slow down.', 61.2),
  upstream: upstream('MAIL_DELIVERY_FAILED', 'mail.example.org refused the recipient.'),
  unavailable: unavailable('The database cannot be reached right now.'),
  nulCharacter: refusedByDatabase('22021'),
  noNumber: refusedByDatabase('22P02'),
  duplicate: refusedByDatabase('23505'),
  timedOut: refusedByDatabase('57014'),
  noTable: refusedByDatabase('42P01'),
  bug: new TypeError('Cannot read properties of undefined'),
  string: 'a thrown string',
  nothing: undefined,
  disguised: Object.assign(new Error('secret inside'), { statusCode: 418 }),
  errno: Object.assign(new Error('ENOENT: /etc/secret'), { code: 'ENOENT' }),
};

const { request, logLines } = await testApp({
  routes: (app) => {
    app.get('/throw/:what', { config: { access }, schema: { params: z.object({ what: z.string() }) } }, (asked) => {
      throw thrown[asked.params.what];
    });
    app.get('/reject/:what', { config: { access }, schema: { params: z.object({ what: z.string() }) } }, (asked) =>
      Promise.reject(thrown[asked.params.what]),
    );
    app.get('/wrong-answer', { config: { access }, schema: { response: { 200: z.object({ id: z.uuid() }) } } }, () =>
      Promise.resolve({ id: ['secret'] as unknown as string }),
    );
    app.post(
      '/things',
      {
        // The limit of routes with a session.
        bodyLimit: 1024 * 1024,
        config: { access },
        schema: {
          body: z.object({
            name: z.string().min(1),
            parts: z.array(z.object({ size: z.number() })).default([]),
            more: z.unknown().optional(),
          }),
          response: { 201: z.object({ name: z.string() }) },
        },
      },
      async (asked, reply) => reply.code(201).send(asked.body),
    );
  },
});

describe('a refusal of a use case', () => {
  it.each([
    ['invalid', 400, { code: 'VALIDATION_FAILED', details: [{ path: 'filters.cpv.0', message: 'is no CPV code' }] }],
    [
      'unauthenticated',
      401,
      { error: 'Unauthorized', code: 'CURRENT_PASSWORD_WRONG', message: 'The current password is wrong.' },
    ],
    ['forbidden', 403, { error: 'Forbidden', code: 'FORBIDDEN' }],
    ['notFound', 404, { error: 'Not Found', code: 'NOT_FOUND', message: 'There is nothing here.' }],
    ['conflict', 409, { error: 'Conflict', code: 'USERNAME_TAKEN' }],
    ['tooLarge', 413, { code: 'PAYLOAD_TOO_LARGE' }],
    ['wrongType', 415, { code: 'UNSUPPORTED_MEDIA_TYPE' }],
    ['busy', 429, { error: 'Too Many Requests', code: 'RATE_LIMITED' }],
    ['upstream', 502, { error: 'Bad Gateway', code: 'MAIL_DELIVERY_FAILED' }],
    ['unavailable', 503, { error: 'Service Unavailable', code: 'UNAVAILABLE' }],
  ])('%s answers %d', async (what, statusCode, body) => {
    for (const way of ['throw', 'reject']) {
      const answer = await request({ url: `/${way}/${what}` });
      expect(answer.statusCode).toBe(statusCode);
      expect(answer.json()).toEqual(expect.objectContaining({ statusCode, message: expect.any(String), ...body }));
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    }
  });

  it('says when to retry', async () => {
    expect((await request({ url: '/throw/busy' })).headers['retry-after']).toBe('62');
    expect((await request({ url: '/throw/unavailable' })).headers['retry-after']).toBe('5');
    expect((await request({ url: '/throw/timedOut' })).headers['retry-after']).toBe('5');
    expect((await request({ url: '/throw/conflict' })).headers['retry-after']).toBeUndefined();
  });
});

describe('a refusal of the database', () => {
  it.each([
    ['nulCharacter', 400, 'VALIDATION_FAILED'],
    ['noNumber', 400, 'VALIDATION_FAILED'],
    ['duplicate', 409, 'CONFLICT'],
    ['timedOut', 503, 'UNAVAILABLE'],
    ['noTable', 500, 'INTERNAL'],
  ])('%s answers %d %s without the database’s text', async (what, statusCode, code) => {
    const answer = await request({ url: `/throw/${what}` });
    expect(answer.json()).toMatchObject({ statusCode, code });
    expect(answer.body).not.toMatch(/driver text|Failed query|hunter2/);
  });
});

describe('an unexpected error', () => {
  it.each(['bug', 'string', 'disguised', 'errno', 'nothing'])('%s answers 500 with a fixed message', async (what) => {
    for (const way of ['throw', 'reject']) {
      const answer = await request({ url: `/${way}/${what}` });
      expect(answer.json()).toEqual({
        statusCode: 500,
        error: 'Internal Server Error',
        code: 'INTERNAL',
        message: 'Something went wrong on our side.',
      });
    }
  });

  it('includes an answer that violates the schema of its route', async () => {
    const answer = await request({ url: '/wrong-answer' });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('secret');
  });

  it('is logged once, as an error, with request id and stack', async () => {
    const { headers } = await request({ url: '/throw/bug' });
    const lines = logLines.filter(({ requestId }) => requestId === headers['x-request-id']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'error',
      msg: 'request',
      route: '/throw/:what',
      status: 500,
      err: {
        type: 'TypeError',
        message: 'Cannot read properties of undefined',
        stack: expect.stringContaining('errors.test.ts'),
      },
    });
  });
});

describe('a body', () => {
  const post = (payload: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    request({ method: 'POST', url: '/things', payload, headers });

  it('gets the path of every invalid value', async () => {
    const answer = await post(JSON.stringify({ name: '', parts: [{ size: 1 }, { size: 'big' }] }));
    expect(answer.json()).toMatchObject({
      statusCode: 400,
      code: 'VALIDATION_FAILED',
      details: [{ path: 'name' }, { path: 'parts.1.size' }],
    });
  });

  it('with ten thousand invalid values gets a short answer', async () => {
    const answer = await post(JSON.stringify({ name: 'x', parts: Array.from({ length: 10_000 }, () => ({})) }));
    expect(answer.json<{ details: unknown[] }>().details).toHaveLength(50);
  });

  it('that is not UTF-8 is refused, because decoding would change the text', async () => {
    const headers = { 'content-type': 'application/json' };
    const payload = Buffer.from('{"name":"M\u00fcller"}', 'latin1');
    const answer = await request({ method: 'POST', url: '/things', headers, payload });
    expect(answer.json()).toMatchObject({
      statusCode: 400,
      code: 'INVALID_JSON',
      message: expect.stringContaining('UTF-8'),
    });
  });

  it.each([
    ['broken', '{"name":'],
    ['empty', ''],
    ['not JSON', 'name=x'],
    ['two values', '{"name":"x"} {"name":"y"}'],
    ['a literal NUL', '{"name":"\0"}'],
    ['NaN', '{"name":NaN}'],
  ])('that is %s answers INVALID_JSON', async (_case, payload) => {
    const answer = await post(payload);
    expect(answer.json()).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      code: 'INVALID_JSON',
      message: 'The request body is not valid JSON.',
    });
  });

  it.each(['null', '[]', '"text"', '12', 'true'])('that is %s is not the expected object', async (payload) => {
    expect((await post(payload)).json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED' });
  });

  it.each([
    '{"name":"a\\u0000b"}',
    '{"name":"x","more":[[{"deep":"\\u0000"}]]}',
    '{"name":"x","a\\u0000":1}',
    '"\\u0000"',
  ])('with a NUL character is refused: %s', async (payload) => {
    expect((await post(payload)).json()).toMatchObject({
      statusCode: 400,
      code: 'VALIDATION_FAILED',
      message: 'The request contains a NUL character.',
    });
  });

  it('may contain the escaped text of a NUL character', async () => {
    expect((await post(String.raw`{"name":"\\u0000"}`)).json()).toEqual({ name: String.raw`\u0000` });
  });

  it.each([
    ['no content type', {}],
    ['plain text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['an upload', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['nonsense', { 'content-type': '<<>>' }],
    ['another JSON', { 'content-type': 'application/json-seq' }],
    ['another encoding', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['compression', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('sent as %s answers 415', async (_case, headers) => {
    expect((await post('{"name":"x"}', headers as Record<string, string>)).json()).toMatchObject({
      statusCode: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json; charset="UTF-8"',
    'APPLICATION/JSON',
  ])('sent as %s is accepted', async (type) => {
    expect((await post('{"name":"x"}', { 'content-type': type })).statusCode).toBe(201);
  });

  it('over 1 MiB answers 413, exactly 1 MiB is accepted', async () => {
    const padded = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`;
    expect((await post(padded(1024 * 1024 + 1))).json()).toMatchObject({ statusCode: 413, code: 'PAYLOAD_TOO_LARGE' });
    expect((await post(padded(1024 * 1024))).statusCode).toBe(201);
  });

  it('cannot reach a prototype', async () => {
    const answer = await post(
      '{"name":"x","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    );
    expect(answer.statusCode).toBe(201);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('nested as deep as its size allows is handled normally', async () => {
    const depth = 250_000;
    expect((await post(`{"name":"x","more":${'['.repeat(depth)}${']'.repeat(depth)}}`)).statusCode).toBe(201);
    expect((await post(`{"name":"x","more":${'['.repeat(depth)}"\\u0000"${']'.repeat(depth)}}`)).statusCode).toBe(400);
    expect((await post(`{"name":"x","more":${'['.repeat(depth)}`)).json()).toMatchObject({ code: 'INVALID_JSON' });
  });
});

describe('an address', () => {
  it.each(['/%E0%A4%A', '/things/%', '/users/%ff'])('that does not decode answers 400: %s', async (url) => {
    const answer = await request({ url });
    expect(answer.json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED' });
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  });

  it('with a segment longer than any id answers 404', async () => {
    expect((await request({ url: `/throw/${'x'.repeat(5_000)}` })).json()).toEqual(
      (await request({ url: '/nowhere' })).json(),
    );
  });

  it('with a NUL character is refused', async () => {
    expect((await request({ url: '/throw/a%00b' })).json()).toMatchObject({
      statusCode: 400,
      code: 'VALIDATION_FAILED',
    });
    expect((await request({ url: '/health?x=%00' })).json()).toMatchObject({
      statusCode: 400,
      code: 'VALIDATION_FAILED',
    });
  });
});
