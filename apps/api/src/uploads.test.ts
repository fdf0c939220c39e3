import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { open, role, signedIn } from '@portal/domain/access';
import { notFound } from '@portal/domain/errors';
import { requiredLine, text } from '@portal/domain/text';
import { withGoodBody } from '../test/every-route.ts';
import { testApp } from '../testing/app.ts';
import { describeRoutes } from './openapi/document.ts';
import { acceptForms, FileForm, formFile, formFiles, formJson, readForm } from './uploads.ts';

const KiB = 1024;
const access = signedIn;

const Report = z
  .object({
    title: requiredLine(),
    description: text(),
    originKind: z.enum(['web', 'desktop']).optional(),
    screenshot: formFile(4 * KiB).optional(),
  })
  .meta({ example: { title: 'Leere Seite', description: 'Nach dem Anmelden.', screenshot: '(bytes)' } });
const Bundle = z
  .object({ files: formFiles(3, 4 * KiB), password: z.string().optional() })
  .meta({ example: { files: ['(bytes)'] } });
const Export = z
  .object({
    file: formFile(4 * KiB),
    accountsVersion: z.coerce.number().int(),
    assignments: formJson(z.array(z.object({ row: z.int(), number: z.string() })), 128 * KiB).optional(),
  })
  .meta({ example: { file: '(bytes)', accountsVersion: '7', assignments: '[{"row":2,"number":"4400"}]' } });

/** The name and the content of a file. */
const shown = (file?: { name: string | undefined; bytes: Buffer }) => file && [file.name, file.bytes.toString()];

const { app, request, make, logLines } = await testApp({
  routes: (added) => {
    acceptForms(added, (scope) => {
      scope.post('/reports', { config: { access }, schema: { body: Report } }, async (asked) => {
        const { screenshot, ...fields } = await readForm(asked);
        return { ...fields, ...(screenshot && { screenshot: shown(screenshot) }) };
      });
      scope.post('/bundles', { bodyLimit: 6 * KiB, config: { access }, schema: { body: Bundle } }, async (asked) => {
        const { files, password } = await readForm(asked);
        return { files: files.map(shown), password };
      });
      scope.post('/exports', { config: { access }, schema: { body: Export } }, async (asked) => {
        const { file, ...fields } = await readForm(asked);
        return { ...fields, file: shown(file) };
      });
      scope.post(
        '/things/:id',
        { config: { access: role('ADMIN') }, schema: { params: z.object({ id: z.string() }), body: Report } },
        async (asked) => {
          if (asked.params.id !== '1') throw notFound();
          return { title: (await readForm(asked)).title };
        },
      );
      scope.post('/open', { config: { access: open('a test says so') }, schema: { body: Bundle } }, async (asked) => ({
        files: (await readForm(asked)).files.length,
      }));
      scope.post(
        '/pictures',
        { config: { access }, schema: { body: FileForm('file', 1024 * KiB) } },
        async (asked) => ({
          size: (await readForm(asked)).file.bytes.length,
        }),
      );
    });
  },
});
const as = await make.user();

type Entry = [name: string, value: string | File];
const file = (content: string, name = 'a.bin') => new File([content], name);

async function encode(entries: Entry[]) {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  const encoded = new Response(form);
  return {
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    payload: Buffer.from(await encoded.arrayBuffer()),
  };
}

async function post(url: string, entries: Entry[]) {
  const answer = await request({ method: 'POST', url, as, ...(await encode(entries)) });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
}

const filled: Entry[] = [
  ['title', '  Leere Seite '],
  ['description', 'Zeile\r\nund Zeile'],
];

