import { expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';

const { make, request } = await testApp();

it('lists, adds, renames, orders and deletes the user’s own dashboards', async () => {
  const as = await make.user();
  const first = await request({ url: '/dashboard/tabs', as });
  expect([first.statusCode, first.json()]).toEqual([
    200,
    [{ id: expect.any(String), name: 'Dashboard 1', position: 0 }],
  ]);
  const [{ id: a } = { id: '' }] = first.json<{ id: string }[]>();
  const added = await request({ method: 'POST', url: '/dashboard/tabs', as, payload: { name: ' Leitstelle ' } });
  expect([added.statusCode, added.json()]).toEqual([201, { id: expect.any(String), name: 'Leitstelle', position: 1 }]);
  const { id: b } = added.json<{ id: string }>();
  // Without a name, the request needs neither a body nor a content type.
  const unnamed = await request({ method: 'POST', url: '/dashboard/tabs', as });
  expect([unnamed.statusCode, unnamed.json()]).toEqual([201, expect.objectContaining({ name: 'Dashboard 2' })]);
  const { id: c } = unnamed.json<{ id: string }>();

  const renamed = await request({ method: 'PATCH', url: `/dashboard/tabs/${a}`, as, payload: { name: 'Start' } });
  expect([renamed.statusCode, renamed.json()]).toEqual([200, { id: a, name: 'Start', position: 0 }]);
  for (const payload of [[c, a, b], { ids: [c.toUpperCase(), a, b] }]) {
    const ordered = await request({ method: 'PUT', url: '/dashboard/tabs/order', as, payload });
    expect(ordered.json<{ id: string }[]>().map(({ id }) => id)).toEqual([c, a, b]);
  }
  expect((await request({ method: 'DELETE', url: `/dashboard/tabs/${a}`, as })).statusCode).toBe(204);
  expect((await request({ url: '/dashboard/tabs', as })).json()).toEqual([
    { id: c, name: 'Dashboard 2', position: 0 },
    { id: b, name: 'Leitstelle', position: 1 },
  ]);
});

it('answers a dashboard with its layout, widgets and favorites in one call', async () => {
  const as = await make.user();
  const read = async (url: string) => (await request({ url, as })).json<Record<string, unknown>>();
  const fresh = await read('/dashboard');
  expect(fresh).toMatchObject({ tabs: [{ id: fresh['tabId'], name: 'Dashboard 1' }], widgets: [] });

  const { id: second } = (
    await request({ method: 'POST', url: '/dashboard/tabs', as, payload: { name: 'Leitstelle' } })
  ).json<{ id: string }>();
  const addFavorites = async (tabId: unknown, ...titles: string[]) => {
    const url = `/dashboard/tabs/${String(tabId)}/widgets`;
    const { id: widgetId } = (await request({ method: 'POST', url, as, payload: { type: 'favorites' } })).json<{
      id: string;
    }>();
    for (const title of titles) {
      const payload = {
        widgetId,
        title,
        url: 'https://wetter.example.org/',
        iconUrl: 'https://wetter.example.org/i.png',
      };
      expect((await request({ method: 'POST', url: '/favorites', as, payload })).statusCode).toBe(201);
    }
    return read(`/favorites?widgetId=${widgetId}`);
  };
  await addFavorites(fresh['tabId'], 'Elsewhere');
  const favorites = [await addFavorites(second, 'Rain', 'Wind'), await addFavorites(second, 'Sun')].flat();
  expect(await read(`/dashboard?tabId=${second}`)).toEqual({
    tabId: second,
    tabs: await read('/dashboard/tabs'),
    layout: await read(`/dashboard/tabs/${second}/layout`),
    widgets: await read(`/dashboard/tabs/${second}/widgets`),
    favorites,
    images: [],
  });
  expect(await read('/dashboard')).toMatchObject({
    tabId: fresh['tabId'],
    widgets: [{ type: 'favorites' }],
    favorites: [{ title: 'Elsewhere' }],
  });

  const stranger = await make.user({ tenantId: as.tenantId });
  for (const tabId of [second, newId()]) {
    const answer = await request({ url: `/dashboard?tabId=${tabId}`, as: stranger });
    expect(answer.json()).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
  }
  const unreadable = await request({ url: '/dashboard?tabId=1', as });
  expect(unreadable.json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED' });
});

it.each([
  ['POST', '', { name: '' }],
  ['POST', '', { name: 'x'.repeat(61) }],
  ['POST', '', { name: null }],
  ['POST', '', { name: 'a\nb' }],
  ['PATCH', '/:id', {}],
  ['PATCH', '/:id', { name: null }],
  ['PUT', '/order', {}],
  ['PUT', '/order', { ids: ['1'] }],
  ['PUT', '/order', []],
  ['PUT', '/order', [newId()]],
  ['PUT', '/order', Array.from({ length: 21 }, newId)],
] as const)('%s /dashboard/tabs%s refuses what it cannot read', async (method, path, payload) => {
  const as = await make.user();
  const [{ id } = { id: '' }] = (await request({ url: '/dashboard/tabs', as })).json<{ id: string }[]>();
  const answer = await request({ method, url: `/dashboard/tabs${path.replace(':id', id)}`, as, payload });
  expect(answer.json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED' });
});

it('says why a dashboard cannot be deleted or added', async () => {
  const as = await make.user();
  const [{ id } = { id: '' }] = (await request({ url: '/dashboard/tabs', as })).json<{ id: string }[]>();
  expect((await request({ method: 'DELETE', url: `/dashboard/tabs/${id}`, as })).json()).toMatchObject({
    statusCode: 409,
    code: 'LAST_TAB',
  });
  for (let n = 1; n < 20; n += 1) await request({ method: 'POST', url: '/dashboard/tabs', as });
  expect((await request({ method: 'POST', url: '/dashboard/tabs', as })).json()).toMatchObject({
    statusCode: 409,
    code: 'TAB_LIMIT',
  });
});

it('shows and saves a layout', async () => {
  const as = await make.user();
  const [{ id } = { id: '' }] = (await request({ url: '/dashboard/tabs', as })).json<{ id: string }[]>();
  const url = `/dashboard/tabs/${id}/layout`;
  const none = { lg: [], md: [], sm: [], xs: [], xxs: [] };
  expect((await request({ url, as })).json()).toEqual({
    __gridVersion: 2,
    layouts: none,
    revision: 0,
    updatedAt: null,
  });
  const widget = await request({
    method: 'POST',
    url: '/dashboard/widgets',
    as,
    payload: { tabId: id, type: 'clock' },
  });
  const lg = [{ i: widget.json<{ id: string }>().id, x: 20, y: 4, w: 4, h: 8, minW: 2, maxH: 12, static: true }];
  const save = (payload: object) => request({ method: 'PUT', url, as, payload });
  const saved = await save({ __gridVersion: 2, layouts: { lg }, revision: 0 });
  expect([saved.statusCode, saved.json()]).toEqual([
    200,
    { __gridVersion: 2, layouts: { ...none, lg }, revision: 1, updatedAt: expect.stringMatching(/Z$/) },
  ]);
  expect((await request({ url, as })).json()).toEqual(saved.json());
  for (const [status, code, payload] of [
    [409, 'LAYOUT_CHANGED', { __gridVersion: 2, layouts: {}, revision: 0 }],
    [409, 'GRID_VERSION_NEWER', { layouts: {} }],
    [400, 'VALIDATION_FAILED', { __gridVersion: 3, layouts: {} }],
    [400, 'VALIDATION_FAILED', { __gridVersion: 2, layouts: { lg: [...lg, ...lg] } }],
    [413, 'PAYLOAD_TOO_LARGE', { __gridVersion: 2, layouts: {}, padding: 'x'.repeat(512 * 1024) }],
  ] as const) {
    expect((await save(payload)).json()).toMatchObject({ statusCode: status, code });
  }
  expect((await request({ url, as })).json()).toEqual(saved.json());
});
