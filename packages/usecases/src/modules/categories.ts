import { eq, sql } from 'drizzle-orm';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { customModules, moduleCategories, modulePlacements } from '@portal/db/schema/modules';
import { conflict, invalidField, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import {
  type Arrangement,
  type Category,
  categoryKey,
  categoryLimit,
  customModulesKey,
  type ModuleCategory,
  orderCategories,
  placeModules,
  showCategories,
} from '@portal/domain/modules/categories';
import { isModuleKey, moduleName } from '@portal/domain/modules/modules';
import type { UserContext } from '@portal/platform/context';
import { changeArrangement, readArrangement } from './arrangement.ts';
import { recordAudit } from './audit.ts';

/** The tenant's categories in order, each with its built-in modules. */
export const listCategories = async (ctx: UserContext): Promise<ModuleCategory[]> =>
  showCategories(await readArrangement(ctx));

/** Adds a category in front of `custom-modules`. Throws 409 `CONFLICT` for a name that another one has, 409 `LIMIT_REACHED`. */
export async function createCategory(ctx: UserContext, { name }: { name: string }): Promise<ModuleCategory> {
  return orNameTaken(() =>
    changeArrangement(ctx, async (tx, { categories, placements }) => {
      if (categories.length >= categoryLimit)
        throw conflict('LIMIT_REACHED', `There can be at most ${categoryLimit} categories. Please delete one first.`);
      const key = categoryKey(name, new Set(categories.map((one) => one.key)));
      const created = { id: newId(), key, name };
      const ordered = [...categories.slice(0, -1), created, ...categories.slice(-1)];
      await tx
        .insert(moduleCategories)
        .values({ ...created, tenantId: ctx.tenantId, position: ordered.indexOf(created) });
      await numberCategories(tx, ordered);
      await recordAudit(tx, ctx, {
        action: 'module_categories.create',
        tenantId: ctx.tenantId,
        target: { type: 'module_category', id: key },
        summary: `Created the module category ${name}.`,
      });
      return shown({ categories: ordered, placements }, key);
    }),
  );
}

/** Renames a category, whose key stays. Throws 404, 409 `CONFLICT` for a name that another one has. */
export async function renameCategory(
  ctx: UserContext,
  key: string,
  { name }: { name: string },
): Promise<ModuleCategory> {
  return orNameTaken(() =>
    changeArrangement(ctx, async (tx, { categories, placements }) => {
      const before = requireCategory(categories, key);
      if (before.name !== name) {
        await tx.update(moduleCategories).set({ name }).where(eq(moduleCategories.id, before.id));
        await recordAudit(tx, ctx, {
          action: 'module_categories.update',
          tenantId: ctx.tenantId,
          target: { type: 'module_category', id: key },
          summary: `Renamed the module category ${before.name} to ${name}.`,
        });
      }
      const renamed = categories.map((one) => (one === before ? { ...one, name } : one));
      return shown({ categories: renamed, placements }, key);
    }),
  );
}

/** Puts the categories in the order of `keys`. Throws 400 unless that names each of them once; `custom-modules` may be left out and stays last. */
export const setCategoryOrder = (ctx: UserContext, keys: string[]): Promise<ModuleCategory[]> =>
  changeArrangement(ctx, async (tx, { categories, placements }) => {
    const ordered = orderCategories(categories, keys);
    if ((await numberCategories(tx, ordered)) > 0) {
      await recordAudit(tx, ctx, {
        action: 'module_categories.order',
        tenantId: ctx.tenantId,
        summary: `Ordered the module categories: ${ordered.map(({ name }) => name).join(', ')}.`,
      });
    }
    return showCategories({ categories: ordered, placements });
  });

/** Moves a built-in module to a category. Throws 404 for a module or a category there is not. */
export const assignModule = (
  ctx: UserContext,
  { moduleKey, categoryKey: key }: { moduleKey: string; categoryKey: string },
): Promise<ModuleCategory[]> =>
  changeArrangement(ctx, async (tx, arrangement) => {
    if (!isModuleKey(moduleKey)) throw notFound();
    const category = requireCategory(arrangement.categories, key);
    if (arrangement.placements[moduleKey] !== category.id) {
      await tx
        .insert(modulePlacements)
        .values({ tenantId: ctx.tenantId, moduleKey, categoryId: category.id })
        .onConflictDoUpdate({
          target: [modulePlacements.tenantId, modulePlacements.moduleKey],
          set: { categoryId: category.id },
        });
      await recordAudit(tx, ctx, {
        action: 'module_categories.assign',
        tenantId: ctx.tenantId,
        target: { type: 'module', id: moduleKey },
        summary: `Moved the module ${moduleName(moduleKey)} to the category ${category.name}.`,
      });
    }
    return showCategories({ ...arrangement, placements: { ...arrangement.placements, [moduleKey]: category.id } });
  });

/**
 * Deletes a category and moves everything it holds to `target`, other users' personal modules with it. Throws 400 for itself as target,
 * 404 for a category there is not, 409 `CONFLICT` for `custom-modules`, 409 `TARGET_REQUIRED` without a target.
 */
export async function deleteCategory(ctx: UserContext, key: string, target: string | undefined): Promise<void> {
  if (target === key) throw invalidField('target', 'must be another category');
  await changeArrangement(ctx, async (tx, arrangement) => {
    const { categories } = arrangement;
    const doomed = requireCategory(categories, key);
    if (key === customModulesKey) throw conflict('CONFLICT', 'This category cannot be deleted. You may rename it.');
    if (target === undefined) throw conflict('TARGET_REQUIRED');
    const heir = requireCategory(categories, target);
    await moveEntries(tx, arrangement, { from: doomed, to: heir, tenantId: ctx.tenantId });
    await tx.delete(moduleCategories).where(eq(moduleCategories.id, doomed.id));
    await numberCategories(
      tx,
      categories.filter((one) => one !== doomed),
    );
    await recordAudit(tx, ctx, {
      action: 'module_categories.delete',
      tenantId: ctx.tenantId,
      target: { type: 'module_category', id: key },
      summary: `Deleted the module category ${doomed.name}; what it held went to ${heir.name}.`,
    });
  });
}

async function moveEntries(
  tx: Tx,
  arrangement: Arrangement,
  { from, to, tenantId }: { from: Category; to: Category; tenantId: string },
): Promise<void> {
  // Waits for custom modules that are just being put there, and keeps further ones out.
  await tx
    .select({ id: moduleCategories.id })
    .from(moduleCategories)
    .where(eq(moduleCategories.id, from.id))
    .for('update');
  await tx.update(customModules).set({ categoryId: to.id }).where(eq(customModules.categoryId, from.id));
  await tx.update(modulePlacements).set({ categoryId: to.id }).where(eq(modulePlacements.categoryId, from.id));
  const unplaced = placeModules(arrangement).filter(
    ({ module, category }) => category.id === from.id && !(module in arrangement.placements),
  );
  if (unplaced.length > 0)
    await tx
      .insert(modulePlacements)
      .values(unplaced.map(({ module }) => ({ tenantId, moduleKey: module, categoryId: to.id })));
}

function requireCategory(categories: readonly Category[], key: string): Category {
  const category = categories.find((one) => one.key === key);
  if (!category) throw notFound();
  return category;
}

function shown(arrangement: Arrangement, key: string): ModuleCategory {
  const category = showCategories(arrangement).find((one) => one.key === key);
  if (!category) throw notFound();
  return category;
}

/** Writes the positions of all categories, 0 without a gap; answers how many were another before. */
async function numberCategories(tx: Tx, ordered: readonly Category[]): Promise<number> {
  const ids = sql.param(ordered.map(({ id }) => id));
  const { rowCount } = await tx.execute(sql`
    update ${moduleCategories} set position = wanted.number - 1
    from unnest(${ids}::uuid[]) with ordinality as wanted (id, number)
    where ${moduleCategories.id} = wanted.id and ${moduleCategories.position} <> wanted.number - 1`);
  return rowCount ?? 0;
}

/** Runs a change of names; a duplicate that the unique index found is thrown as 409 `CONFLICT`. */
const orNameTaken = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(conflictOn({ module_categories_name_unique: ['CONFLICT', 'Another category already has this name.'] }));
