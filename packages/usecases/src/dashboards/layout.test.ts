import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import { type LayoutInput, type LayoutItem, type Layouts } from '@portal/domain/dashboards/grid';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { getLayout } from './layout.ts';
import { saveLayout } from './save-layout.ts';
import { createTab } from './tabs.ts';
import { addWidget, changeWidget, removeWidget } from './widgets.ts';

const { make, signedIn } = await testRuntime();
const none: Layouts = { lg: [], md: [], sm: [], xs: [], xxs: [] };
const unstored = { __gridVersion: 2, layouts: none, revision: 0, updatedAt: null };

/** An account with a tab that has two widgets. */
async function desk() {
  const ctx = await signedIn(await make.user());
  const { id: tabId } = await createTab(ctx);
  const add = async (to = tabId) => (await addWidget(ctx, { tabId: to, type: 'clock', config: {} })).id;
  return { ctx, tabId, add, a: await add(), b: await add() };
}

const item = (i: string, place: Partial<LayoutItem> = {}): LayoutItem => ({ i, x: 0, y: 0, w: 1, h: 1, ...place });
const layout = (layouts: LayoutInput['layouts'], revision?: number): LayoutInput => ({
  __gridVersion: 2,
  layouts,
  ...(revision !== undefined && { revision }),
});
const ofFirstGrid = (layouts: LayoutInput['layouts'], revision?: number): LayoutInput => ({
  ...layout(layouts, revision),
  __gridVersion: 1,
});

it('is empty and stores nothing until one is saved', async () => {
  const { ctx, tabId } = await desk();
  expect(await getLayout(ctx, tabId)).toEqual(unstored);
  const [row] = await ctx.read((db) => db.select().from(dashboardTabs).where(eq(dashboardTabs.id, tabId)));
  expect(row).toMatchObject({ gridVersion: null, layouts: null, layoutRevision: 0, layoutUpdatedAt: null });
});

it('stores the saved breakpoints and keeps those left out', async () => {
  const { ctx, tabId, a, b } = await desk();
  const lg = [item(a, { w: 24, h: 3, minW: 2, static: true }), item(b, { y: 3 })];
  expect(await saveLayout(ctx, tabId, layout({ lg, xxs: [item(a)] }))).toEqual({
    __gridVersion: 2,
    layouts: { ...none, lg, xxs: [item(a)] },
    revision: 1,
    updatedAt: expect.any(Date),
  });
  const saved = await saveLayout(ctx, tabId, layout({ xxs: [], md: [item(b)] }));
  expect(saved).toMatchObject({ layouts: { ...none, lg, md: [item(b)] }, revision: 2 });
  expect(await getLayout(ctx, tabId)).toEqual(saved);
});

it('accepts only widgets of its tab', async () => {
  const { ctx, tabId, a, add } = await desk();
  const elsewhere = await add((await createTab(ctx)).id);
  const theirs = await desk();
  for (const i of [elsewhere, theirs.a, newId()]) {
    await expect(saveLayout(ctx, tabId, layout({ lg: [item(a), item(i)] }))).rejects.toMatchObject({
      kind: 'invalid',
      code: 'VALIDATION_FAILED',
      details: [{ path: 'layouts.lg.1.i', message: expect.any(String) }],
    });
  }
  expect(await getLayout(ctx, tabId)).toEqual(unstored);
});

it('does not overwrite a save after the client’s revision; without a revision the last save wins', async () => {
  const { ctx, tabId, a } = await desk();
  expect(await saveLayout(ctx, tabId, layout({ lg: [item(a)] }, 0))).toMatchObject({ revision: 1 });
  for (const stale of [0, 2]) {
    await expect(saveLayout(ctx, tabId, layout({ lg: [] }, stale))).rejects.toMatchObject({ code: 'LAYOUT_CHANGED' });
  }
  expect(await saveLayout(ctx, tabId, layout({ lg: [item(a, { x: 5 })] }, 1))).toMatchObject({ revision: 2 });
  expect(await saveLayout(ctx, tabId, layout({ lg: [] }))).toMatchObject({ revision: 3 });
});

