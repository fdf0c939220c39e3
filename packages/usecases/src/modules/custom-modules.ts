import { asc, eq, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { customModules, moduleCategories } from '@portal/db/schema/modules';
import { isAdmin } from '@portal/domain/access';
import { conflict, forbidden, invalidField, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import {
  checkMayChange,
  type CustomModule,
  type CustomModuleChange,
  customModuleLimits,
  type NewCustomModule,
} from '@portal/domain/modules/custom-modules';
import type { UserContext } from '@portal/platform/context';
import { lockTenant } from '@portal/platform/lock-tenant';
import { readArrangement } from './arrangement.ts';
import { recordAudit } from './audit.ts';

/** The tenant's shared modules and the caller's own. */
export const listCustomModules = (ctx: UserContext): Promise<CustomModule[]> =>
  ctx.read((db) =>
    customModulesWhere(db, or(isNull(customModules.ownerUserId), eq(customModules.ownerUserId, ctx.actor.id))),
  );

/**
 * Adds a private module of the caller, or a shared one. Throws 403 if a non-administrator adds a shared one, 400 for an unknown category,
 * 409 `LIMIT_REACHED`.
 */
export async function createCustomModule(ctx: UserContext, input: NewCustomModule): Promise<CustomModule> {
  const { category, shared, ...fields } = input;
  if (shared && !isAdmin(ctx.actor))
    throw forbidden('FORBIDDEN', 'Only administrators may share a module with everyone.');
  // Creates the default categories if no call has created them yet.
  await readArrangement(ctx);
  return ctx.tx(async (tx) => {
    await (shared ? keepSharedLimit(tx, ctx) : keepPersonalLimit(tx, ctx));
    const id = newId();
    await tx.insert(customModules).values({
      id,
      tenantId: ctx.tenantId,
      ownerUserId: shared ? null : ctx.actor.id,
      categoryId: await categoryIdOf(tx, category),
      ...fields,
    });
    if (shared)
      await recordChange(tx, ctx, { action: 'custom_modules.create', id, summary: `Shared the module ${fields.name}` });
    return customModuleFor(tx, id);
  });
}

/**
 * Changes the fields of `change`. Throws 404 for another account's module, 403 if a non-administrator changes a shared one, 400 for an
 * unknown category.
 */
export const updateCustomModule = (ctx: UserContext, id: string, change: CustomModuleChange): Promise<CustomModule> =>
  ctx.tx(async (tx) => {
    const { ownerUserId } = await changeableFor(tx, ctx, id);
    const { category, ...fields } = change;
    // Lock the category before the module; deleting a category locks them in the same order.
    const categoryId = category === undefined ? undefined : await categoryIdOf(tx, category);
    await tx
      .update(customModules)
      .set({ ...fields, categoryId, updatedAt: sql`now()` })
      .where(eq(customModules.id, id));
    const after = await customModuleFor(tx, id);
    if (ownerUserId === null)
      await recordChange(tx, ctx, {
        action: 'custom_modules.update',
        id,
        summary: `Changed the shared module ${after.name}`,
      });
    return after;
  });

/** Throws 404 for another account's module, 403 if a non-administrator deletes a shared one. */
export const deleteCustomModule = (ctx: UserContext, id: string): Promise<void> =>
  ctx.tx(async (tx) => {
    const { ownerUserId, name } = await changeableFor(tx, ctx, id);
    const { rowCount } = await tx.delete(customModules).where(eq(customModules.id, id));
    if (rowCount === 0) throw notFound();
    if (ownerUserId === null)
      await recordChange(tx, ctx, {
        action: 'custom_modules.delete',
        id,
        summary: `Deleted the shared module ${name}`,
      });
  });

const customModulesWhere = (db: Pick<Tx, 'select'>, condition: SQL | undefined): Promise<CustomModule[]> =>
  db
    .select({
      id: customModules.id,
      name: customModules.name,
      url: customModules.url,
      category: moduleCategories.key,
      ownerUserId: customModules.ownerUserId,
      sortOrder: customModules.sortOrder,
    })
    .from(customModules)
    .innerJoin(moduleCategories, eq(moduleCategories.id, customModules.categoryId))
    .where(condition)
    .orderBy(asc(customModules.sortOrder), asc(sql`lower(${customModules.name})`), asc(customModules.id));

async function customModuleFor(tx: Tx, id: string): Promise<CustomModule> {
  const [found] = await customModulesWhere(tx, eq(customModules.id, id));
  if (!found) throw notFound();
  return found;
}

/** A module the actor may change. Not locked, because the owner never changes. Throws 404 and 403. */
async function changeableFor(
  tx: Tx,
  ctx: UserContext,
  id: string,
): Promise<{ ownerUserId: string | null; name: string }> {
  const [found] = await tx
    .select({ ownerUserId: customModules.ownerUserId, name: customModules.name })
    .from(customModules)
    .where(eq(customModules.id, id));
  if (!found) throw notFound();
  checkMayChange(ctx.actor, found);
  return found;
}

/**
 * The id of a category, locked against deletion until the transaction ends. Throws 400 if there is no such category.
 */
async function categoryIdOf(tx: Tx, key: string): Promise<string> {
  const [category] = await tx
    .select({ id: moduleCategories.id })
    .from(moduleCategories)
    .where(eq(moduleCategories.key, key))
    .for('key share');
  if (!category) throw invalidField('category', 'must be the key of a category');
  return category.id;
}

async function keepPersonalLimit(tx: Tx, ctx: UserContext): Promise<void> {
  // Serialize per account, so that two concurrent calls cannot both take the last slot.
  await tx.select({ id: users.id }).from(users).where(eq(users.id, ctx.actor.id)).for('no key update');
  const own = await tx.$count(customModules, eq(customModules.ownerUserId, ctx.actor.id));
  if (own >= customModuleLimits.personal)
    throw conflict(
      'LIMIT_REACHED',
      `You can have at most ${customModuleLimits.personal} modules of your own. Please delete one first.`,
    );
}

async function keepSharedLimit(tx: Tx, ctx: UserContext): Promise<void> {
  await lockTenant(tx, ctx.tenantId);
  const shared = await tx.$count(customModules, isNull(customModules.ownerUserId));
  if (shared >= customModuleLimits.shared)
    throw conflict(
      'LIMIT_REACHED',
      `There can be at most ${customModuleLimits.shared} shared modules. Please delete one first.`,
    );
}

/** The audit log records shared modules, because they are configuration; private ones are not recorded. */
const recordChange = (
  tx: Tx,
  ctx: UserContext,
  { action, id, summary }: { action: `custom_modules.${'create' | 'update' | 'delete'}`; id: string; summary: string },
): Promise<void> =>
  recordAudit(tx, ctx, {
    action,
    tenantId: ctx.tenantId,
    target: { type: 'custom_module', id },
    summary: `${summary}.`,
  });
