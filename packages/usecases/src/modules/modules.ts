import { eq } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { disabledModules } from '@portal/db/schema/modules';
import { notFound } from '@portal/domain/errors';
import { placeModules } from '@portal/domain/modules/categories';
import { isModuleKey, type Module, moduleName } from '@portal/domain/modules/modules';
import type { UserContext } from '@portal/platform/context';
import { readArrangement } from './arrangement.ts';
import { recordAudit } from './audit.ts';

const disabledKeys = prepared<Record<string, never>>()('disabled_modules', (db) =>
  db.select({ key: disabledModules.moduleKey }).from(disabledModules),
);

/** Every module with its category and whether it is on for the tenant, in the order of the registry. */
export async function listModules(ctx: UserContext): Promise<Module[]> {
  const [arrangement, rows] = await Promise.all([readArrangement(ctx), ctx.run(disabledKeys, {})]);
  const disabled = new Set(rows.map(({ key }) => key));
  return placeModules(arrangement).map(({ module, category }) => ({
    key: module,
    name: moduleName(module),
    enabled: !disabled.has(module),
    category: category.key,
  }));
}

/** Switches a module on or off for the whole tenant, administrators included. Throws 404. */
export async function setModuleEnabled(ctx: UserContext, key: string, enabled: boolean): Promise<Module> {
  if (!isModuleKey(key)) throw notFound();
  await ctx.tx(async (tx) => {
    const { rowCount } = enabled
      ? await tx.delete(disabledModules).where(eq(disabledModules.moduleKey, key))
      : await tx.insert(disabledModules).values({ tenantId: ctx.tenantId, moduleKey: key }).onConflictDoNothing();
    if (rowCount === 0) return;
    await recordAudit(tx, ctx, {
      action: 'modules.update',
      tenantId: ctx.tenantId,
      target: { type: 'module', id: key },
      summary: `Switched the module ${moduleName(key)} ${enabled ? 'on' : 'off'}.`,
    });
  });
  const module = (await listModules(ctx)).find((one) => one.key === key);
  if (!module) throw notFound();
  return module;
}