describe('a form', () => {
  it('is parsed by its schema, with and without optional parts', async () => {
    expect(
      await post('/reports', [...filled, ['originKind', 'web'], ['screenshot', file('PNG', 'Bild "1" ü.png')]]),
    ).toEqual({
      status: 200,
      body: {
        title: 'Leere Seite',
        description: 'Zeile\r\nund Zeile',
        originKind: 'web',
        screenshot: ['Bild "1" ü.png', 'PNG'],
      },
    });
    expect((await post('/reports', filled)).body).toEqual({ title: 'Leere Seite', description: 'Zeile\r\nund Zeile' });
  });

  it('ignores the empty file that a browser sends if the user chose none', async () => {
    expect((await post('/reports', [...filled, ['screenshot', file('', '')]])).body).not.toHaveProperty('screenshot');
    expect(await post('/bundles', [['files', file('', '')]])).toMatchObject({ status: 400 });
  });

  it('is read to its end even if it arrives in one piece', async () => {
    const size = 500 * KiB;
    expect(await post('/pictures', [['file', file('x'.repeat(size))]])).toEqual({ status: 200, body: { size } });
  });

  it('accepts several files under one name, in their order, between fields', async () => {
    const entries: Entry[] = [
      ['files', file('one', '1.pem')],
      ['password', 'geheim'],
      ['files', file('', 'empty.pem')],
      ['files', file('three'.repeat(500), '../folder/3.pem')],
    ];
    expect(await post('/bundles', entries)).toEqual({
      status: 200,
      body: {
        files: [
          ['1.pem', 'one'],
          ['empty.pem', ''],
          ['3.pem', 'three'.repeat(500)],
        ],
        password: 'geheim',
      },
    });
  });

  it('parses numbers and JSON in fields', async () => {
    const assignments = Array.from({ length: 2_000 }, (_, row) => ({ row, number: `${row}` }));
    const entries: Entry[] = [
      ['accountsVersion', '7'],
      ['assignments', JSON.stringify(assignments)],
      ['file', file('x')],
    ];
    expect(await post('/exports', entries)).toEqual({
      status: 200,
      body: { accountsVersion: 7, assignments, file: ['a.bin', 'x'] },
    });
  });

  it.each([
    ['broken', '{'],
    ['empty', ''],
    ['with a NUL character', '[{"row":1,"number":"\\u0000"}]'],
    ['of another kind', '{"__proto__":[]}'],
    ['too deep', '['.repeat(60_000)],
  ])('refuses a JSON field that is %s', async (_case, assignments) => {
    const entries: Entry[] = [
      ['accountsVersion', '7'],
      ['assignments', assignments],
      ['file', file('x')],
    ];
    expect(await post('/exports', entries)).toMatchObject({
      status: 400,
      body: { details: [{ path: 'assignments' }] },
    });
  });

  it('accepts the longest text in any script', async () => {
    for (const letter of ['ü', '€', '😀'])
      expect(
        (await post('/reports', [...filled.slice(0, 1), ['description', letter.repeat(10_000 / letter.length)]]))
          .status,
      ).toBe(200);
    expect(await post('/reports', [...filled.slice(0, 1), ['description', 'ü'.repeat(10_001)]])).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', details: [{ path: 'description' }] },
    });
  });
});

