import { expect, it } from 'vitest';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import type { WidgetConfig } from '@portal/domain/dashboards/widgets';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import type { UserContext } from '@portal/platform/context';
import { deadForm } from '@portal/testing/monitoring';
import { tinyGif } from '@portal/testing/pictures';
import { testRuntime } from '@portal/testing/runtime';
import { createCloudInstance, deleteCloudInstance } from '../cloud-status/instances.ts';
import { deleteGrant, setGrant } from '../modules/grants.ts';
import { setModuleEnabled } from '../modules/modules.ts';
import { createServer, deleteServer } from '../monitoring/servers.ts';
import { createSavedSearch, deleteSavedSearch } from '../tenders/alerts/saved-searches.ts';
import { addImage } from './images.ts';
import { createTab, deleteTab, listTabs } from './tabs.ts';
import { addWidget, changeWidget, listWidgets, removeWidget } from './widgets.ts';

const { make, signedIn } = await testRuntime();

async function desk() {
  const ctx = await signedIn(await make.user());
  const { id: tabId } = await createTab(ctx);
  return { ctx, tabId, add: (type = 'clock', config = {}) => addWidget(ctx, { tabId, type, config }) };
}

it('lists the widgets of a tab in the order they were added', async () => {
  const { ctx, tabId, add } = await desk();
  expect(await listWidgets(ctx, tabId)).toEqual([]);
  const clock = await add('clock', { showSeconds: true });
  const page = await add('embedded-page', {
    url: 'https://example.org/',
    title: 'x'.repeat(120),
    reloadIntervalSec: 90,
  });
  expect(page).toEqual({
    id: expect.any(String),
    type: 'embedded-page',
    config: { url: 'https://example.org/', title: 'x'.repeat(100), reloadIntervalSec: 60 },
  });
  expect(await listWidgets(ctx, tabId)).toEqual([clock, page]);
});

it('refuses an unknown type, and a configuration the type does not allow', async () => {
  const { ctx, tabId, add } = await desk();
  await expect(add('weather')).rejects.toMatchObject({ kind: 'invalid', code: 'INVALID_WIDGET_TYPE' });
  await expect(add('clock', { url: 'https://example.org' })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  await expect(add('embedded-page')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  expect(await listWidgets(ctx, tabId)).toEqual([]);
});

it('allows 60 widgets per tab, also with concurrent additions and moves', async () => {
  const { ctx, tabId, add } = await desk();
  const { id: otherTab } = await createTab(ctx);
  for (let n = 0; n < 57; n += 1) await add();
  const movers = await Promise.all(
    Array.from({ length: 6 }, () => addWidget(ctx, { tabId: otherTab, type: 'notes', config: {} })),
  );
  const results = await Promise.allSettled([
    ...Array.from({ length: 6 }, () => add()),
    ...movers.map(({ id }) => changeWidget(ctx, id, { tabId })),
  ]);
  const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  expect(refusals).toHaveLength(9);
  for (const refusal of refusals) expect(refusal).toMatchObject({ kind: 'conflict', code: 'LIMIT_REACHED' });
  expect(await listWidgets(ctx, tabId)).toHaveLength(60);
});

it('adds the tile of a module only while its owner has access to the module, and keeps it afterwards', async () => {
  const { ctx, tabId, add } = await desk();
  const admin = await signedIn(await make.user({ tenantId: ctx.tenantId, role: 'ADMIN' }));
  const grant = { subjectType: 'user', subjectId: ctx.actor.id, moduleKey: 'virtualization' } as const;
  await expect(add('backup-status')).rejects.toMatchObject({ kind: 'forbidden', code: 'MODULE_ACCESS_DENIED' });
  await setGrant(admin, { ...grant, level: 'USE' });
  const tile = await add('backup-status', { compact: true });
  await setModuleEnabled(admin, 'virtualization', false);
  await expect(add('virtualization-status')).rejects.toMatchObject({ kind: 'forbidden', code: 'MODULE_DISABLED' });
  await deleteGrant(admin, grant);
  expect(await listWidgets(ctx, tabId)).toEqual([tile]);
  expect(await changeWidget(ctx, tile.id, { config: {} })).toMatchObject({ config: {} });
});

it('replaces a configuration as a whole', async () => {
  const { ctx, tabId, add } = await desk();
  const { id } = await add('favorites', { columns: 7, showLabels: true });
  expect(await changeWidget(ctx, id, { config: { columns: 4 } })).toEqual({
    id,
    type: 'favorites',
    config: { columns: 4 },
  });
  await expect(changeWidget(ctx, id, { config: { showSeconds: true } })).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
    details: [{ path: 'config', message: expect.any(String) }],
  });
  expect(await changeWidget(ctx, id, {})).toMatchObject({ config: { columns: 4 } });
  expect(await listWidgets(ctx, tabId)).toMatchObject([{ config: { columns: 4 } }]);
});

