import { expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testApp } from '../../testing/app.ts';

const { make, request } = await testApp();

async function desk() {
  const as = await make.user();
  const [{ id } = { id: '' }] = (await request({ url: '/dashboard/tabs', as })).json<{ id: string }[]>();
  return { as, tabId: id, url: `/dashboard/tabs/${id}/widgets` };
}

it('adds a widget by either address, configures and removes it', async () => {
  const { as, tabId, url } = await desk();
  const clock = await request({ method: 'POST', url, as, payload: { type: 'clock' } });
  expect([clock.statusCode, clock.json()]).toEqual([201, { id: expect.any(String), type: 'clock', config: {} }]);
  const payload = { tabId, type: 'embedded-page', config: { url: 'https://example.org', reloadIntervalSec: 1e9 } };
  const page = await request({ method: 'POST', url: '/dashboard/widgets', as, payload });
  const { id } = page.json<{ id: string }>();
  expect([page.statusCode, page.json()]).toEqual([
    201,
    { id, type: 'embedded-page', config: { url: 'https://example.org', reloadIntervalSec: 3_600 } },
  ]);
  const changed = await request({
    method: 'PATCH',
    url: `/dashboard/widgets/${id}`,
    as,
    payload: { config: { url: 'https://example.org/', title: ' Wetter ' } },
  });
  expect([changed.statusCode, changed.json()]).toEqual([
    200,
    { id, type: 'embedded-page', config: { url: 'https://example.org/', title: 'Wetter' } },
  ]);
  expect((await request({ url, as })).json()).toEqual([clock.json(), changed.json()]);
  expect((await request({ method: 'DELETE', url: `/dashboard/widgets/${id}`, as })).statusCode).toBe(204);
  expect((await request({ url, as })).json()).toEqual([clock.json()]);
});

it.each([
  ['an unknown type', 'INVALID_WIDGET_TYPE', { type: 'weather' }, undefined],
  ['an unknown type with a configuration', 'INVALID_WIDGET_TYPE', { type: 'toString', config: { a: 1 } }, undefined],
  ['no type', 'VALIDATION_FAILED', {}, ['type']],
  ['null for a configuration', 'VALIDATION_FAILED', { type: 'clock', config: null }, ['config']],
  ['a list for a configuration', 'VALIDATION_FAILED', { type: 'clock', config: [] }, ['config']],
  ['an unknown key', 'VALIDATION_FAILED', { type: 'clock', config: { color: 'red' } }, ['config']],
  ['a wrong value', 'VALIDATION_FAILED', { type: 'notes', config: { text: 5 } }, ['config.text']],
  ['no address to embed', 'VALIDATION_FAILED', { type: 'embedded-page' }, ['config.url']],
])('refuses %s, also on an unknown dashboard', async (_case, code, payload, paths) => {
  const { as, tabId, url } = await desk();
  for (const send of [
    { url, payload },
    { url: `/dashboard/tabs/${newId()}/widgets`, payload },
    { url: '/dashboard/widgets', payload: { tabId, ...payload } },
  ]) {
    const answer = await request({ method: 'POST', as, ...send });
    expect(answer.json()).toMatchObject({ statusCode: 400, code });
    expect(answer.json<{ details?: { path: string }[] }>().details?.map(({ path }) => path)).toEqual(paths);
  }
});

it('refuses a change to null, and a configuration no type allows', async () => {
  const { as, url } = await desk();
  const { id } = (await request({ method: 'POST', url, as, payload: { type: 'clock' } })).json<{ id: string }>();
  for (const payload of [{ config: null }, { tabId: null }, { config: { color: 'red' } }, { config: { days: 3 } }]) {
    const answer = await request({ method: 'PATCH', url: `/dashboard/widgets/${id}`, as, payload });
    expect(answer.json()).toMatchObject({ statusCode: 400, code: 'VALIDATION_FAILED' });
  }
});

it('accepts ids in capital letters', async () => {
  const { as, tabId, url } = await desk();
  const { id } = (await request({ method: 'POST', url, as, payload: { type: 'clock' } })).json<{ id: string }>();
  const layout = `/dashboard/tabs/${tabId.toUpperCase()}/layout`;
  const layouts = { lg: [{ i: id.toUpperCase(), x: 0, y: 0, w: 1, h: 1 }] };
  const saved = await request({ method: 'PUT', url: layout, as, payload: { __gridVersion: 2, layouts } });
  expect(saved.json()).toMatchObject({ revision: 1, layouts: { lg: [{ i: id }] } });
  const widget = `/dashboard/widgets/${id.toUpperCase()}`;
  await request({ method: 'PATCH', url: widget, as, payload: { tabId: tabId.toUpperCase() } });
  expect((await request({ url: layout, as })).json()).toMatchObject({ revision: 1, layouts: { lg: [{ i: id }] } });
  await request({ method: 'DELETE', url: widget, as });
  expect((await request({ url: layout, as })).json()).toMatchObject({ revision: 2, layouts: { lg: [] } });
});

it('answers 404 for another user’s dashboard in the body', async () => {
  const { as, url } = await desk();
  const theirs = await desk();
  const { id } = (await request({ method: 'POST', url, as, payload: { type: 'clock' } })).json<{ id: string }>();
  for (const tabId of [theirs.tabId, newId()]) {
    const added = await request({ method: 'POST', url: '/dashboard/widgets', as, payload: { tabId, type: 'clock' } });
    const moved = await request({ method: 'PATCH', url: `/dashboard/widgets/${id}`, as, payload: { tabId } });
    expect([added.statusCode, moved.statusCode]).toEqual([404, 404]);
  }
});
