import { eq, type SQL, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { TenantScope } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { disabledModules, groupMembers, moduleGrants } from '@portal/db/schema/modules';
import { tenants } from '@portal/db/schema/tenants';
import type { Actor } from '@portal/domain/access';
import { unauthenticated } from '@portal/domain/errors';
import { effectiveLevel, moduleRefusal, type ModuleStanding } from '@portal/domain/modules/grants';
import { type GrantLevel, type ModuleKey, modules, type NeededLevel } from '@portal/domain/modules/modules';

/** Whose access is asked for: the caller of a request, or the account a job works for. */
type Asking = Pick<TenantScope, 'run'> & { actor: Pick<Actor, 'id' | 'role'> };

const switchedOff = sql`array(select ${disabledModules.moduleKey} from ${disabledModules})`;

const groupsOfAccount = sql`array(
  select ${groupMembers.groupId} from ${groupMembers} where ${groupMembers.userId} = ${sql.placeholder('userId')}
)`;
// Two reads of an index each, whatever the planner believes about sizes: a join or an "or" may end in reading all grants of the tenant.
const granted = sql`(
  select coalesce(json_object_agg(module_key, level), '{}') from (
    select module_key, max(level) as level from (
      select ${moduleGrants.moduleKey}, ${moduleGrants.level} from ${moduleGrants}
      where ${moduleGrants.userId} = ${sql.placeholder('userId')}
      union all
      select ${moduleGrants.moduleKey}, ${moduleGrants.level} from ${moduleGrants}
      where ${moduleGrants.groupId} = any(${groupsOfAccount})
    ) each_grant group by module_key
  ) greatest_grant
)`;

// One row, that of the tenant at work.
const standingOfAccount = prepared<{ userId: string }>()('module_standing', (db) =>
  db
    .select({
      disabled: sql<string[]>`${switchedOff}`.as('disabled'),
      granted: sql<Record<string, GrantLevel>>`${granted}`.as('granted'),
    })
    .from(tenants),
);

/**
 * Whether a module is on for the tenant whose id stands in a column. Work that begins by itself asks this: a module that is switched off
 * calls nobody, as its settings cannot be reached to stop it.
 */
export const isModuleOn = (tenantId: AnyPgColumn, module: ModuleKey): SQL =>
  sql`not exists (
    select from ${disabledModules}
    where ${disabledModules.tenantId} = ${tenantId} and ${disabledModules.moduleKey} = ${module}
  )`;

/** The same for the tenant at work, for a job that was queued while the module was on. */
export const hasModuleOn = async (ctx: Pick<TenantScope, 'read'>, module: ModuleKey): Promise<boolean> =>
  (await ctx.read((db) => db.$count(disabledModules, eq(disabledModules.moduleKey, module)))) === 0;

async function readStanding({ run, actor }: Asking): Promise<ModuleStanding> {
  const [standing] = await run(standingOfAccount, { userId: actor.id });
  // The tenant was deleted while its last request was under way.
  if (!standing) throw unauthenticated();
  return standing;
}

/** Throws 403 `MODULE_DISABLED`, `MODULE_ACCESS_DENIED`, `MANAGE_REQUIRED` or `FORBIDDEN` unless the account may do this at this moment. */
export async function checkModuleAccess(
  asking: Asking,
  needed: { module: ModuleKey; level: NeededLevel },
): Promise<void> {
  const refusal = moduleRefusal(asking.actor, await readStanding(asking), needed);
  if (refusal) throw refusal;
}

/** The modules the account may open at this moment, each with its level, in the order of the registry. */
export async function moduleLevels(asking: Asking): Promise<Map<ModuleKey, GrantLevel>> {
  const standing = await readStanding(asking);
  return new Map(
    modules.flatMap(({ key }) => {
      const level = effectiveLevel(asking.actor, standing, key);
      return level === null ? [] : [[key, level]];
    }),
  );
}