it('accepts only the user’s own pictures in a picture frame', async () => {
  const { ctx, tabId, add } = await desk();
  const { ctx: colleague } = await desk();
  const own = await addImage(ctx, { name: 'a.gif', bytes: tinyGif });
  const theirs = await addImage(colleague, { name: 'b.gif', bytes: tinyGif });
  const frame = await add('picture-frame', { imageIds: [own.id, own.id], fit: 'cover' });
  for (const imageIds of [[theirs.id], [own.id, newId()]]) {
    await expect(add('picture-frame', { imageIds })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(changeWidget(ctx, frame.id, { config: { imageIds } })).rejects.toMatchObject({ kind: 'not_found' });
  }
  expect(await listWidgets(ctx, tabId)).toEqual([frame]);
});

/** An administrator of a tenant with everything a tile can refer to, and a colleague. */
async function tenantWithTiles() {
  const admin = await signedIn(await make.user({ role: 'ADMIN' }));
  const user = await signedIn(await make.user({ tenantId: admin.tenantId }));
  for (const moduleKey of ['virtualization', 'cloud-status', 'tender-radar'] as const)
    for (const { actor } of [admin, user])
      await setGrant(admin, { subjectType: 'user', subjectId: actor.id, moduleKey, level: 'USE' });
  const made = newId();
  const { id: searchId } = await createSavedSearch(admin, {
    name: made,
    filters: TenderFilters.parse({}),
    instantAlert: false,
  });
  const { id: serverId } = await createServer(admin, deadForm('virtualization'));
  const cloud = { customerName: made, statusUrl: 'https://cloud.example.org/status.php', isActive: false };
  const { id: instanceId } = await createCloudInstance(admin, cloud);
  return { admin, user, searchId, serverId, instanceId };
}

const tileOf = async (ctx: UserContext, type: string, config: WidgetConfig) =>
  addWidget(ctx, { tabId: (await createTab(ctx)).id, type, config });
const refusal = { kind: 'not_found' };

it('accepts servers and cloud instances of its tenant and the user’s own saved searches, and no others', async () => {
  const { admin, user, searchId, serverId, instanceId } = await tenantWithTiles();
  const elsewhere = await tenantWithTiles();
  for (const [type, config, foreign] of [
    ['tender-radar', { savedSearchId: searchId, limit: 5 }, { savedSearchId: elsewhere.searchId }],
    ['virtualization-status', { serverIds: [serverId] }, { serverIds: [serverId, elsewhere.serverId] }],
    ['backup-status', { serverIds: [serverId, serverId] }, { serverIds: [newId()] }],
    ['mail-gateway-status', { serverIds: [] }, { serverIds: [elsewhere.serverId] }],
    ['cloud-status', { instanceIds: [instanceId] }, { instanceIds: [elsewhere.instanceId] }],
  ] as const) {
    const tile = await tileOf(admin, type, config);
    expect(tile.config).toEqual(config);
    await expect(tileOf(admin, type, foreign)).rejects.toMatchObject(refusal);
    await expect(changeWidget(admin, tile.id, { config: foreign })).rejects.toMatchObject(refusal);
  }
  // A colleague's search is not accepted.
  await expect(tileOf(user, 'tender-radar', { savedSearchId: searchId })).rejects.toMatchObject(refusal);
});

it('loses deleted references on the dashboards of all users who may have them', async () => {
  const { admin, user, searchId, serverId, instanceId } = await tenantWithTiles();
  const kept = await tenantWithTiles();
  const shown = async (ctx: UserContext) =>
    (await Promise.all((await listTabs(ctx)).map(({ id }) => listWidgets(ctx, id)))).flat().map(({ config }) => config);
  await tileOf(admin, 'tender-radar', { savedSearchId: searchId, limit: 5 });
  for (const ctx of [admin, user]) {
    await tileOf(ctx, 'virtualization-status', { serverIds: [serverId], compact: true });
    await tileOf(ctx, 'cloud-status', { instanceIds: [instanceId] });
  }
  await tileOf(kept.user, 'backup-status', { serverIds: [kept.serverId] });
  await deleteSavedSearch(admin, searchId);
  await deleteServer(admin, serverId);
  await deleteCloudInstance(admin, instanceId);
  const tiles = [{ serverIds: [], compact: true }, { instanceIds: [] }];
  expect(await shown(admin)).toEqual([{ limit: 5 }, ...tiles]);
  expect(await shown(user)).toEqual(tiles);
  expect(await shown(kept.user)).toContainEqual({ serverIds: [kept.serverId] });
});

it('never keeps a reference to a server that is deleted while the widget is added', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { admin, user, serverId } = await tenantWithTiles();
    const { id: tabId } = await createTab(user);
    const add = () => addWidget(user, { tabId, type: 'backup-status', config: { serverIds: [serverId] } });
    await Promise.allSettled([add(), add(), deleteServer(admin, serverId), add(), add()]);
    for (const { config } of await listWidgets(user, tabId)) expect(config).toEqual({ serverIds: [] });
  }
});

