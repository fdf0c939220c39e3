import { type SQL, sql } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { groupMembers, groups } from '@portal/db/schema/modules';
import { users } from '@portal/db/schema/users';

/*
 * A sum over all that synchronizations keep of a directory: each row's hash, added up. Every statement of a synchronization says by
 * how much it changes the sum, so that the next one sees whether anybody else has touched a row since, and that without looking
 * at what each of them should be. The hash is the database server's own; another version of the server may have another, and then
 * everything counts as touched.
 */

/** What an account adds; the name is that of its row in the statement. */
export const accountMark = (row: string): SQL =>
  sql.raw(`hash_record_extended(row(${accountColumns.map((column) => `${row}.${column}`).join(', ')}), 0)`);

/** All that a synchronization compares or sets. */
const accountColumns = [
  'id',
  'directory_id',
  'ldap_dn',
  'username',
  'email',
  'display_name',
  'first_name',
  'last_name',
  'is_active',
  'deactivated_by_sync',
];

/** What a change of an account adds; a difference of two marks may be more than a mark can be. */
export const accountChange = (after: string, before: string): SQL =>
  sql`${accountMark(after)}::numeric - ${accountMark(before)}`;

export const groupMark = (row: string): SQL =>
  sql.raw(`hash_record_extended(row(${row}.id, ${row}.directory_id, ${row}.internal_name), 1)`);

export const membershipMark = (row: string): SQL =>
  sql.raw(`uuid_hash_extended(${row}.user_id, uuid_hash_extended(${row}.group_id, 2))`);

/** The sum of marks as text, whatever their number; JavaScript has no such number. */
export const sumOf = (marks: SQL): SQL => sql`coalesce(sum(${marks}), 0)::text`;

/** The sum as it is now. */
export const importedSum = (scope: TenantScope): Promise<bigint> =>
  scope.tx(async (tx) => {
    const { rows } = await tx.execute<{ sum: string }>(sql`
      select (select coalesce(sum(${accountMark('u')}), 0) from ${users} u
          where u.tenant_id = ${scope.tenantId} and u.directory_id is not null)
        + (select coalesce(sum(${groupMark('g')}), 0) from ${groups} g
          where g.tenant_id = ${scope.tenantId} and g.directory_id is not null)
        + (select coalesce(sum(${membershipMark('m')}), 0) from ${groupMembers} m
          join ${groups} g on g.tenant_id = m.tenant_id and g.id = m.group_id and g.directory_id is not null
          where m.tenant_id = ${scope.tenantId}) as sum`);
    return BigInt(rows[0]?.sum ?? 0);
  });

/** How many rows a statement wrote, and by how much that changes the sum. */
export interface Written {
  rows: number;
  sum: bigint;
}

/** Runs a statement that answers, as `mark`, what each row it wrote adds to the sum. */
export async function writtenBy(tx: Tx, statement: SQL): Promise<Written> {
  const { rows } = await tx.execute<{ rows: number; sum: string }>(
    sql`with written as (${statement}) select count(*)::int as rows, ${sumOf(sql`mark`)} as sum from written`,
  );
  return { rows: rows[0]?.rows ?? 0, sum: BigInt(rows[0]?.sum ?? 0) };
}

export const nothingWritten: Written = { rows: 0, sum: 0n };

export const together = (...parts: Written[]): Written => ({
  rows: parts.reduce((all, { rows }) => all + rows, 0),
  sum: parts.reduce((all, { sum }) => all + sum, 0n),
});
