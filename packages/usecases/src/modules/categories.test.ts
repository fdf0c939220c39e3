import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { customModules, moduleCategories, modulePlacements } from '@portal/db/schema/modules';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import { categoryLimit } from '@portal/domain/modules/categories';
import { defaultCategories } from '@portal/domain/modules/modules';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { listAuditEntries } from '../audit/list-audit-entries.ts';
import { listActiveModules } from './active-modules.ts';
import {
  assignModule,
  createCategory,
  deleteCategory,
  listCategories,
  renameCategory,
  setCategoryOrder,
} from './categories.ts';
import { createCustomModule, listCustomModules } from './custom-modules.ts';
import { listModules } from './modules.ts';

const { runtime, make, signedIn } = await testRuntime();
const admin = async (): Promise<UserContext> => signedIn(await make.user({ role: 'ADMIN' }));
const notFound = { kind: 'not_found', code: 'NOT_FOUND' };
const keysOf = async (ctx: UserContext): Promise<string[]> => (await listCategories(ctx)).map(({ key }) => key);
const defaultKeys = defaultCategories.map(({ key }) => key);

describe('the default categories', () => {
  it('are created by the first read, only once by fifty concurrent ones', async () => {
    const ctx = await admin();
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? listCategories(ctx) : listActiveModules(ctx))),
    );
    const rows = await ctx.read((db) => db.select().from(moduleCategories).orderBy(moduleCategories.position));
    expect(rows.map(({ key, name, position }) => ({ key, name, position }))).toEqual(
      defaultCategories.map((category, position) => ({ ...category, position })),
    );
  });

  it('exist for the first change, too', async () => {
    expect(await renameCategory(await admin(), 'sales', { name: 'Vertrieb' })).toMatchObject({
      key: 'sales',
      position: 2,
    });
    const [first, second] = [await admin(), await admin()];
    await deleteCategory(first, 'tools', 'sales');
    expect(await keysOf(first)).toEqual(['infrastructure', 'accounting', 'sales', 'custom-modules']);
    await createCustomModule(second, newModule());
    expect(await keysOf(second)).toEqual(defaultKeys);
  });

  it('do not come back after they are deleted', async () => {
    const ctx = await admin();
    for (const key of defaultKeys.slice(0, -1)) await deleteCategory(ctx, key, 'custom-modules');
    expect(await listCategories(ctx)).toMatchObject([{ key: 'custom-modules', position: 0 }]);
    expect((await listModules(ctx)).map(({ category }) => category)).toEqual(
      Array.from({ length: 8 }, () => 'custom-modules'),
    );
  });
});

const newModule = (category = 'custom-modules', shared = false) => ({
  name: `Wiki ${newId()}`,
  url: 'https://wiki.example.org/',
  category,
  shared,
  sortOrder: 0,
});

