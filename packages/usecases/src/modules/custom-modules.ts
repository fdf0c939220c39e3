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

/** Adds a module of the caller's own, or a shared one. Throws 403 for a shared one by a plain user, 400 for an unknown category, 409 `LIMIT_REACHED`. */
export async function createCustomModule(ctx: UserContext, input: NewCustomModule): Promise<CustomModule> {
  const { category, shared, ...fields } = input;
  if (shared && !isAdmin(ctx.actor))
    throw forbidden('FORBIDDEN', 'Only administrators may share a module with everyone.');
  // Makes the default categories where nobody has looked at them yet.
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
      await recordChange(tx, ctx, { action: 'custom_modules.create', id, deed: `Shared the module ${fields.name}` });
    return customModuleFor(tx, id);
  });
}

/** Changes what is named. Throws 404 for another account's module, 403 for a shared one by a plain user, 400 for an unknown category. */
export const updateCustomModule = (ctx: UserContext, id: string, change: CustomModuleChange): Promise<CustomModule> =>
  ctx.tx(async (tx) => {
    const { ownerUserId } = await changeableFor(tx, ctx, id);
    const { category, ...fields } = change;
    // The category before the module: deleting a category locks them in that order, too.
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
        deed: `Changed the shared module ${after.name}`,
      });
    return after;
  });

/** Throws 404 for another account's module, 403 for a shared one by a plain user. */
export const deleteCustomModule = (ctx: UserContext, id: string): Promise<void> =>
  ctx.tx(async (tx) => {
    const { ownerUserId, name } = await changeableFor(tx, ctx, id);
    const { rowCount } = await tx.delete(customModules).where(eq(customModules.id, id));
    if (rowCount === 0) throw notFound();
    if (ownerUserId === null)
      await recordChange(tx, ctx, { action: 'custom_modules.delete', id, deed: `Deleted the shared module ${name}` });
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

/** A module the actor may change, not locked: whose it is never changes. Throws 404 and 403. */
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

/** Id of a category, which cannot be deleted before the transaction ends. Throws 400 (specification, Errors: unknown category on a custom module). */
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
  // One at a time for each account, so that two at once cannot both be the last one.
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

/** Shared modules are configuration and stand in the audit log; what somebody keeps for themself does not. */
const recordChange = (
  tx: Tx,
  ctx: UserContext,
  { action, id, deed }: { action: `custom_modules.${'create' | 'update' | 'delete'}`; id: string; deed: string },
): Promise<void> =>
  recordAudit(tx, ctx, {
    action,
    tenantId: ctx.tenantId,
    target: { type: 'custom_module', id },
    summary: `${deed}.`,
  });
