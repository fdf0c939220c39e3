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

/** The account whose access is checked: the caller of a request, or the account a job works for. */
type AccessSubject = Pick<TenantScope, 'run'> & { actor: Pick<Actor, 'id' | 'role'> };

const switchedOff = sql`array(select ${disabledModules.moduleKey} from ${disabledModules})`;

const groupsOfAccount = sql`array(
  select ${groupMembers.groupId} from ${groupMembers} where ${groupMembers.userId} = ${sql.placeholder('userId')}
)`;
// Forces two index reads independent of the planner's statistics: a join or an "or" may read all grants of the tenant.
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

// Row-level security leaves one row, that of the current tenant.
const standingOfAccount = prepared<{ userId: string }>()('module_standing', (db) =>
  db
    .select({
      disabled: sql<string[]>`${switchedOff}`.as('disabled'),
      granted: sql<Record<string, GrantLevel>>`${granted}`.as('granted'),
    })
    .from(tenants),
);

/**
 * Whether a module is on for the tenant in a column. Scheduled work checks this: a module that is switched off must not call other
 * servers, because its settings cannot be reached to stop it.
 */
export const isModuleOn = (tenantId: AnyPgColumn, module: ModuleKey): SQL =>
  sql`not exists (
    select from ${disabledModules}
    where ${disabledModules.tenantId} = ${tenantId} and ${disabledModules.moduleKey} = ${module}
  )`;

/** Whether a module is on for the current tenant; for jobs that were queued while the module was on. */
export const hasModuleOn = async (ctx: Pick<TenantScope, 'read'>, module: ModuleKey): Promise<boolean> =>
  (await ctx.read((db) => db.$count(disabledModules, eq(disabledModules.moduleKey, module)))) === 0;

async function readStanding({ run, actor }: AccessSubject): Promise<ModuleStanding> {
  const [standing] = await run(standingOfAccount, { userId: actor.id });
  // The tenant was deleted during this request.
  if (!standing) throw unauthenticated();
  return standing;
}

/** Throws 403 `MODULE_DISABLED`, `MODULE_ACCESS_DENIED`, `MANAGE_REQUIRED` or `FORBIDDEN` unless the account has the needed level now. */
export async function checkModuleAccess(
  subject: AccessSubject,
  needed: { module: ModuleKey; level: NeededLevel },
): Promise<void> {
  const refusal = moduleRefusal(subject.actor, await readStanding(subject), needed);
  if (refusal) throw refusal;
}

/** The modules the account may open now, each with its level, in the order of the registry. */
export async function moduleLevels(subject: AccessSubject): Promise<Map<ModuleKey, GrantLevel>> {
  const standing = await readStanding(subject);
  return new Map(
    modules.flatMap(({ key }) => {
      const level = effectiveLevel(subject.actor, standing, key);
      return level === null ? [] : [[key, level]];
    }),
  );
}
