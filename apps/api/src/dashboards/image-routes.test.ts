import { expect, it } from 'vitest';
import { tinyGif } from '@portal/testing/pictures';
import { testApp } from '../../testing/app.ts';

const { make, request } = await testApp();

const upload = (bytes: Uint8Array, { field = 'image', name = 'fest.gif' } = {}) => ({
  method: 'POST' as const,
  url: '/dashboard/images',
  headers: { 'content-type': 'multipart/form-data; boundary=frontier' },
  payload: Buffer.concat([
    Buffer.from(
      `--frontier\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\ncontent-type: text/html\r\n\r\n`,
    ),
    bytes,
    Buffer.from('\r\n--frontier--\r\n'),
  ]),
});

it('stores a picture, lists it, serves it unchanged with headers against scripts, and deletes it', async () => {
  const as = await make.user();
  const bytes = Buffer.concat([tinyGif, Buffer.from('<script>alert(1)</script>')]);
  const answer = await request({ ...upload(bytes, { name: '../Grüße.html' }), as });
  const image = answer.json<{ id: string }>();
  expect([answer.statusCode, image]).toEqual([
    201,
    {
      id: expect.any(String),
      originalName: 'Grüße.html',
      type: 'image/gif',
      sizeBytes: bytes.length,
      createdAt: expect.stringMatching(/Z$/),
    },
  ]);
  expect((await request({ url: '/dashboard/images', as })).json()).toEqual([image]);
  expect((await request({ url: '/dashboard', as })).json()).toMatchObject({ images: [image] });
  const served = await request({ url: `/dashboard/images/${image.id}`, as });
  expect(served.rawPayload).toEqual(bytes);
  expect(served.headers).toMatchObject({
    'content-type': 'image/gif',
    'content-length': String(bytes.length),
    'cache-control': 'private',
    'x-content-type-options': 'nosniff',
    'content-disposition': 'inline',
    'content-security-policy': expect.stringContaining('sandbox'),
  });
  expect((await request({ method: 'DELETE', url: `/dashboard/images/${image.id}`, as })).statusCode).toBe(204);
  expect((await request({ url: `/dashboard/images/${image.id}`, as })).statusCode).toBe(404);
});

it('accepts 5 MiB and not a byte more', async () => {
  const as = await make.user();
  const sized = (bytes: number) => Buffer.concat([tinyGif, Buffer.alloc(bytes - tinyGif.length)]);
  const largest = await request({ ...upload(sized(5 * 1024 * 1024)), as });
  expect(largest.json()).toMatchObject({ sizeBytes: 5 * 1024 * 1024 });
  const tooLarge = await request({ ...upload(sized(5 * 1024 * 1024 + 1)), as });
  expect(tooLarge.json()).toMatchObject({ statusCode: 413, code: 'PAYLOAD_TOO_LARGE' });
  expect((await request({ url: '/dashboard/images', as })).json()).toEqual([largest.json()]);
});

it('refuses other files, and a picture in another field', async () => {
  const as = await make.user();
  for (const bytes of [
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    Buffer.alloc(0),
    tinyGif.subarray(0, 5),
  ]) {
    expect((await request({ ...upload(bytes), as })).json()).toMatchObject({
      statusCode: 400,
      code: 'UNSUPPORTED_IMAGE',
    });
  }
  expect((await request({ ...upload(tinyGif, { field: 'file' }), as })).json()).toMatchObject({
    statusCode: 400,
    code: 'VALIDATION_FAILED',
    details: [{ path: 'file', message: expect.any(String) }],
  });
  expect((await request({ url: '/dashboard/images', as })).json()).toEqual([]);
});

it('stores 30 pictures per account', async () => {
  const as = await make.user();
  const answers = await Promise.all(Array.from({ length: 32 }, () => request({ ...upload(tinyGif), as })));
  expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(30);
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 201)) {
    expect(answer.json()).toMatchObject({ statusCode: 409, code: 'IMAGE_LIMIT' });
  }
  expect((await request({ url: '/dashboard/images', as })).json()).toHaveLength(30);
});

it('resets a background whose picture is deleted', async () => {
  const as = await make.user();
  const { id: imageId } = (await request({ ...upload(tinyGif), as })).json<{ id: string }>();
  const background = { kind: 'image', imageId, fit: 'cover', dim: 20, blur: 0 };
  await request({ method: 'PATCH', url: '/users/me/dashboard-background', as, payload: background });
  expect((await request({ url: '/auth/me', as })).json()).toMatchObject({ dashboardBackground: background });
  await request({ method: 'DELETE', url: `/dashboard/images/${imageId}`, as });
  expect((await request({ url: '/auth/me', as })).json()).toMatchObject({ dashboardBackground: { kind: 'none' } });
});
