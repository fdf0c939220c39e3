import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';

const { app, make, request, runtime, config, cookieOf } = await testApp({
  env: { RELEASE_VERSION: '1.4.0', RELEASE_CHANNEL: 'live' },
});

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A gray PNG of this size; with `claims`, its header claims another size. */
function png(width: number, height: number, claims: { width: number; height: number } = { width, height }): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(claims.width, 0);
  header.writeUInt32BE(claims.height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, 0x80);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const upload = (bytes: Uint8Array, field = 'file') => ({
  method: 'POST' as const,
  url: '/users/me/avatar',
  headers: { 'content-type': 'multipart/form-data; boundary=frontier' },
  payload: Buffer.concat([
    Buffer.from(
      `--frontier\r\ncontent-disposition: form-data; name="${field}"; filename="../../me.png"\r\ncontent-type: text/html\r\n\r\n`,
    ),
    bytes,
    Buffer.from('\r\n--frontier--\r\n'),
  ]),
});

const storedFiles = async (): Promise<string[]> =>
  (await readdir(join(config.dataDir, 'files'), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

describe('an avatar', () => {
  it('is re-encoded from the upload, shown only within the tenant, and removed', async () => {
    const user = await make.user();
    const colleague = await make.user({ tenantId: user.tenantId });
    const stranger = await make.user({ role: 'SUPER_ADMIN' });
    expect((await request({ url: '/users/me/avatar', as: user })).statusCode).toBe(404);
    const answer = await request({ ...upload(png(900, 300)), as: user });
    expect([answer.statusCode, answer.json()]).toEqual([200, { hasAvatar: true }]);
    const own = await request({ url: '/users/me/avatar', as: user });
    expect(own.headers).toMatchObject({
      'content-type': 'image/webp',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(own.headers['content-security-policy']).toContain('sandbox');
    expect(own.rawPayload.subarray(8, 12).toString()).toBe('WEBP');
    expect(Number(own.headers['content-length'])).toBe(own.rawPayload.length);
    expect((await request({ url: `/users/${user.id}/avatar`, as: colleague })).rawPayload).toEqual(own.rawPayload);
    expect((await request({ url: `/users/${user.id}/avatar`, as: stranger })).statusCode).toBe(404);
    expect((await request({ url: '/auth/me', as: user })).json()).toMatchObject({ hasAvatar: true });
    expect((await request({ method: 'DELETE', url: '/users/me/avatar', as: user })).statusCode).toBe(204);
    expect((await request({ method: 'DELETE', url: '/users/me/avatar', as: user })).statusCode).toBe(204);
    expect((await request({ url: '/users/me/avatar', as: user })).statusCode).toBe(404);
    expect(await storedFiles()).toEqual([]);
  });

  it('leaves one file on disk after many concurrent changes, and none after the account is deleted', async () => {
    const user = await make.user();
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => request({ ...upload(png(20, 20)), as: user })),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
    expect(await storedFiles()).toHaveLength(1);
    const admin = await make.user({ tenantId: user.tenantId, role: 'ADMIN' });
    expect((await request({ method: 'DELETE', url: `/users/${user.id}`, as: admin })).statusCode).toBe(204);
    expect(await storedFiles()).toEqual([]);
  });

  it.each([
    ['text under a picture’s name', Buffer.from('<script>alert(1)</script>'), 400, 'UNSUPPORTED_IMAGE'],
    ['cut short', png(100, 100).subarray(0, 80), 400, 'UNSUPPORTED_IMAGE'],
    [
      '30,000 pixels wide and high by its header',
      png(10, 10, { width: 30_000, height: 30_000 }),
      400,
      'UNSUPPORTED_IMAGE',
    ],
    ['a GIF', Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00;', 'latin1'), 400, 'UNSUPPORTED_IMAGE'],
    ['empty', Buffer.alloc(0), 400, 'UNSUPPORTED_IMAGE'],
    [
      'one byte too large',
      Buffer.concat([png(10, 10), Buffer.alloc(2 * 1024 * 1024 + 1 - png(10, 10).length)]),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
  ])('is refused and leaves nothing behind if it is %s', async (_, bytes, status, code) => {
    const answer = await request({ ...upload(bytes), as: await make.user() });
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([status, code]);
    expect(await storedFiles()).toEqual([]);
  });

  it('must be the only file, in the field `file`', async () => {
    const answer = await request({ ...upload(png(10, 10), 'picture'), as: await make.user() });
    expect(answer.json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED', details: [{ path: 'picture' }] });
  });
});

describe('PATCH /users/me', () => {
  it('changes color and name of a local account', async () => {
    const answer = await request({
      method: 'PATCH',
      url: '/users/me',
      as: await make.user(),
      payload: { accentColor: '#ABCDEF', displayName: 'Neu', role: 'ADMIN' },
    });
    expect(answer.json()).toMatchObject({ accentColor: '#abcdef', displayName: 'Neu', role: 'USER' });
    expect(
      (await request({ method: 'PATCH', url: '/users/me', as: await make.user(), payload: { accentColor: 'red' } }))
        .statusCode,
    ).toBe(400);
  });

  it('changes language and theme of a directory account too, and null follows the browser again', async () => {
    const user = await make.user({ ldapDn: 'uid=anna,dc=example,dc=org' });
    const patch = (payload: object) => request({ method: 'PATCH', url: '/users/me', as: user, payload });
    const both = (await patch({ language: 'en', theme: 'dark' })).json();
    expect(both).toMatchObject({ language: 'en', theme: 'dark', accentColor: '#2563eb' });
    expect((await patch({ theme: null })).json()).toMatchObject({ language: 'en', theme: null });
    expect((await request({ url: '/auth/me', as: user })).json()).toMatchObject({ language: 'en', theme: null });
    expect((await patch({ language: null })).json()).toMatchObject({ language: null, theme: null });
    for (const wrong of [{ language: 'fr' }, { language: '' }, { language: 'DE' }, { theme: 'blue' }, { theme: true }])
      expect((await patch(wrong)).json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED' });
  });

  it('changes nothing if the new address cannot be confirmed', async () => {
    const user = await make.user();
    const payload = { email: 'another@example.org', currentPassword: 'any password', displayName: 'Neu' };
    expect((await request({ method: 'PATCH', url: '/users/me', as: user, payload })).json()).toMatchObject({
      statusCode: 409,
      code: 'MAIL_NOT_CONFIGURED',
    });
    expect((await request({ url: '/auth/me', as: user })).json()).toMatchObject({
      email: user.email,
      displayName: null,
      pendingEmail: null,
    });
  });

  it('refuses name and address of a directory account but changes its color', async () => {
    const user = await make.user({ ldapDn: 'uid=x,dc=example' });
    for (const payload of [{ displayName: 'x' }, { email: 'x@example.org' }]) {
      expect((await request({ method: 'PATCH', url: '/users/me', as: user, payload })).json()).toMatchObject({
        statusCode: 409,
        code: 'DIRECTORY_ACCOUNT',
      });
    }
    expect(
      (await request({ method: 'PATCH', url: '/users/me', as: user, payload: { accentColor: '#112233' } })).statusCode,
    ).toBe(200);
  });
});

describe('the dashboard background', () => {
  const set = async (payload: object, as?: Awaited<ReturnType<typeof make.user>>) =>
    request({ method: 'PATCH', url: '/users/me/dashboard-background', as: as ?? (await make.user()), payload });

  it.each([
    { kind: 'none' },
    { kind: 'color', color: '#0f172a' },
    { kind: 'gradient', from: '#000000', to: '#FFFFFF', angle: 45 },
  ])('%j is stored and shown in the profile', async (background) => {
    const user = await make.user();
    expect((await set(background, user)).json()).toMatchObject({ dashboardBackground: background });
    expect((await request({ url: '/auth/me', as: user })).json()).toMatchObject({ dashboardBackground: background });
  });

  it.each([
    {},
    { kind: 'video' },
    { kind: 'color', color: 'red' },
    { kind: 'color', color: '#0f172a', url: 'https://example.org' },
    { kind: 'gradient', from: '#000000', to: '#ffffff', angle: 361 },
    { kind: 'image', imageId: '../../etc/passwd', fit: 'cover', dim: 0, blur: 0 },
    { kind: 'image', imageId: newId(), fit: 'stretch', dim: 0, blur: 0 },
    { kind: 'image', imageId: newId(), fit: 'cover', dim: 101, blur: 0 },
  ])('%j is refused', async (background) => {
    expect((await set(background)).statusCode).toBe(400);
  });

  it('accepts only pictures of the caller', async () => {
    const user = await make.user();
    const image = {
      id: newId(),
      tenantId: user.tenantId,
      userId: user.id,
      originalName: 'a.png',
      type: 'image/png',
      sizeBytes: 1,
      storagePath: 'a',
    };
    await runtime.database.inTenant(user.tenantId).tx((tx) => tx.insert(dashboardImages).values(image));
    const background = { kind: 'image', imageId: image.id, fit: 'cover', dim: 20, blur: 4 };
    expect((await set(background, user)).json()).toMatchObject({ dashboardBackground: background });
    expect((await set(background, await make.user({ tenantId: user.tenantId }))).json()).toMatchObject({
      statusCode: 404,
      code: 'NOT_FOUND',
    });
    expect((await set({ ...background, imageId: newId() }, user)).statusCode).toBe(404);
  });
});

describe('releases', () => {
  it('are new until the user has seen them, and the seen version never decreases', async () => {
    const user = await make.user();
    const cookie = await cookieOf(user);
    const notice = async () =>
      (await app.inject({ url: '/users/me/release-notice', headers: { cookie } })).json<object>();
    const see = async (version: unknown) => {
      const answer = await app.inject({
        method: 'POST',
        url: '/users/me/release-seen',
        headers: { cookie },
        payload: { version },
      });
      return [answer.statusCode, answer.json<{ lastSeenVersion?: string }>().lastSeenVersion];
    };
    expect(await notice()).toEqual({
      running: { version: '1.4.0', channel: 'live' },
      lastSeenVersion: null,
      isNew: true,
    });
    expect(await see('v1.3.0')).toEqual([200, '1.3.0']);
    expect(await see('1.2.9')).toEqual([200, '1.3.0']);
    expect(await notice()).toMatchObject({ isNew: true });
    expect(await see('1.4.0')).toEqual([200, '1.4.0']);
    expect(await notice()).toMatchObject({ lastSeenVersion: '1.4.0', isNew: false });
    for (const wrong of ['1.4.1', 'nonsense', '', null, 5]) expect((await see(wrong))[0]).toBe(400);
  });

  it('count as seen for accounts created under them, and cannot be compared on dev', async () => {
    const admin = await make.user({ role: 'ADMIN' });
    const created = await request({
      method: 'POST',
      url: '/users',
      as: admin,
      payload: { username: `rel-${newId()}` },
    });
    expect(created.json()).toMatchObject({ lastSeenReleaseVersion: '1.4.0' });
    const dev = await testApp();
    const user = await dev.make.user();
    expect((await dev.request({ url: '/users/me/release-notice', as: user })).json()).toEqual({
      running: { version: 'dev', channel: 'dev' },
      lastSeenVersion: null,
      isNew: false,
    });
    expect(
      (
        await dev.request({ method: 'POST', url: '/users/me/release-seen', as: user, payload: { version: '1.0.0' } })
      ).json(),
    ).toMatchObject({ statusCode: 400, code: 'NOT_COMPARABLE' });
  });
});

it('stores a blank name as null and records a changed one in the audit log', async () => {
  const user = await make.user({ displayName: 'Anna' });
  const admin = await make.user({ tenantId: user.tenantId, role: 'ADMIN' });
  const rename = async (displayName: string | null) =>
    (await request({ method: 'PATCH', url: '/users/me', as: user, payload: { displayName } })).json().displayName;
  expect(await rename('Anna')).toBe('Anna');
  expect(await rename('  ')).toBeNull();
  expect(await rename(null)).toBeNull();
  const made = await request({
    method: 'POST',
    url: '/users',
    as: admin,
    payload: { username: `u-${newId()}`, displayName: '', firstName: ' ', lastName: 'Meier' },
  });
  expect(made.json()).toMatchObject({ displayName: null, firstName: null, lastName: 'Meier' });
  const log = await request({ url: '/audit-log?action=users.update', as: admin });
  expect(log.json().map(({ summary }: { summary: string }) => summary)).toEqual([
    `${user.username} changed their own display name.`,
  ]);
});
