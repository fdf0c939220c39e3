import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { groupMembers, groups } from '@portal/db/schema/modules';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { type Group, groupLimit, type GroupMember } from '@portal/domain/modules/groups';
import type { UserContext } from '@portal/platform/context';
import { lockTenant } from '@portal/platform/lock-tenant';
import { recordAudit } from './audit.ts';

/** Every group by name, with the number of its members; with `memberId`, only those of that account. */
export const listGroups = (ctx: UserContext, { memberId }: { memberId?: string | undefined } = {}): Promise<Group[]> =>
  ctx.read((db) =>
    groupsWithCounts(db)
      .where(memberId === undefined ? undefined : inArray(groups.id, groupsOf(db, memberId)))
      .orderBy(asc(sql`lower(${groups.internalName})`), asc(groups.id)),
  );

const groupsOf = (db: Pick<Tx, 'select'>, memberId: string) =>
  db.select({ id: groupMembers.groupId }).from(groupMembers).where(eq(groupMembers.userId, memberId));

/** Throws 409 `GROUP_NAME_TAKEN`, 409 `LIMIT_REACHED`. */
export const createGroup = (ctx: UserContext, { internalName }: { internalName: string }): Promise<Group> =>
  orNameTaken(() =>
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
  orNameTaken(() =>
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

/** A group's members by username. Throws 404. */
export const listGroupMembers = (ctx: UserContext, groupId: string): Promise<GroupMember[]> =>
  ctx.read(async (db) => {
    const [group] = await db.select({ id: groups.id }).from(groups).where(eq(groups.id, groupId));
    if (!group) throw notFound();
    return membersOf(db, groupId);
  });

/** Replaces a group's members. Throws 404 for an unknown group or account, 409 `DIRECTORY_GROUP`. */
export const setGroupMembers = (ctx: UserContext, groupId: string, userIds: string[]): Promise<GroupMember[]> =>
  ctx.tx(async (tx) => {
    const { internalName } = await ownGroupFor(tx, groupId);
    const wanted = [...new Set(userIds)];
    // One array instead of a parameter for each id. Lock in a fixed order, so that two concurrent lists do not deadlock.
    const ids = sql`${sql.param(wanted)}::uuid[]`;
    const found = await tx
      .select({ id: users.id })
      .from(users)
      .where(sql`${users.id} = any(${ids})`)
      .orderBy(asc(users.id))
      .for('key share');
    if (found.length !== wanted.length) throw notFound();
    const left = await tx
      .delete(groupMembers)
      .where(and(eq(groupMembers.groupId, groupId), sql`${groupMembers.userId} <> all(${ids})`));
    const joined = await tx.execute(sql`
      insert into ${groupMembers} (tenant_id, group_id, user_id)
      select ${ctx.tenantId}::uuid, ${groupId}::uuid, unnest(${ids})
      on conflict do nothing`);
    const [leaving, joining] = [left.rowCount ?? 0, joined.rowCount ?? 0];
    if (leaving + joining > 0) {
      await recordAudit(tx, ctx, {
        action: 'groups.members',
        tenantId: ctx.tenantId,
        target: { type: 'group', id: groupId },
        summary: `Changed the members of the group ${internalName}: ${joining} joined, ${leaving} left.`,
      });
    }
    return membersOf(tx, groupId);
  });

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

/** One of the tenant's own groups, locked until the transaction ends. Throws 404, 409 `DIRECTORY_GROUP`. */
async function ownGroupFor(tx: Tx, groupId: string): Promise<{ internalName: string }> {
  const [group] = await tx
    .select({ internalName: groups.internalName, directoryId: groups.directoryId })
    .from(groups)
    .where(eq(groups.id, groupId))
    .for('update');
  if (!group) throw notFound();
  if (group.directoryId !== null) throw conflict('DIRECTORY_GROUP');
  return group;
}

const membersOf = (db: Pick<Tx, 'select'>, groupId: string): Promise<GroupMember[]> =>
  db
    .select({ id: users.id, username: users.username, displayName: users.displayName })
    .from(groupMembers)
    .innerJoin(users, and(eq(users.tenantId, groupMembers.tenantId), eq(users.id, groupMembers.userId)))
    .where(eq(groupMembers.groupId, groupId))
    .orderBy(asc(users.username));

const orNameTaken = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(conflictOn({ groups_name_unique: 'GROUP_NAME_TAKEN' }));
