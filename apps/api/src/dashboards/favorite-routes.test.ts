import { describe, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { icoOf, pngIcon, svgIcon } from '@portal/testing/icons';
import { tinyGif } from '@portal/testing/pictures';
import { getIcon } from '@portal/usecases/dashboards/favorite-icon';
import { createTab } from '@portal/usecases/dashboards/tabs';
import { addWidget } from '@portal/usecases/dashboards/widgets';
import { testApp } from '../../testing/app.ts';

const { make, request, signedIn } = await testApp();

async function desk() {
  const as = await make.user();
  const owner = await signedIn(as);
  const { id: tabId } = await createTab(owner);
  const { id: widgetId } = await addWidget(owner, { tabId, type: 'favorites', config: {} });
  const add = (more: object = {}) =>
    request({
      method: 'POST',
      url: '/favorites',
      as,
      payload: { widgetId, title: 'Wiki', url: 'https://wiki.example.org', ...more },
    });
  return { as, tabId, widgetId, add, addOne: async () => (await add()).json<{ id: string }>().id };
}

const upload = (id: string, bytes: Uint8Array, field = 'icon') => ({
  method: 'POST' as const,
  url: `/favorites/${id}/icon`,
  headers: { 'content-type': 'multipart/form-data; boundary=frontier' },
  payload: Buffer.concat([
    Buffer.from(
      `--frontier\r\ncontent-disposition: form-data; name="${field}"; filename="../i.html"\r\ncontent-type: text/html\r\n\r\n`,
    ),
    bytes,
    Buffer.from('\r\n--frontier--\r\n'),
  ]),
});

describe('a favorite', () => {
  it('is added, listed, changed and deleted', async () => {
    const { as, widgetId, add } = await desk();
    const answer = await add({ title: '  Wiki ', iconUrl: null, position: 7, iconVersion: 9 });
    const favorite = answer.json<{ id: string }>();
    expect([answer.statusCode, favorite]).toEqual([
      201,
      {
        id: expect.any(String),
        widgetId,
        title: 'Wiki',
        url: 'https://wiki.example.org',
        position: 0,
        iconUrl: null,
        hasUploadedIcon: false,
        uploadedIconMime: null,
        iconVersion: 0,
      },
    ]);
    expect((await request({ url: `/favorites?widgetId=${widgetId.toUpperCase()}`, as })).json()).toEqual([favorite]);
    expect((await request({ url: '/favorites', as })).json()).toEqual([favorite]);
    const url = `/favorites/${favorite.id}`;
    expect((await request({ method: 'PATCH', url, as, payload: { title: 'Start' } })).json()).toEqual({
      ...favorite,
      title: 'Start',
    });
    expect((await request({ method: 'DELETE', url, as })).statusCode).toBe(204);
    expect((await request({ method: 'DELETE', url, as })).statusCode).toBe(404);
    expect((await request({ url: '/favorites', as })).json()).toEqual([]);
  });

  it.each([
    { title: '' },
    { title: 'a\nb' },
    { title: 'x'.repeat(201) },
    { title: null },
    { url: 'wiki.example.org' },
    { url: 'javascript:alert(1)' },
    { url: 'ftp://example.org' },
    { url: 'https://anna:secret@example.org' },
    { url: `https://example.org/${'x'.repeat(2_048)}` },
    { url: null },
    { iconUrl: 'data:image/png;base64,AAAA' },
    { iconUrl: '' },
    { iconUrl: 5 },
  ])('is refused with %j', async (wrong) => {
    const { as, add, addOne } = await desk();
    const refused = { statusCode: 400, code: 'VALIDATION_FAILED', details: [{ path: Object.keys(wrong)[0] }] };
    expect((await add(wrong)).json()).toMatchObject(refused);
    expect(
      (await request({ method: 'PATCH', url: `/favorites/${await addOne()}`, as, payload: wrong })).json(),
    ).toMatchObject(refused);
  });

  it('needs a favorites widget of its owner', async () => {
    const { as, tabId, add } = await desk();
    const other = await desk();
    const notes = await addWidget(await signedIn(as), { tabId, type: 'notes', config: {} });
    expect((await add({ widgetId: other.widgetId })).json()).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
    expect((await add({ widgetId: newId() })).statusCode).toBe(404);
    expect((await add({ widgetId: notes.id })).json()).toMatchObject({
      statusCode: 400,
      details: [{ path: 'widgetId' }],
    });
    expect((await request({ url: `/favorites?widgetId=${other.widgetId}`, as })).statusCode).toBe(404);
    expect((await request({ url: '/favorites?widgetId=1', as })).statusCode).toBe(400);
  });

  it('is reordered with the complete list, bare or as `{ids}`', async () => {
    const { as, widgetId, addOne } = await desk();
    const ids = [await addOne(), await addOne(), await addOne()];
    const order = async (payload: object) => {
      const answer = await request({ method: 'PUT', url: '/favorites/order', as, payload });
      return [
        answer.statusCode,
        answer.statusCode === 200 ? answer.json<{ id: string }[]>().map(({ id }) => id) : null,
      ];
    };
    expect(await order(ids.toReversed())).toEqual([200, ids.toReversed()]);
    expect(await order({ ids })).toEqual([200, ids]);
    expect(await order({ widgetId, ids: ids.toReversed() })).toEqual([200, ids.toReversed()]);
    for (const wrong of [
      [],
      ids.slice(1),
      [...ids, ids[0]],
      [...ids, newId()],
      { widgetId },
      { ids: 'x' },
      { widgetId: 'x', ids },
      {},
      ['x'],
    ]) {
      expect(await order(wrong)).toEqual([400, null]);
    }
    expect(await order({ widgetId: newId(), ids })).toEqual([404, null]);
  });
});

describe('its icon', () => {
  it.each<[string, Buffer, string]>([
    ['PNG', pngIcon(), 'image/png'],
    ['GIF', tinyGif, 'image/gif'],
    ['ICO', icoOf(pngIcon()), 'image/x-icon'],
    ['SVG', svgIcon(), 'image/svg+xml'],
  ])('is served as %s, cacheable for a day, with its version as entity tag', async (_name, bytes, type) => {
    const { as, addOne } = await desk();
    const id = await addOne();
    const icon = (headers: Record<string, string> = {}) => request({ url: `/favorites/${id}/icon`, as, headers });
    expect((await icon()).statusCode).toBe(404);
    expect((await request({ ...upload(id, bytes), as })).json()).toMatchObject({
      id,
      hasUploadedIcon: true,
      uploadedIconMime: type,
      iconVersion: 1,
    });
    const served = await icon();
    expect([served.statusCode, served.rawPayload]).toEqual([200, bytes]);
    expect(served.headers).toMatchObject({
      'content-type': type,
      'content-length': String(bytes.length),
      'cache-control': 'private, max-age=86400',
      etag: '"1"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    for (const known of ['"1"', 'W/"1"', '"0", "1"', '*']) {
      const unchanged = await icon({ 'if-none-match': known });
      expect([unchanged.statusCode, unchanged.body, unchanged.headers['etag']]).toEqual([304, '', '"1"']);
      expect(unchanged.headers['cache-control']).toBe('private, max-age=86400');
    }
    await request({ ...upload(id, bytes), as });
    const changed = await icon({ 'if-none-match': '"1"' });
    expect([changed.statusCode, changed.headers['etag']]).toEqual([200, '"2"']);
    expect((await request({ method: 'DELETE', url: `/favorites/${id}/icon`, as })).statusCode).toBe(204);
    expect((await icon({ 'if-none-match': '"2"' })).statusCode).toBe(404);
    expect((await request({ method: 'DELETE', url: `/favorites/${id}/icon`, as })).statusCode).toBe(204);
  });

  it('is 404 if its file is missing, and that answer is not cacheable', async () => {
    const { as, addOne } = await desk();
    const id = await addOne();
    await request({ ...upload(id, pngIcon()), as });
    const { path } = await getIcon(await signedIn(as), id);
    await (await signedIn(as)).files.remove(path);
    const answer = await request({ url: `/favorites/${id}/icon`, as });
    expect([answer.statusCode, answer.headers['cache-control'], answer.headers.etag]).toEqual([
      404,
      'no-store',
      undefined,
    ]);
  });

  it.each<[string, Uint8Array, string, number, string]>([
    ['text', Buffer.from('<script>alert(1)</script>'), 'icon', 400, 'UNSUPPORTED_IMAGE'],
    ['nothing', Buffer.alloc(0), 'icon', 400, 'UNSUPPORTED_IMAGE'],
    ['an SVG without an end', svgIcon().subarray(0, 20), 'icon', 400, 'UNSUPPORTED_IMAGE'],
    ['another field', pngIcon(), 'file', 400, 'VALIDATION_FAILED'],
    ['a byte more than 512 KiB', Buffer.alloc(512 * 1024 + 1), 'icon', 413, 'PAYLOAD_TOO_LARGE'],
    ['a megabyte', Buffer.alloc(1024 * 1024), 'icon', 413, 'PAYLOAD_TOO_LARGE'],
  ])('is not %s', async (_name, bytes, field, status, code) => {
    const { as, addOne } = await desk();
    const answer = await request({ ...upload(await addOne(), bytes, field), as });
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([status, code]);
  });

  it('is searched for on request, as a run of the user', async () => {
    const { as, addOne } = await desk();
    const url = `/favorites/${await addOne()}/discover-icon`;
    const answer = await request({ method: 'POST', url, as });
    expect(answer.statusCode).toBe(202);
    const { runId } = answer.json<{ runId: string }>();
    expect((await request({ url: `/runs/${runId}`, as })).json()).toMatchObject({
      kind: 'favorites.discover-icon',
      state: 'queued',
    });
    // Without a worker, the wait ends first.
    const waited = await request({ method: 'POST', url, as, headers: { prefer: 'wait=0' } });
    expect([waited.statusCode, waited.headers['preference-applied']]).toEqual([202, 'wait=0']);
  });
});
