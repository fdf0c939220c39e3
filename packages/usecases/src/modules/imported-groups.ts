import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { groupMembers, groups } from '@portal/db/schema/modules';

/** Creates directory groups and returns how many. */
export async function createImportedGroups(
  tx: Tx,
  tenantId: string,
  made: { id: string; directoryId: string; name: string }[],
): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    insert into ${groups} (id, tenant_id, directory_id, internal_name)
    select a.id, ${tenantId}::uuid, a."directoryId", a.name
    from json_to_recordset(${JSON.stringify(made)}::json) as a(id uuid, "directoryId" text, name text)`);
  return rowCount ?? 0;
}

export async function renameImportedGroups(tx: Tx, renamed: { id: string; internalName: string }[]): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    update ${groups} g set internal_name = a."internalName", updated_at = now()
    from json_to_recordset(${JSON.stringify(renamed)}::json) as a(id uuid, "internalName" text) where g.id = a.id`);
  return rowCount ?? 0;
}

export async function removeImportedGroups(tx: Tx, ids: string[]): Promise<number> {
  const { rowCount } = await tx.execute(sql`delete from ${groups} where id = any(${sql.param(ids)}::uuid[])`);
  return rowCount ?? 0;
}

/**
 * Sets the memberships of these accounts in directory groups to those of `wanted`, a select of user_id and group_id. Writes only the rows
 * that differ and returns how many.
 */
export async function setImportedMemberships(
  tx: Tx,
  { tenantId, userIds, wanted }: { tenantId: string; userIds: string[]; wanted: SQL },
): Promise<number> {
  const removed = await tx.execute(sql`
    with wanted as (${wanted})
    delete from ${groupMembers} m using ${groups} g
    where g.tenant_id = m.tenant_id and g.id = m.group_id and g.directory_id is not null
      and m.user_id = any(${sql.param(userIds)}::uuid[])
      and not exists (select from wanted w where w.user_id = m.user_id and w.group_id = m.group_id)`);
  const added = await tx.execute(sql`
    insert into ${groupMembers} (tenant_id, group_id, user_id)
    select ${tenantId}::uuid, w.group_id, w.user_id from (${wanted}) w on conflict do nothing`);
  return (removed.rowCount ?? 0) + (added.rowCount ?? 0);
}

/** Removes an account that leaves the directory from the directory's groups. */
export async function leaveImportedGroups(tx: Tx, userId: string): Promise<void> {
  await tx.delete(groupMembers).where(
    sql`${groupMembers.userId} = ${userId} and ${groupMembers.groupId} in (
      select ${groups.id} from ${groups} where ${groups.tenantId} = ${groupMembers.tenantId} and ${groups.directoryId} is not null)`,
  );
}