describe('a category', () => {
  it('is created before custom-modules, with a key derived from its name', async () => {
    const ctx = await admin();
    expect(await createCategory(ctx, { name: 'Außendienst' })).toEqual({
      key: 'aussendienst',
      name: 'Außendienst',
      position: 4,
      moduleKeys: [],
    });
    expect(await createCategory(ctx, { name: 'Aussendienst' })).toMatchObject({ key: 'aussendienst-2', position: 5 });
    expect(await keysOf(ctx)).toEqual([
      ...defaultKeys.slice(0, -1),
      'aussendienst',
      'aussendienst-2',
      'custom-modules',
    ]);
  });

  it('has a unique name regardless of case, also with concurrent calls', async () => {
    const ctx = await admin();
    const taken = { kind: 'conflict', code: 'CONFLICT' };
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => createCategory(ctx, { name: n % 2 === 0 ? 'Lager' : 'LAGER' })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(createCategory(ctx, { name: 'sales' })).rejects.toMatchObject(taken);
    await expect(renameCategory(ctx, 'tools', { name: 'SALES' })).rejects.toMatchObject(taken);
    expect(await renameCategory(ctx, 'sales', { name: 'SALES' })).toMatchObject({ key: 'sales', name: 'SALES' });
    expect(await keysOf(ctx)).toHaveLength(6);
  });

  it('keeps its key when it is renamed; so does custom-modules', async () => {
    const ctx = await admin();
    expect(await renameCategory(ctx, 'tools', { name: 'Werkzeug' })).toEqual({
      key: 'tools',
      name: 'Werkzeug',
      position: 3,
      moduleKeys: ['calendar'],
    });
    await renameCategory(ctx, 'custom-modules', { name: 'Eigene' });
    expect((await listCategories(ctx)).at(-1)).toMatchObject({ key: 'custom-modules', name: 'Eigene' });
    await expect(renameCategory(ctx, 'sport', { name: 'Sport' })).rejects.toMatchObject(notFound);
  });

  it('cannot be added above the limit', async () => {
    const ctx = await admin();
    await Promise.all(
      Array.from({ length: categoryLimit - defaultKeys.length }, (_, n) => createCategory(ctx, { name: `Nr. ${n}` })),
    );
    await expect(createCategory(ctx, { name: 'zu viel' })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it('of another tenant is 404', async () => {
    const [ours, theirs] = [await admin(), await admin()];
    const { key } = await createCategory(theirs, { name: 'Fremde' });
    await expect(renameCategory(ours, key, { name: 'Unsere' })).rejects.toMatchObject(notFound);
    await expect(deleteCategory(ours, key, 'tools')).rejects.toMatchObject(notFound);
    await expect(deleteCategory(ours, 'tools', key)).rejects.toMatchObject(notFound);
    await expect(assignModule(ours, { moduleKey: 'calendar', categoryKey: key })).rejects.toMatchObject(notFound);
  });
});

describe('the order', () => {
  it('is set by the complete list, custom-modules last', async () => {
    const ctx = await admin();
    const wanted = ['tools', 'sales', 'infrastructure', 'accounting'];
    expect((await setCategoryOrder(ctx, wanted)).map(({ key, position }) => `${position} ${key}`)).toEqual([
      '0 tools',
      '1 sales',
      '2 infrastructure',
      '3 accounting',
      '4 custom-modules',
    ]);
    await setCategoryOrder(ctx, ['custom-modules', ...wanted]);
    expect(await keysOf(ctx)).toEqual([...wanted, 'custom-modules']);
    for (const wrong of [wanted.slice(1), [...wanted, 'tools'], [...wanted, 'sport'], []]) {
      await expect(setCategoryOrder(ctx, wrong)).rejects.toMatchObject({ kind: 'invalid' });
    }
    const { items } = await listAuditEntries(ctx, { limit: 10, action: 'module_categories.order' });
    expect(items).toHaveLength(1);
  });
});

describe('a module', () => {
  it('is moved to a category and stays there', async () => {
    const ctx = await admin();
    const after = await assignModule(ctx, { moduleKey: 'calendar', categoryKey: 'sales' });
    expect(after.find(({ key }) => key === 'sales')?.moduleKeys).toEqual(['tender-radar', 'calendar']);
    expect(await listCategories(ctx)).toEqual(after);
    expect((await listModules(ctx)).find(({ key }) => key === 'calendar')).toMatchObject({ category: 'sales' });
    await assignModule(ctx, { moduleKey: 'calendar', categoryKey: 'tools' });
    expect((await listCategories(ctx)).find(({ key }) => key === 'tools')?.moduleKeys).toEqual(['calendar']);
  });

  it('or a category that does not exist is 404', async () => {
    const ctx = await admin();
    for (const wrong of [
      { moduleKey: 'sport', categoryKey: 'sales' },
      { moduleKey: '__proto__', categoryKey: 'sales' },
      { moduleKey: 'calendar', categoryKey: 'sport' },
    ])
      await expect(assignModule(ctx, wrong)).rejects.toMatchObject(notFound);
  });
});

describe('deleting a category', () => {
  it('moves all its modules to the target: moved ones, default ones, shared ones and the private ones of all users', async () => {
    const ctx = await admin();
    const colleague = await signedIn(await make.user({ tenantId: ctx.tenantId }));
    await assignModule(ctx, { moduleKey: 'calendar', categoryKey: 'sales' });
    await createCustomModule(ctx, newModule('sales', true));
    await createCustomModule(ctx, newModule('sales'));
    await createCustomModule(colleague, newModule('sales'));
    await createCustomModule(colleague, newModule('tools'));
    await deleteCategory(ctx, 'sales', 'accounting');
    expect((await listCategories(ctx)).map(({ key, position }) => `${position} ${key}`)).toEqual([
      '0 infrastructure',
      '1 accounting',
      '2 tools',
      '3 custom-modules',
    ]);
    expect((await listCategories(ctx))[1]?.moduleKeys).toEqual([
      'tender-radar',
      'canteen-billing',
      'merchandise-export',
      'invoice-mailbox',
      'calendar',
    ]);
    expect((await listCustomModules(ctx)).map(({ category }) => category)).toEqual(['accounting', 'accounting']);
    expect((await listCustomModules(colleague)).map(({ category }) => category).toSorted()).toEqual([
      'accounting',
      'accounting',
      'tools',
    ]);
    const [entry] = (await listAuditEntries(ctx, { limit: 1 })).items;
    expect(entry).toMatchObject({ action: 'module_categories.delete', targetId: 'sales' });
  });

  it('is refused without a target, to itself, to an unknown category, and for custom-modules', async () => {
    const ctx = await admin();
    await expect(deleteCategory(ctx, 'sport', undefined)).rejects.toMatchObject(notFound);
    await expect(deleteCategory(ctx, 'sales', undefined)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'TARGET_REQUIRED',
    });
    const { key } = await createCategory(ctx, { name: 'Leer' });
    await expect(deleteCategory(ctx, key, undefined)).rejects.toMatchObject({ code: 'TARGET_REQUIRED' });
    await expect(deleteCategory(ctx, 'sales', 'sales')).rejects.toMatchObject({ kind: 'invalid' });
    await expect(deleteCategory(ctx, 'sales', 'sport')).rejects.toMatchObject(notFound);
    for (const target of ['sales', undefined])
      await expect(deleteCategory(ctx, 'custom-modules', target)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await keysOf(ctx)).toHaveLength(6);
  });

  it('loses no custom module that is added at the same time', async () => {
    const ctx = await admin();
    let added = 0;
    for (let round = 0; round < 20; round += 1) {
      const { key } = await createCategory(ctx, { name: `Kurz ${round}` });
      const adding = Array.from({ length: 6 }, (_, n) => createCustomModule(ctx, newModule(key, n % 2 === 0)));
      // The other calls are still in progress.
      await Promise.race(adding);
      const [, ...results] = await Promise.allSettled([deleteCategory(ctx, key, 'tools'), ...adding]);
      for (const result of results) {
        if (result.status === 'fulfilled') added += 1;
        else expect(result.reason).toMatchObject({ kind: 'invalid' });
      }
      const categories = (await listCustomModules(ctx)).map(({ category }) => category);
      expect(categories).toEqual(Array.from({ length: added }, () => 'tools'));
    }
  });

  it('happens with everything else of a tenant when the tenant is deleted', async () => {
    const ctx = await admin();
    await assignModule(ctx, { moduleKey: 'calendar', categoryKey: 'sales' });
    await createCustomModule(ctx, newModule('sales', true));
    await createCustomModule(ctx, newModule('tools'));
    await runtime.database.acrossTenants('a test deletes a tenant', (tx) =>
      tx.delete(tenants).where(eq(tenants.id, ctx.tenantId)),
    );
    const left = await ctx.read((db) =>
      Promise.all([moduleCategories, modulePlacements, customModules].map((table) => db.$count(table))),
    );
    expect(left).toEqual([0, 0, 0]);
  });
});
