import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { and, eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { runs } from '@portal/db/schema/platform/operations';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { sweepOrphanFiles } from '@portal/platform/files/sweep-orphans';
import { beginRun } from '@portal/platform/runs/state';
import { pngIcon, svgIcon } from '@portal/testing/icons';
import { testRuntime } from '@portal/testing/runtime';
import { the } from '@portal/testing/the';
import { dashboards } from './area.ts';
import { getIcon, openIcon, removeIcon, startIconDiscovery, uploadIcon } from './favorite-icon.ts';
import {
  addFavorite,
  changeFavorite,
  deleteFavorite,
  listFavorites,
  listFavoritesOfTab,
  orderFavorites,
} from './favorites.ts';
import { createTab } from './tabs.ts';
import { addWidget, removeWidget } from './widgets.ts';

const { config, make, signedIn, system } = await testRuntime();

let ctx: UserContext;
let tabId: string;
let widgetId: string;
const addFavoritesWidget = async (type = 'favorites') => (await addWidget(ctx, { tabId, type, config: {} })).id;
beforeEach(async () => {
  ctx = await signedIn(await make.user());
  tabId = (await createTab(ctx)).id;
  widgetId = await addFavoritesWidget();
});

const add = (title = 'Page', more: { iconUrl?: string; url?: string; widgetId?: string } = {}) =>
  addFavorite(ctx, { widgetId, title, url: 'https://example.org/', ...more });
/** Inserts so many favorites into each of these empty widgets. */
const fill = (widgetIds: string[], count: number) =>
  ctx.tx((tx) =>
    tx.execute(sql`
      insert into favorites (id, tenant_id, widget_id, title, url, position)
      select gen_random_uuid(), ${ctx.tenantId}, widget_id, 'x', 'https://example.org', n
      from unnest(${sql.param(widgetIds)}::uuid[]) widget_id, generate_series(0, ${count - 1}::int) n`),
  );
const places = async (widget = widgetId) =>
  (await listFavorites(ctx, widget)).map(({ title, position }) => `${position} ${title}`);
/** Whether an action starts a search for the icon of a favorite. */
const isSearchedAfter = async (favoriteId: string, work: () => Promise<unknown>): Promise<boolean> => {
  await ctx.tx((tx) => tx.update(runs).set({ state: 'succeeded' }));
  await work();
  return (await searches(favoriteId)) === 1;
};
const searches = (favoriteId: string) =>
  ctx.read((db) => db.$count(runs, and(eq(runs.state, 'queued'), sql`${runs.payload}->>'favoriteId' = ${favoriteId}`)));
const iconFiles = async (): Promise<string[]> =>
  (
    await readdir(join(config.dataDir, 'files', 'favorite-icons'), { recursive: true, withFileTypes: true }).catch(
      () => [],
    )
  )
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
const shownIcon = async (favoriteId: string): Promise<Buffer> =>
  buffer((await openIcon(ctx, await getIcon(ctx, favoriteId))).stream);

const notFound = expect.objectContaining({ kind: 'not_found', code: 'NOT_FOUND' });
const refused = expect.objectContaining({ kind: 'invalid', code: 'VALIDATION_FAILED' });

it('come with their dashboard, up to a thousand', async () => {
  const { id } = await add('One');
  const copies = (from: number, to: number) =>
    ctx.tx((tx) =>
      tx.execute(
        sql`insert into favorites (id, tenant_id, widget_id, title, url, position)
            select gen_random_uuid(), tenant_id, widget_id, title, url, n from favorites, generate_series(${from}::int, ${to}::int) n
            where id = ${id}`,
      ),
    );
  await copies(1, 999);
  expect(await listFavoritesOfTab(ctx, tabId)).toHaveLength(1_000);
  await copies(1_000, 1_000);
  expect(await listFavoritesOfTab(ctx, tabId)).toBeNull();
  expect(await listFavoritesOfTab(await signedIn(await make.user({ tenantId: ctx.tenantId })), tabId)).toEqual([]);
});

describe('favorites', () => {
  it('are listed in the order they were added, and each starts a search for its icon', async () => {
    const favorite = await add('First', { iconUrl: 'https://example.org/i.png' });
    expect(favorite).toEqual({
      id: expect.any(String),
      widgetId,
      title: 'First',
      url: 'https://example.org/',
      position: 0,
      iconUrl: 'https://example.org/i.png',
      hasUploadedIcon: false,
      uploadedIconMime: null,
      iconVersion: 0,
    });
    const second = await add('Second');
    expect(second).toMatchObject({ position: 1, iconUrl: null });
    expect(await listFavorites(ctx, widgetId)).toEqual([favorite, second]);
    expect([await searches(favorite.id), await searches(second.id)]).toEqual([1, 1]);
  });

  it('are listed together, widget by widget', async () => {
    const other = await addFavoritesWidget();
    const [a, b] = [await add('A', { widgetId: other }), await add('B')];
    const c = await add('C', { widgetId: other });
    expect(await listFavorites(ctx)).toEqual([b, a, c]);
    expect(await listFavorites(ctx, other)).toEqual([a, c]);
    expect(await listFavorites(ctx, await addFavoritesWidget())).toEqual([]);
  });

  it('need a favorites widget of their owner', async () => {
    const stranger = await signedIn(await make.user({ tenantId: ctx.tenantId }));
    await expect(addFavorite(stranger, { widgetId, title: 'x', url: 'https://example.org' })).rejects.toEqual(notFound);
    await expect(add('x', { widgetId: newId() })).rejects.toEqual(notFound);
    await expect(add('x', { widgetId: await addFavoritesWidget('notes') })).rejects.toEqual(refused);
    await expect(listFavorites(stranger, widgetId)).rejects.toEqual(notFound);
    await add();
    expect(await listFavorites(stranger)).toEqual([]);
    await expect(listFavorites(stranger, widgetId)).rejects.toEqual(notFound);
  });

  it('are limited to 200 per widget, also with concurrent calls', async () => {
    await fill([widgetId], 195);
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => add()));
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refusals).toHaveLength(7);
    for (const refusal of refusals) expect(refusal).toMatchObject({ kind: 'conflict', code: 'LIMIT_REACHED' });
    expect((await listFavorites(ctx, widgetId)).map(({ position }) => position)).toEqual(
      Array.from({ length: 200 }, (_, position) => position),
    );
    await add('elsewhere', { widgetId: await addFavoritesWidget() });
  });

  it('are limited to 2,000 in all widgets, because one answer lists them', async () => {
    const widgets = await Promise.all(Array.from({ length: 10 }, () => addFavoritesWidget()));
    await fill(widgets.slice(1), 200);
    await fill(widgets.slice(0, 1), 199);
    const last = await add('the last one', { widgetId: the(widgets[0]) });
    await expect(add('one more', { widgetId })).rejects.toMatchObject({ kind: 'conflict', code: 'LIMIT_REACHED' });
    expect(await listFavorites(ctx)).toHaveLength(2_000);
    await deleteFavorite(ctx, last.id);
    await add('in its place');
    const neighbor = await signedIn(await make.user({ tenantId: ctx.tenantId }));
    const { id } = await createTab(neighbor);
    const own = await addWidget(neighbor, { tabId: id, type: 'favorites', config: {} });
    await addFavorite(neighbor, { widgetId: own.id, title: 'x', url: 'https://example.org' });
  });

  it('are renumbered after a deletion', async () => {
    const all = [await add('A'), await add('B'), await add('C'), await add('D')];
    await deleteFavorite(ctx, all[1]?.id ?? '');
    expect(await places()).toEqual(['0 A', '1 C', '2 D']);
    await add('E');
    await Promise.all([deleteFavorite(ctx, all[0]?.id ?? ''), deleteFavorite(ctx, all[3]?.id ?? '')]);
    expect(await places()).toEqual(['0 C', '1 E']);
    await expect(deleteFavorite(ctx, all[0]?.id ?? '')).rejects.toEqual(notFound);
  });

  it('are deleted with their widget', async () => {
    const { id } = await add();
    await uploadIcon(ctx, id, async () => pngIcon());
    await removeWidget(ctx, widgetId);
    expect(await listFavorites(ctx)).toEqual([]);
    await expect(getIcon(ctx, id)).rejects.toEqual(notFound);
  });

  it('leave their icons to the sweep of files when their widget is deleted', async () => {
    const others = await iconFiles();
    const kept = await add('kept', { widgetId: await addFavoritesWidget() });
    for (const { id } of [await add(), await add(), kept]) await uploadIcon(ctx, id, async () => pngIcon());
    await removeWidget(ctx, widgetId);
    const folder = join(config.dataDir, 'files', 'favorite-icons');
    for (const { parentPath, name } of await readdir(folder, { recursive: true, withFileTypes: true })) {
      await utimes(join(parentPath, name), 0, 0);
    }
    await sweepOrphanFiles({ ...system(), files: ctx.files }, dashboards.files ?? [], new AbortController().signal);
    expect((await iconFiles()).filter((name) => !others.includes(name))).toHaveLength(1);
    expect(await shownIcon(kept.id)).toEqual(pngIcon());
  });
});

