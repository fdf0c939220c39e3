import { asc, count, eq, isNull, sql } from 'drizzle-orm';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { groupMembers, groups } from '@portal/db/schema/modules';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { type Group, groupLimit } from '@portal/domain/modules/groups';
import type { UserContext } from '@portal/platform/context';
import { lockTenant } from '@portal/platform/lock-tenant';
import { recordAudit } from './audit.ts';

const groupsWithCounts = (db: Pick<Tx, 'select'>) =>
  db
    .select({
      id: groups.id,
      internalName: groups.internalName,
      source: sql<Group['source']>`case when ${groups.directoryId} is null then 'local' else 'directory' end`,
      memberCount: count(groupMembers.userId),
    })
    .from(groups)
    .leftJoin(groupMembers, eq(groupMembers.groupId, groups.id))
    .groupBy(groups.id);

async function groupFor(tx: Tx, groupId: string): Promise<Group> {
  const [group] = await groupsWithCounts(tx).where(eq(groups.id, groupId));
  if (!group) throw notFound();
  return group;
}

/** Every group by name, with the number of its members. */
export const listGroups = (ctx: UserContext): Promise<Group[]> =>
  ctx.read((db) => groupsWithCounts(db).orderBy(asc(sql`lower(${groups.internalName})`), asc(groups.id)));

/** Throws 409 `GROUP_NAME_TAKEN`, 409 `LIMIT_REACHED`. */
export const createGroup = (ctx: UserContext, { internalName }: { internalName: string }): Promise<Group> =>
  naming(() =>
    ctx.tx(async (tx) => {
      await lockTenant(tx, ctx.tenantId);
      const own = await tx.$count(groups, isNull(groups.directoryId));
      if (own >= groupLimit)
        throw conflict('LIMIT_REACHED', `There can be at most ${groupLimit} groups. Please delete one first.`);
      const id = newId();
      await tx.insert(groups).values({ id, tenantId: ctx.tenantId, internalName });
      await recordAudit(tx, ctx, {
        action: 'groups.create',
        tenantId: ctx.tenantId,
        target: { type: 'group', id },
        summary: `Created the group ${internalName}.`,
      });
      return groupFor(tx, id);
    }),
  );

/** Throws 404, 409 `DIRECTORY_GROUP`, 409 `GROUP_NAME_TAKEN`. */
export const renameGroup = (
  ctx: UserContext,
  groupId: string,
  { internalName }: { internalName: string },
): Promise<Group> =>
  naming(() =>
    ctx.tx(async (tx) => {
      const before = await ownGroupFor(tx, groupId);
      if (before.internalName !== internalName) {
        await tx
          .update(groups)
          .set({ internalName, updatedAt: sql`now()` })
          .where(eq(groups.id, groupId));
        await recordAudit(tx, ctx, {
          action: 'groups.update',
          tenantId: ctx.tenantId,
          target: { type: 'group', id: groupId },
          summary: `Renamed the group ${before.internalName} to ${internalName}.`,
        });
      }
      return groupFor(tx, groupId);
    }),
  );

/** Deletes a group with its memberships and grants. Throws 404, 409 `DIRECTORY_GROUP`. */
export const deleteGroup = (ctx: UserContext, groupId: string): Promise<void> =>
  ctx.tx(async (tx) => {
    const { internalName } = await ownGroupFor(tx, groupId);
    await tx.delete(groups).where(eq(groups.id, groupId));
    await recordAudit(tx, ctx, {
      action: 'groups.delete',
      tenantId: ctx.tenantId,
      target: { type: 'group', id: groupId },
      summary: `Deleted the group ${internalName}.`,
    });
  });

/** A group the tenant keeps itself, locked until the transaction ends. Throws 404, 409 `DIRECTORY_GROUP`. */
export async function ownGroupFor(tx: Tx, groupId: string): Promise<{ internalName: string }> {
  const [group] = await tx
    .select({ internalName: groups.internalName, directoryId: groups.directoryId })
    .from(groups)
    .where(eq(groups.id, groupId))
    .for('update');
  if (!group) throw notFound();
  if (group.directoryId !== null)
    throw conflict('DIRECTORY_GROUP', 'This group comes from the directory. Please change it there.');
  return group;
}

const naming = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(conflictOn({ groups_name_unique: ['GROUP_NAME_TAKEN', 'Another group already has this name.'] }));
