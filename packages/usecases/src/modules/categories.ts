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

/** Adds a category before `custom-modules`. Throws 409 `CONFLICT` if another category has the name, 409 `LIMIT_REACHED`. */
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

/** Renames a category and keeps its key. Throws 404, 409 `CONFLICT` if another category has the name. */
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

/**
 * Puts the categories in the order of `keys`. Throws 400 unless `keys` names each category exactly once; `custom-modules` may be missing
 * and always stays last.
 */
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

/** Moves a built-in module to a category. Throws 404 for an unknown module or category. */
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
 * Deletes a category and moves its modules, including other users' private ones, to `target`. Throws 400 if the target is the category
 * itself, 404 for an unknown category, 409 `CONFLICT` for `custom-modules`, 409 `TARGET_REQUIRED` without a target.
 */
export async function deleteCategory(ctx: UserContext, key: string, target: string | undefined): Promise<void> {
  if (target === key) throw invalidField('target', 'must be another category');
  await changeArrangement(ctx, async (tx, arrangement) => {
    const { categories } = arrangement;
    const deleted = requireCategory(categories, key);
    if (key === customModulesKey)
      throw conflict('CONFLICT', 'This category cannot be deleted. You can rename it instead.');
    if (target === undefined) throw conflict('TARGET_REQUIRED');
    const destination = requireCategory(categories, target);
    await moveEntries(tx, arrangement, { from: deleted, to: destination, tenantId: ctx.tenantId });
    await tx.delete(moduleCategories).where(eq(moduleCategories.id, deleted.id));
    await numberCategories(
      tx,
      categories.filter((one) => one !== deleted),
    );
    await recordAudit(tx, ctx, {
      action: 'module_categories.delete',
      tenantId: ctx.tenantId,
      target: { type: 'module_category', id: key },
      summary: `Deleted the module category ${deleted.name} and moved its modules to ${destination.name}.`,
    });
  });
}

async function moveEntries(
  tx: Tx,
  arrangement: Arrangement,
  { from, to, tenantId }: { from: Category; to: Category; tenantId: string },
): Promise<void> {
  // The lock waits for custom modules that are being added to the category, and keeps further ones out.
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

/** Writes the positions of all categories, from 0 without gaps; returns how many changed. */
async function numberCategories(tx: Tx, ordered: readonly Category[]): Promise<number> {
  const ids = sql.param(ordered.map(({ id }) => id));
  const { rowCount } = await tx.execute(sql`
    update ${moduleCategories} set position = wanted.number - 1
    from unnest(${ids}::uuid[]) with ordinality as wanted (id, number)
    where ${moduleCategories.id} = wanted.id and ${moduleCategories.position} <> wanted.number - 1`);
  return rowCount ?? 0;
}

/** Runs a change of names and turns a violation of the unique index into 409 `CONFLICT`. */
const orNameTaken = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(conflictOn({ module_categories_name_unique: ['CONFLICT', 'Another category already has this name.'] }));
