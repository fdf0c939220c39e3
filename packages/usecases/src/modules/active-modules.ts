import { sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { customModules } from '@portal/db/schema/modules';
import { tenants } from '@portal/db/schema/tenants';
import { type Actor, isAdmin } from '@portal/domain/access';
import { placeModules } from '@portal/domain/modules/categories';
import { type ActiveModule, type GrantLevel, type ModuleKey, moduleName } from '@portal/domain/modules/modules';
import type { UserContext } from '@portal/platform/context';
import { arrangementColumns, readArrangement } from './arrangement.ts';
import { moduleLevels } from './module-access.ts';

type StoredCustomModule = [id: string, name: string, url: string, categoryId: string, ownerUserId: string | null];

const visibleCustomModules = sql`(
  select coalesce(
    json_agg(
      json_build_array(
        ${customModules.id}, ${customModules.name}, ${customModules.url}, ${customModules.categoryId}, ${customModules.ownerUserId}
      )
      order by ${customModules.sortOrder}, lower(${customModules.name}), ${customModules.id}
    ), '[]')
  from ${customModules}
  where ${customModules.ownerUserId} is null or ${customModules.ownerUserId} = ${sql.placeholder('userId')}
)`;

// One statement reads categories and their modules: between two statements, a category might be deleted.
const sidebarOfAccount = prepared<{ userId: string }>()('module_sidebar', (db) =>
  db
    .select({
      ...arrangementColumns,
      customModules: sql<StoredCustomModule[]>`${visibleCustomModules}`.as('custom_modules'),
    })
    .from(tenants),
);

/**
 * The modules the caller may open, in the order of the sidebar: by category, built-in modules in the order of the registry, then custom
 * ones by `sortOrder` and name.
 */
export async function listActiveModules(ctx: UserContext): Promise<ActiveModule[]> {
  const [levels, sidebar] = await Promise.all([moduleLevels(ctx), readSidebar(ctx)]);
  const builtIn = Map.groupBy(placeModules(sidebar), ({ category }) => category.id);
  const custom = Map.groupBy(sidebar.customModules, ([, , , categoryId]) => categoryId);
  return sidebar.categories.flatMap(({ id, key, name }) => {
    const place = { category: key, categoryName: name };
    return [
      ...(builtIn.get(id) ?? []).flatMap(({ module }) => {
        const level = levels.get(module);
        return level === undefined ? [] : [builtInEntry(module, level, place)];
      }),
      ...(custom.get(id) ?? []).map((stored) => customEntry(ctx.actor, stored, place)),
    ];
  });
}

type Place = Pick<ActiveModule, 'category' | 'categoryName'>;

const builtInEntry = (key: ModuleKey, level: GrantLevel, place: Place): ActiveModule => ({
  key,
  name: moduleName(key),
  kind: 'builtin',
  ...place,
  level,
  canManage: level === 'MANAGE',
});

function customEntry(actor: Actor, [id, name, url, , ownerUserId]: StoredCustomModule, place: Place): ActiveModule {
  const canManage = ownerUserId !== null || isAdmin(actor);
  return { key: `custom:${id}`, name, kind: 'custom', url, ...place, level: canManage ? 'MANAGE' : 'USE', canManage };
}

async function readSidebar(ctx: UserContext) {
  const [sidebar] = await ctx.run(sidebarOfAccount, { userId: ctx.actor.id });
  if (sidebar && sidebar.categories.length > 0) return sidebar;
  // Custom modules belong to categories: without categories there are no custom modules yet.
  return { ...(await readArrangement(ctx)), customModules: [] };
}
