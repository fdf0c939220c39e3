import { sql } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { moduleCategories, modulePlacements } from '@portal/db/schema/modules';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import type { Arrangement, Category } from '@portal/domain/modules/categories';
import { defaultCategories } from '@portal/domain/modules/modules';
import { lockTenant } from '@portal/platform/lock-tenant';

const categoriesInOrder = sql`(
  select coalesce(
    json_agg(json_build_object('id', ${moduleCategories.id}, 'key', ${moduleCategories.key}, 'name', ${moduleCategories.name})
      order by ${moduleCategories.position}), '[]')
  from ${moduleCategories}
)`;
const placementsByModule = sql`(
  select coalesce(json_object_agg(${modulePlacements.moduleKey}, ${modulePlacements.categoryId}), '{}') from ${modulePlacements}
)`;

/** Columns of an arrangement, for statements on the row of the current tenant: one consistent snapshot. */
export const arrangementColumns = {
  categories: sql<Category[]>`${categoriesInOrder}`.as('categories'),
  placements: sql<Record<string, string>>`${placementsByModule}`.as('placements'),
};

const storedArrangement = prepared<Record<string, never>>()('module_arrangement', (db) =>
  db.select(arrangementColumns).from(tenants),
);

/** The tenant's categories and placements. The first call creates the default categories, only once even for concurrent calls. */
export async function readArrangement(ctx: TenantScope): Promise<Arrangement> {
  return (await stored(ctx)) ?? changeArrangement(ctx, async (_tx, made) => made);
}

/** Changes categories and placements. Changes of one tenant run one after the other, each on the result of the previous one. */
export const changeArrangement = <T>(
  ctx: TenantScope,
  work: (tx: Tx, arrangement: Arrangement) => Promise<T>,
): Promise<T> =>
  ctx.tx(async (tx) => {
    await lockTenant(tx, ctx.tenantId);
    return work(tx, (await stored(tx)) ?? (await makeDefaultCategories(tx, ctx.tenantId)));
  });

/** Null until the default categories are created; afterwards there is always at least `custom-modules`, which is never deleted. */
async function stored(db: Pick<Tx, 'run'>): Promise<Arrangement | null> {
  const [arrangement] = await db.run(storedArrangement, {});
  return arrangement && arrangement.categories.length > 0 ? arrangement : null;
}

async function makeDefaultCategories(tx: Tx, tenantId: string): Promise<Arrangement> {
  const categories = defaultCategories.map(({ key, name }, position) => ({
    id: newId(),
    tenantId,
    key,
    name,
    position,
  }));
  await tx.insert(moduleCategories).values(categories);
  return { categories, placements: {} };
}
