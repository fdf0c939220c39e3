import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { tinyGif } from '@portal/testing/pictures';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { testApp } from '../testing/app.ts';

/** A store whose answers a test chooses; the objects and calls it has received. */
const objects = new Map<string, Buffer>();
let calls: string[] = [];
type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;
const usual: Answer = (request, response) => {
  const found = objects.get(request.url ?? '');
  if (request.method === 'PUT' || request.method === 'DELETE') return response.writeHead(200).end();
  if (!found) return response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
  return response.writeHead(200, { 'content-length': found.length }).end(found);
};
let answer = usual;
const store = await startHttpServer((request, response) => {
  calls.push(request.method ?? '');
  void buffer(request).then(
    (body) => {
      if (request.method === 'PUT' && answer === usual) objects.set(request.url ?? '', body);
      if (request.method === 'DELETE' && answer === usual) objects.delete(request.url ?? '');
      answer(request, response);
    },
    () => undefined,
  );
});
afterAll(() => store.close());
const { app, make, request, cookieOf, logLines } = await testApp({
  env: {
    FILES_URL: `s3://portal-files/all?endpoint=${store.origin}`,
    S3_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    S3_SECRET_ACCESS_KEY: 'hunter2-of-the-store',
  },
});
await app.listen({ host: '127.0.0.1', port: 0 });
const origin = app.listeningOrigin;
beforeEach(() => {
  answer = usual;
  calls = [];
});

const user = await make.user();
const upload = () =>
  request({
    method: 'POST',
    url: '/dashboard/images',
    headers: { 'content-type': 'multipart/form-data; boundary=frontier' },
    payload: Buffer.concat([
      Buffer.from('--frontier\r\ncontent-disposition: form-data; name="image"; filename="../a b.gif"\r\n\r\n'),
      tinyGif,
      Buffer.from('\r\n--frontier--\r\n'),
    ]),
    as: user,
  });
const stored = async (): Promise<string> => `/dashboard/images/${(await upload()).json<{ id: string }>().id}`;
const refusing =
  (status: number): Answer =>
  (_request, response) =>
    response.writeHead(status).end();

it('keeps a picture under its id alone, and no file of it on this machine', async () => {
  const url = await stored();
  const [key = ''] = [...objects.keys()].slice(-1);
  expect(key).toMatch(/^\/portal-files\/all\/dashboard-images\/[0-9a-f]{2}\/[-0-9a-f]{36}\.gif$/);
  const shown = await request({ url, as: user });
  expect([shown.statusCode, shown.rawPayload]).toEqual([200, tinyGif]);
  expect(shown.headers['content-length']).toBe(String(tinyGif.length));
  expect((await request({ method: 'DELETE', url, as: user })).statusCode).toBe(204);
  expect(objects.has(key)).toBe(false);
});

it('opens no body for HEAD', async () => {
  const url = await stored();
  calls = [];
  const head = await request({ method: 'HEAD', url, as: user });
  expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([200, String(tinyGif.length), '']);
  expect(calls).toEqual(['HEAD']);
  expect((await request({ method: 'DELETE', url, as: user })).statusCode).toBe(204);
});

it.each([
  ['refuses the keys', refusing(403), '60'],
  ['fails', refusing(500), '5'],
  ['breaks off', ({ socket }: IncomingMessage) => socket.destroy(), '5'],
])('answers 503 with a time to wait while the store %s, and other calls as ever', async (_what, fault, wait) => {
  const url = await stored();
  answer = fault;
  for (const call of [() => request({ url, as: user }), upload]) {
    const refused = await call();
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'UNAVAILABLE']);
    expect(refused.json().message).toBe('Files cannot be read or stored right now. Please try again later.');
    expect(refused.headers['retry-after']).toBe(wait);
  }
  expect((await request({ url: '/auth/me', as: user })).statusCode).toBe(200);
  expect((await request({ url: '/dashboard/images', as: user })).json()).toHaveLength(1);
  // The row is gone, and the sweep removes the object.
  expect((await request({ method: 'DELETE', url, as: user })).statusCode).toBe(204);
  expect(JSON.stringify(logLines)).not.toMatch(/hunter2|AKIDEXAMPLE|Signature=/);
});

it('breaks the connection of a download that the store cuts', async () => {
  const url = await stored();
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': 200_000 }).write(Buffer.alloc(100_000));
    setTimeout(() => response.destroy(), 100);
  };
  const download = await fetch(`${origin}${url}`, { headers: { cookie: await cookieOf(user) } });
  expect([download.status, download.headers.get('content-length')]).toEqual([200, '200000']);
  await expect(download.arrayBuffer()).rejects.toThrow();
  answer = usual;
  await request({ method: 'DELETE', url, as: user });
});