describe('their order', () => {
  it('is the one sent, with or without the widget’s id', async () => {
    const [a, b, c] = [await add('A'), await add('B'), await add('C')];
    const answer = await orderFavorites(ctx, { ids: [c.id, a.id, b.id] });
    expect(answer.map(({ title, position }) => `${position} ${title}`)).toEqual(['0 C', '1 A', '2 B']);
    await orderFavorites(ctx, { widgetId, ids: [b.id, c.id, a.id] });
    expect(await places()).toEqual(['0 B', '1 C', '2 A']);
    expect(await orderFavorites(ctx, { widgetId: await addFavoritesWidget(), ids: [] })).toEqual([]);
  });

  it('must name all favorites of one widget exactly once, and nothing else', async () => {
    const [a, b] = [await add('A'), await add('B')];
    const other = await addFavoritesWidget();
    const elsewhere = await add('C', { widgetId: other });
    const stranger = await signedIn(await make.user({ tenantId: ctx.tenantId }));
    for (const ids of [
      [],
      [a.id],
      [a.id, a.id],
      [a.id, b.id, b.id],
      [a.id, b.id, elsewhere.id],
      [elsewhere.id, a.id],
      [newId()],
      [a.id, newId()],
    ]) {
      await expect(orderFavorites(ctx, { ids })).rejects.toEqual(refused);
      await expect(orderFavorites(ctx, { widgetId, ids })).rejects.toEqual(refused);
    }
    await expect(orderFavorites(ctx, { widgetId: other, ids: [b.id, a.id] })).rejects.toEqual(refused);
    await expect(orderFavorites(stranger, { ids: [b.id, a.id] })).rejects.toEqual(refused);
    await expect(orderFavorites(stranger, { widgetId, ids: [b.id, a.id] })).rejects.toEqual(notFound);
    expect(await places()).toEqual(['0 A', '1 B']);
  });

  it('and a concurrent deletion leave no gap', async () => {
    for (let round = 0; round < 10; round += 1) {
      const widget = await addFavoritesWidget();
      const ids: string[] = [];
      for (const title of ['A', 'B', 'C']) ids.push((await add(title, { widgetId: widget })).id);
      const [first = ''] = ids;
      const [ordered] = await Promise.allSettled([
        orderFavorites(ctx, { ids: ids.toReversed() }),
        deleteFavorite(ctx, first),
      ]);
      expect(await places(widget)).toEqual(ordered.status === 'fulfilled' ? ['0 C', '1 B'] : ['0 B', '1 C']);
    }
  });
});

