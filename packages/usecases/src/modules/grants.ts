import { and, asc, eq, isNotNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { groups, moduleGrants } from '@portal/db/schema/modules';
import { notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { GrantMatrix, GrantTarget, ModuleGrant } from '@portal/domain/modules/grants';
import { type GrantLevel, isModuleKey, moduleName, modules } from '@portal/domain/modules/modules';
import type { UserContext } from '@portal/platform/context';
import { recordAudit } from './audit.ts';
import { listModules } from './modules.ts';

/** Every group, and every account with a grant of its own, with their levels. */
export async function grantMatrix(ctx: UserContext): Promise<GrantMatrix> {
  const [tenantModules, byGroup, byUser] = await Promise.all([
    listModules(ctx),
    ctx.read((db) =>
      db
        .select({ id: groups.id, name: groups.internalName, grants: levelsByModule })
        .from(groups)
        .leftJoin(moduleGrants, eq(moduleGrants.groupId, groups.id))
        .groupBy(groups.id)
        .orderBy(asc(sql`lower(${groups.internalName})`), asc(groups.id)),
    ),
    ctx.read((db) =>
      db
        .select({
          id: users.id,
          name: sql<string>`coalesce(${users.displayName}, ${users.username})`,
          grants: levelsByModule,
        })
        .from(moduleGrants)
        .innerJoin(users, eq(users.id, moduleGrants.userId))
        .where(isNotNull(moduleGrants.userId))
        .groupBy(users.id)
        .orderBy(asc(users.username)),
    ),
  ]);
  const enabled = new Map(tenantModules.map((module) => [module.key, module.enabled]));
  return {
    modules: modules.map(({ key, name, hasManage }) => ({ key, name, enabled: enabled.get(key) ?? true, hasManage })),
    subjects: [
      ...byGroup.map((subject) => ({ type: 'group' as const, ...subject })),
      ...byUser.map((subject) => ({ type: 'user' as const, ...subject })),
    ],
  };
}

/** Grants a module, or changes the level of an existing grant. Throws 404 for an unknown group, account or module. */
export const setGrant = (ctx: UserContext, { level, ...target }: ModuleGrant): Promise<ModuleGrant> =>
  ctx.tx(async (tx) => {
    const { moduleKey, subjectType, subjectId } = target;
    const module = nameOfModule(moduleKey);
    const subject = await subjectName(tx, target);
    const column = subjectType === 'group' ? moduleGrants.groupId : moduleGrants.userId;
    const [before] = await tx
      .select({ level: moduleGrants.level })
      .from(moduleGrants)
      .where(and(eq(column, subjectId), eq(moduleGrants.moduleKey, moduleKey)))
      .for('update');
    const { rowCount } = await tx
      .insert(moduleGrants)
      .values({ id: newId(), tenantId: ctx.tenantId, moduleKey, level, ...subjectColumns(target) })
      .onConflictDoUpdate({
        target: [moduleGrants.tenantId, column, moduleGrants.moduleKey],
        set: { level },
        setWhere: sql`${moduleGrants.level} <> ${level}`,
      });
    if (rowCount !== 0) {
      await recordAudit(tx, ctx, {
        action: 'module_grants.set',
        tenantId: ctx.tenantId,
        target: { type: subjectType, id: subjectId },
        summary: `Granted the module ${module} to the ${subjectType} ${subject} at level ${level}${before ? `, previously ${before.level}` : ''}.`,
      });
    }
    return { ...target, level };
  });

/** Revokes a grant. Throws 404 if there is none. */
export const deleteGrant = (ctx: UserContext, target: GrantTarget): Promise<void> =>
  ctx.tx(async (tx) => {
    const { moduleKey, subjectType, subjectId } = target;
    const module = nameOfModule(moduleKey);
    const subject = await subjectName(tx, target);
    const { rowCount } = await tx
      .delete(moduleGrants)
      .where(
        and(
          eq(subjectType === 'group' ? moduleGrants.groupId : moduleGrants.userId, subjectId),
          eq(moduleGrants.moduleKey, moduleKey),
        ),
      );
    if (rowCount === 0) throw notFound();
    await recordAudit(tx, ctx, {
      action: 'module_grants.delete',
      tenantId: ctx.tenantId,
      target: { type: subjectType, id: subjectId },
      summary: `Revoked the module ${module} from the ${subjectType} ${subject}.`,
    });
  });

const levelsByModule = sql<Record<string, GrantLevel>>`coalesce(
  json_object_agg(${moduleGrants.moduleKey}, ${moduleGrants.level}) filter (where ${moduleGrants.id} is not null), '{}')`;

function nameOfModule(moduleKey: string): string {
  if (!isModuleKey(moduleKey)) throw notFound();
  return moduleName(moduleKey);
}

const subjectColumns = ({ subjectType, subjectId }: GrantTarget) =>
  subjectType === 'group' ? { groupId: subjectId } : { userId: subjectId };

/** The name of the group or account, locked against deletion until the transaction ends. Throws 404. */
async function subjectName(tx: Tx, { subjectType, subjectId }: GrantTarget): Promise<string> {
  const [subject] =
    subjectType === 'group'
      ? await tx.select({ name: groups.internalName }).from(groups).where(eq(groups.id, subjectId)).for('key share')
      : await tx.select({ name: users.username }).from(users).where(eq(users.id, subjectId)).for('key share');
  if (!subject) throw notFound();
  return subject.name;
}
