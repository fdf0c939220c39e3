import { expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { createTab, deleteTab, listTabs, orderTabs, renameTab } from './tabs.ts';

const { make, signedIn } = await testRuntime();
const newContext = async () => signedIn(await make.user());
type UserContext = Awaited<ReturnType<typeof newContext>>;
const shown = async (ctx: UserContext) => (await listTabs(ctx)).map(({ name, position }) => `${position} ${name}`);

it('creates the first tab once, with the first read', async () => {
  const ctx = await newContext();
  const first = await listTabs(ctx);
  expect(first).toEqual([{ id: expect.any(String), name: 'Dashboard 1', position: 0 }]);
  expect(await listTabs(ctx)).toEqual(first);
});

it('names a new tab with the lowest free number unless a name is given, and adds it at the end', async () => {
  const ctx = await newContext();
  const [first] = await listTabs(ctx);
  await createTab(ctx);
  await createTab(ctx, 'Leitstelle');
  await renameTab(ctx, first?.id ?? '', 'Start');
  await createTab(ctx);
  await createTab(ctx);
  await createTab(ctx, 'Leitstelle');
  expect(await shown(ctx)).toEqual([
    '0 Start',
    '1 Dashboard 2',
    '2 Leitstelle',
    '3 Dashboard 1',
    '4 Dashboard 3',
    '5 Leitstelle',
  ]);
});

it('starts with Dashboard 1 when the first call adds a tab', async () => {
  const ctx = await newContext();
  expect(await createTab(ctx)).toMatchObject({ name: 'Dashboard 1', position: 0 });
  expect(await shown(ctx)).toEqual(['0 Dashboard 1']);
});

it('allows 20 tabs and no more', async () => {
  const ctx = await newContext();
  for (let n = 0; n < 20; n += 1) await createTab(ctx);
  await expect(createTab(ctx)).rejects.toMatchObject({ kind: 'conflict', code: 'TAB_LIMIT' });
  const tabs = await listTabs(ctx);
  expect(tabs).toHaveLength(20);
  await deleteTab(ctx, tabs[3]?.id ?? '');
  expect(await createTab(ctx)).toMatchObject({ name: 'Dashboard 4', position: 19 });
});

it('accepts a new order only if it is complete', async () => {
  const ctx = await newContext();
  for (const name of ['a', 'b', 'c']) await createTab(ctx, name);
  const [a = '', b = '', c = ''] = (await listTabs(ctx)).map(({ id }) => id);
  const ordered = await orderTabs(ctx, [c, a, b]);
  expect(ordered.map(({ name, position }) => `${position} ${name}`)).toEqual(['0 c', '1 a', '2 b']);
  expect(await listTabs(ctx)).toEqual(ordered);
  const other = await createTab(await newContext(), 'theirs');
  for (const wrong of [[], [a, b], [a, b, c, a], [a, a, b], [a, b, newId()], [a, b, c, other.id], [a, b, other.id]]) {
    await expect(orderTabs(ctx, wrong)).rejects.toMatchObject({ kind: 'invalid', code: 'VALIDATION_FAILED' });
  }
  expect(await listTabs(ctx)).toEqual(ordered);
});

it('renumbers the tabs after a deletion, and keeps the last one', async () => {
  const ctx = await newContext();
  for (const name of ['a', 'b', 'c']) await createTab(ctx, name);
  const [a = '', b = '', c = ''] = (await listTabs(ctx)).map(({ id }) => id);
  await deleteTab(ctx, b);
  expect(await shown(ctx)).toEqual(['0 a', '1 c']);
  await deleteTab(ctx, a);
  await expect(deleteTab(ctx, c)).rejects.toMatchObject({ kind: 'conflict', code: 'LAST_TAB' });
  await expect(deleteTab(ctx, a)).rejects.toMatchObject({ kind: 'not_found' });
  expect(await shown(ctx)).toEqual(['0 c']);
});

it('hides the tabs of other users, also of the same tenant', async () => {
  const owner = await make.user();
  const tab = await createTab(await signedIn(owner), 'mine');
  for (const tenantId of [owner.tenantId, undefined]) {
    const ctx = await signedIn(await make.user({ role: 'ADMIN', ...(tenantId && { tenantId }) }));
    await createTab(ctx);
    await expect(renameTab(ctx, tab.id, 'theirs')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(deleteTab(ctx, tab.id)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await shown(ctx)).toEqual(['0 Dashboard 1']);
  }
  expect(await shown(await signedIn(owner))).toEqual(['0 mine']);
});