describe('a change', () => {
  it('affects only the fields sent', async () => {
    const favorite = await add('A', { iconUrl: 'https://example.org/i.png' });
    expect(await changeFavorite(ctx, favorite.id, { title: 'B' })).toEqual({ ...favorite, title: 'B' });
    expect(await isSearchedAfter(favorite.id, () => changeFavorite(ctx, favorite.id, { title: 'C' }))).toBe(false);
    expect(await changeFavorite(ctx, favorite.id, {})).toEqual({ ...favorite, title: 'C' });
  });

  it('of the icon’s address removes the found icon and starts a new search', async () => {
    const { id } = await add('A');
    for (const [change, expected, isSearched] of [
      [{ url: 'https://other.example/' }, { iconUrl: null, iconVersion: 1 }, true],
      [{ url: 'https://other.example/' }, { iconUrl: null, iconVersion: 1 }, false],
      [{ iconUrl: 'https://example.org/i.png' }, { iconUrl: 'https://example.org/i.png', iconVersion: 2 }, true],
      [{ url: 'https://third.example/' }, { iconUrl: 'https://example.org/i.png', iconVersion: 2 }, false],
      [{ iconUrl: 'https://example.org/i.png' }, { iconVersion: 2 }, false],
      [{ iconUrl: null }, { iconUrl: null, iconVersion: 3 }, true],
      [{ iconUrl: null }, { iconVersion: 3 }, false],
    ] as const) {
      expect(await isSearchedAfter(id, () => changeFavorite(ctx, id, change))).toBe(isSearched);
      expect(await changeFavorite(ctx, id, {})).toMatchObject(expected);
    }
  });

  it('to no icon starts a new search if one was found', async () => {
    const { id } = await add('A');
    await ctx.tx((tx) =>
      tx
        .update(favorites)
        .set({ iconUrl: 'https://example.org/found.png', iconVersion: 1 })
        .where(eq(favorites.id, id)),
    );
    expect(await isSearchedAfter(id, () => changeFavorite(ctx, id, { iconUrl: null }))).toBe(true);
    expect(await changeFavorite(ctx, id, {})).toMatchObject({ iconUrl: null, iconVersion: 2 });
  });

  it('before a search has begun starts no other search', async () => {
    const { id } = await add('A');
    await changeFavorite(ctx, id, { url: 'https://other.example/' });
    const { runId } = await startIconDiscovery(ctx, id);
    expect(await startIconDiscovery(ctx, id)).toEqual({ runId });
    expect(await searches(id)).toBe(1);
    await beginRun(ctx, runId);
    expect((await startIconDiscovery(ctx, id)).runId).not.toBe(runId);
  });

  it('starts no search while the account has fifty unfinished ones', async () => {
    const underWay = () => ctx.read((db) => db.$count(runs, eq(runs.startedBy, ctx.actor.id)));
    const added = [];
    for (let n = 0; n < 52; n += 1) added.push(await add(`${n}`));
    expect(await underWay()).toBe(50);
    const [first, last] = [the(added[0]), the(added[51])];
    await expect(startIconDiscovery(ctx, last.id)).rejects.toMatchObject({ code: 'RATE_LIMITED', kind: 'busy' });
    // A waiting search is reused, and a finished one frees a slot.
    const { runId } = await startIconDiscovery(ctx, first.id);
    await ctx.tx((tx) => tx.update(runs).set({ state: 'succeeded' }).where(eq(runs.id, runId)));
    await startIconDiscovery(ctx, last.id);
    expect(await searches(last.id)).toBe(1);
  });

  it('keeps an uploaded icon', async () => {
    const { id } = await add('A');
    await uploadIcon(ctx, id, async () => pngIcon());
    expect(await isSearchedAfter(id, () => changeFavorite(ctx, id, { url: 'https://other.example/' }))).toBe(false);
    expect(await changeFavorite(ctx, id, {})).toMatchObject({ hasUploadedIcon: true, iconVersion: 2 });
    expect(await shownIcon(id)).toEqual(pngIcon());
  });

  it('is possible only for the owner', async () => {
    const { id } = await add('A');
    const stranger = await signedIn(await make.user({ tenantId: ctx.tenantId }));
    await expect(changeFavorite(stranger, id, { title: 'B' })).rejects.toEqual(notFound);
    await expect(deleteFavorite(stranger, id)).rejects.toEqual(notFound);
    await expect(uploadIcon(stranger, id, async () => pngIcon())).rejects.toEqual(notFound);
    await expect(removeIcon(stranger, id)).rejects.toEqual(notFound);
    await expect(getIcon(stranger, id)).rejects.toEqual(notFound);
    await expect(startIconDiscovery(stranger, id)).rejects.toEqual(notFound);
    expect(await places()).toEqual(['0 A']);
  });
});