it('stores the old grid unchanged and converts it once with the next read', async () => {
  const { ctx, tabId, a } = await desk();
  const before = item(a, { x: 6, y: 1, w: 6, h: 2 });
  expect(await saveLayout(ctx, tabId, ofFirstGrid({ lg: [before], xxs: [item(a, { w: 2 })] }))).toMatchObject({
    __gridVersion: 1,
    layouts: { lg: [before] },
    revision: 1,
  });
  expect(await saveLayout(ctx, tabId, ofFirstGrid({ md: [] }, 1))).toMatchObject({ __gridVersion: 1, revision: 2 });
  const [converted, ...others] = await Promise.all(Array.from({ length: 5 }, () => getLayout(ctx, tabId)));
  expect(converted).toMatchObject({
    __gridVersion: 2,
    layouts: { ...none, lg: [item(a, { x: 12, y: 2, w: 12, h: 4 })], xxs: [item(a, { w: 2, h: 2 })] },
    revision: 2,
  });
  for (const other of others) expect(other).toEqual(converted);
  expect(await getLayout(ctx, tabId)).toEqual(converted);
  await expect(saveLayout(ctx, tabId, ofFirstGrid({ lg: [] }, 2))).rejects.toMatchObject({
    code: 'GRID_VERSION_NEWER',
  });
  expect(await getLayout(ctx, tabId)).toEqual(converted);
});

it('converts the breakpoints a newer client leaves out', async () => {
  const { ctx, tabId, a, b } = await desk();
  await saveLayout(ctx, tabId, ofFirstGrid({ lg: [item(a)], sm: [item(b, { w: 6 })] }));
  expect(await saveLayout(ctx, tabId, layout({ lg: [item(b, { x: 23 })] }))).toMatchObject({
    __gridVersion: 2,
    layouts: { ...none, lg: [item(b, { x: 23 })], sm: [item(b, { w: 12, h: 2 })] },
    revision: 2,
  });
});

it('of an unknown grid is shown and never overwritten', async () => {
  const { ctx, tabId, a } = await desk();
  const layouts = { ...none, lg: [item(a, { x: 40 })] };
  await ctx.tx((tx) =>
    tx
      .update(dashboardTabs)
      .set({ gridVersion: 3, layouts, layoutRevision: 4, layoutUpdatedAt: new Date() })
      .where(eq(dashboardTabs.id, tabId)),
  );
  for (const save of [layout({ lg: [] }), layout({ lg: [] }, 4), ofFirstGrid({})]) {
    await expect(saveLayout(ctx, tabId, save)).rejects.toMatchObject({ code: 'GRID_VERSION_NEWER' });
  }
  expect(await getLayout(ctx, tabId)).toMatchObject({ __gridVersion: 3, layouts, revision: 4 });
});

it('loses the items of a removed or moved widget, and its revision increases', async () => {
  const { ctx, tabId, a, b } = await desk();
  const other = await createTab(ctx);
  const everywhere = { lg: [item(a), item(b, { x: 1 })], md: [item(b)], sm: [item(a)], xs: [], xxs: [item(a)] };
  await saveLayout(ctx, tabId, layout(everywhere));
  await changeWidget(ctx, a, { tabId: other.id });
  expect(await getLayout(ctx, tabId)).toMatchObject({
    layouts: { ...none, lg: [item(b, { x: 1 })], md: [item(b)] },
    revision: 2,
  });
  await expect(saveLayout(ctx, tabId, layout(everywhere, 1))).rejects.toMatchObject({ code: 'LAYOUT_CHANGED' });
  await expect(saveLayout(ctx, tabId, layout(everywhere))).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  await removeWidget(ctx, b);
  expect(await getLayout(ctx, tabId)).toMatchObject({ layouts: none, revision: 3 });
  expect(await getLayout(ctx, other.id)).toEqual(unstored);
  await removeWidget(ctx, a);
  expect(await getLayout(ctx, other.id)).toEqual(unstored);
});

it('is visible only to its owner', async () => {
  const { ctx, tabId, a } = await desk();
  const { ctx: stranger } = await desk();
  const colleague = await signedIn(await make.user({ tenantId: ctx.tenantId, role: 'ADMIN' }));
  for (const other of [stranger, colleague]) {
    await expect(getLayout(other, tabId)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(saveLayout(other, tabId, layout({ lg: [item(a)] }))).rejects.toMatchObject({ kind: 'not_found' });
  }
});