describe('a form is refused, naming the part, for', () => {
  it.each<[string, string, Entry[], number, string]>([
    ['a field cut off', '/reports', [['title', 'x'.repeat(64 * KiB + 1)]], 413, 'title'],
    ['a JSON field cut off', '/exports', [['assignments', ' '.repeat(128 * KiB + 1)]], 413, 'assignments'],
    ['a file too large', '/reports', [...filled, ['screenshot', file('x'.repeat(4 * KiB + 1))]], 413, 'screenshot'],
    [
      'a second file',
      '/reports',
      [
        ['screenshot', file('x')],
        ['screenshot', file('y')],
      ],
      413,
      'screenshot',
    ],
    ['too many files', '/bundles', Array.from({ length: 4 }, () => ['files', file('x')] as Entry), 413, 'files'],
    ['an unknown field', '/reports', [...filled, ['subject', 'x']], 400, 'subject'],
    ['an unknown file', '/reports', [...filled, ['attachment', file('x')]], 400, 'attachment'],
    ['a field given twice', '/reports', [...filled, ['title', 'x']], 400, 'title'],
    ['a missing field', '/reports', filled.slice(0, 1), 400, 'description'],
    ['a missing file', '/exports', [['accountsVersion', '1']], 400, 'file'],
    ['no files', '/bundles', [['password', 'x']], 400, 'files'],
    ['a wrong value', '/reports', [...filled, ['originKind', 'phone']], 400, 'originKind'],
    ['text in place of a file', '/bundles', [['files', 'x']], 400, 'files'],
    ['a file in place of text', '/reports', [['title', file('x')]], 400, 'title'],
    ['a NUL character', '/reports', [['title', 'a\0b']], 400, 'title'],
  ])('%s', async (_case, url, entries, status, path) => {
    const answer = await post(url, entries);
    expect(answer).toMatchObject({
      status,
      body: { code: status === 413 ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_FAILED', details: [{ path }] },
    });
  });

  it('more bytes than the whole form may have, announced or not', async () => {
    const entries = (size: number): Entry[] => [
      ['files', file('x'.repeat(3 * KiB))],
      ['files', file('x'.repeat(size))],
    ];
    expect((await post('/bundles', entries(3 * KiB))).status).toBe(200);
    expect(await post('/bundles', entries(3 * KiB + 1))).toMatchObject({
      status: 413,
      body: { message: 'The upload must not be larger than 6144 bytes.' },
    });
    const { headers } = await encode([]);
    const answer = await request({ method: 'POST', url: '/bundles', as, headers, payload: Buffer.alloc(80 * KiB) });
    expect(answer.statusCode).toBe(413);
  });

  it('these reasons without an error in the log', () => {
    expect(logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

it('checks session, role, content type, size and target before it reads the form', async () => {
  const admin = await make.user({ role: 'ADMIN' });
  const bad = await encode([['unknown', 'x']]);
  const large = { ...bad, payload: Buffer.alloc(1024 * KiB) };
  const ask = async (sent: object, account?: typeof admin, id = '2') =>
    (await request({ method: 'POST', url: `/things/${id}`, ...(account && { as: account }), ...sent })).statusCode;
  const plain = { headers: { 'content-type': 'text/plain' }, payload: 'x' };
  expect(await ask(large)).toBe(401);
  expect(await ask(large, as)).toBe(403);
  for (const sent of [plain, {}, { payload: 'x' }, { payload: {} }]) expect(await ask(sent, admin)).toBe(415);
  expect(await ask({ ...bad, headers: { ...bad.headers, 'content-encoding': 'gzip' } }, admin)).toBe(415);
  expect(await ask(large, admin)).toBe(413);
  expect(await ask(bad, admin)).toBe(404);
  expect(await ask(bad, admin, '1')).toBe(400);
  expect(await ask(await encode(filled), admin, '1')).toBe(200);
});

it('limits a form on an open route like other open bodies, unless the route raises the limit', async () => {
  const send = async (size: number) => {
    const sent = await encode([
      ['files', file('x'.repeat(4 * KiB))],
      ['files', file('x'.repeat(4 * KiB))],
      ['password', 'x'.repeat(size)],
    ]);
    return (await request({ method: 'POST', url: '/open', ...sent })).statusCode;
  };
  expect(await send(8 * KiB)).toBe(200);
  expect(await send(8 * KiB + 1)).toBe(413);
});

it('accepts the form that `withGoodBody` builds from its example', async () => {
  for (const [url, body] of [
    ['/reports', { title: 'Leere Seite', description: 'Nach dem Anmelden.', screenshot: expect.anything() }],
    ['/bundles', { files: [expect.anything()] }],
    ['/exports', { file: expect.anything(), accountsVersion: 7, assignments: [{ row: 2, number: '4400' }] }],
  ] as const) {
    const route = app.routeList.find((one) => one.url === url);
    const answer = await request({ method: 'POST', url, as, ...(route && withGoodBody(route)) });
    expect([answer.statusCode, answer.json()]).toEqual([200, body]);
  }
});

it('describes the form in the document', () => {
  const { paths } = describeRoutes(
    app.routeList.filter(({ url }) => ['/reports', '/exports', '/bundles'].includes(url)),
    {
      version: '1',
      cookieName: 'x',
    },
  );
  const bodyOf = (path: string) =>
    z
      .object({
        post: z.object({
          requestBody: z.object({ required: z.boolean(), content: z.record(z.string(), z.unknown()) }),
        }),
      })
      .parse(paths[path]).post.requestBody;
  const binary = { type: 'string', format: 'binary' };
  expect(bodyOf('/reports')).toEqual({
    required: true,
    content: {
      'multipart/form-data': {
        example: { title: 'Leere Seite', description: 'Nach dem Anmelden.', screenshot: '(bytes)' },
        schema: expect.objectContaining({
          required: ['title', 'description'],
          properties: expect.objectContaining({ screenshot: binary }),
        }),
      },
    },
  });
  expect(bodyOf('/bundles').content['multipart/form-data']).toMatchObject({
    schema: { required: ['files'], properties: { files: { type: 'array', items: binary, minItems: 1, maxItems: 3 } } },
  });
  expect(bodyOf('/exports').content['multipart/form-data']).toMatchObject({
    schema: { properties: { assignments: { type: 'string', contentMediaType: 'application/json' } } },
  });
});