describe('an uploaded icon', () => {
  it('is shown until it is removed; then a search for the page’s own starts', async () => {
    const { id } = await add();
    await expect(getIcon(ctx, id)).rejects.toEqual(notFound);
    expect(await uploadIcon(ctx, id, async () => pngIcon())).toMatchObject({
      hasUploadedIcon: true,
      uploadedIconMime: 'image/png',
      iconVersion: 1,
    });
    expect(await uploadIcon(ctx, id, async () => svgIcon())).toMatchObject({
      uploadedIconMime: 'image/svg+xml',
      iconVersion: 2,
    });
    expect(await getIcon(ctx, id)).toMatchObject({ type: 'image/svg+xml', version: 2 });
    expect(await shownIcon(id)).toEqual(svgIcon());
    expect(await isSearchedAfter(id, () => removeIcon(ctx, id))).toBe(true);
    await expect(getIcon(ctx, id)).rejects.toEqual(notFound);
    expect((await listFavorites(ctx, widgetId))[0]).toMatchObject({
      hasUploadedIcon: false,
      uploadedIconMime: null,
      iconVersion: 3,
    });
    await removeIcon(ctx, id);
    expect((await listFavorites(ctx, widgetId))[0]).toMatchObject({ iconVersion: 3 });
  });

  it('leaves one file on disk after concurrent uploads, and none after its removal', async () => {
    const before = (await iconFiles()).length;
    const { id } = await add();
    await Promise.all(Array.from({ length: 5 }, (_, shade) => uploadIcon(ctx, id, async () => pngIcon({ shade }))));
    expect((await iconFiles()).length - before).toBe(1);
    expect((await listFavorites(ctx, widgetId))[0]).toMatchObject({ iconVersion: 5 });
    await expect(uploadIcon(ctx, id, async () => Buffer.from('text'))).rejects.toMatchObject({
      kind: 'invalid',
      code: 'UNSUPPORTED_IMAGE',
    });
    await expect(uploadIcon(ctx, newId(), async () => pngIcon())).rejects.toEqual(notFound);
    expect((await iconFiles()).length - before).toBe(1);
    await deleteFavorite(ctx, id);
    expect((await iconFiles()).length).toBe(before);
  });
});
