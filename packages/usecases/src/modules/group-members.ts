import { and, asc, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { groupMembers, groups } from '@portal/db/schema/modules';
import { notFound } from '@portal/domain/errors';
import type { GroupMember } from '@portal/domain/modules/groups';
import type { UserContext } from '@portal/platform/context';
import { recordAudit } from './audit.ts';
import { ownGroupFor } from './manage-groups.ts';

/** A group's members by username. Throws 404. */
export const listGroupMembers = (ctx: UserContext, groupId: string): Promise<GroupMember[]> =>
  ctx.read(async (db) => {
    const [group] = await db.select({ id: groups.id }).from(groups).where(eq(groups.id, groupId));
    if (!group) throw notFound();
    return membersOf(db, groupId);
  });

const membersOf = (db: Pick<Tx, 'select'>, groupId: string): Promise<GroupMember[]> =>
  db
    .select({ id: users.id, username: users.username, displayName: users.displayName })
    .from(groupMembers)
    .innerJoin(users, and(eq(users.tenantId, groupMembers.tenantId), eq(users.id, groupMembers.userId)))
    .where(eq(groupMembers.groupId, groupId))
    .orderBy(asc(users.username));

/** Replaces a group's members. Throws 404 for a group or an account that is not there, 409 `DIRECTORY_GROUP`. */
export const setGroupMembers = (ctx: UserContext, groupId: string, userIds: string[]): Promise<GroupMember[]> =>
  ctx.tx(async (tx) => {
    const { internalName } = await ownGroupFor(tx, groupId);
    const wanted = [...new Set(userIds)];
    // One array instead of a parameter for each id. In one order, so that two lists never wait for each other's accounts.
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