it('moves a widget only to another tab of its owner', async () => {
  const { ctx, tabId, add } = await desk();
  const theirs = await desk();
  const { id: otherTab } = await createTab(ctx);
  const widget = await add('notes', { text: 'mit' });
  expect(await changeWidget(ctx, widget.id, { tabId: otherTab, config: { text: 'um' } })).toMatchObject({
    config: { text: 'um' },
  });
  expect(await listWidgets(ctx, tabId)).toEqual([]);
  expect(await listWidgets(ctx, otherTab)).toMatchObject([{ id: widget.id, config: { text: 'um' } }]);
  for (const foreign of [theirs.tabId, newId()]) {
    await expect(changeWidget(ctx, widget.id, { tabId: foreign })).rejects.toMatchObject({ kind: 'not_found' });
  }
});

it('is deleted with its tab, or separately', async () => {
  const { ctx, tabId, add } = await desk();
  const { id: otherTab } = await createTab(ctx);
  const [first, second] = [await add(), await add()];
  await removeWidget(ctx, first.id);
  await expect(removeWidget(ctx, first.id)).rejects.toMatchObject({ kind: 'not_found' });
  expect(await listWidgets(ctx, tabId)).toEqual([second]);
  await deleteTab(ctx, tabId);
  await expect(listWidgets(ctx, tabId)).rejects.toMatchObject({ kind: 'not_found' });
  await expect(removeWidget(ctx, second.id)).rejects.toMatchObject({ kind: 'not_found' });
  expect(await listWidgets(ctx, otherTab)).toEqual([]);
});

it('is deleted with its favorites and the files of their icons', async () => {
  const { ctx, tabId, add } = await desk();
  await createTab(ctx);
  const [removed, onDeletedTab] = [await add('favorites'), await add('favorites')];
  const paths: string[] = [];
  for (const widget of [removed, removed, onDeletedTab]) {
    const { path } = await ctx.files.write('favorite-icons', newId(), 'gif', tinyGif, { maxBytes: 100 });
    const link = { tenantId: ctx.tenantId, widgetId: widget.id, title: 'a', url: 'https://example.org', position: 0 };
    await ctx.tx((tx) => tx.insert(favorites).values({ ...link, id: newId(), iconPath: path, iconType: 'image/gif' }));
    paths.push(path);
  }
  const areThere = async () => {
    const opened = await Promise.all(paths.map((path) => ctx.files.open(path)));
    for (const file of opened) file?.stream.destroy();
    return opened.map((file) => file !== null);
  };
  expect(await areThere()).toEqual([true, true, true]);
  await removeWidget(ctx, removed.id);
  expect(await areThere()).toEqual([false, false, true]);
  await deleteTab(ctx, tabId);
  expect(await areThere()).toEqual([false, false, false]);
  expect(await ctx.read((db) => db.select().from(favorites))).toEqual([]);
});

it('is visible only to its owner', async () => {
  const { ctx, tabId, add } = await desk();
  const widget = await add();
  const colleague = await signedIn(await make.user({ tenantId: ctx.tenantId, role: 'ADMIN' }));
  for (const other of [(await desk()).ctx, colleague]) {
    await expect(listWidgets(other, tabId)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(addWidget(other, { tabId, type: 'clock', config: {} })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(changeWidget(other, widget.id, { config: {} })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(removeWidget(other, widget.id)).rejects.toMatchObject({ kind: 'not_found' });
  }
  expect(await listWidgets(ctx, tabId)).toEqual([widget]);
});
