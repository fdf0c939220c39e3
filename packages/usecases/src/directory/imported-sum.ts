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

/** All texts that a synchronization compares or sets. */
const accountTexts = ['directory_id', 'ldap_dn', 'username', 'email', 'display_name', 'first_name', 'last_name'];

/**
 * What an account adds; the name is that of its row in the statement. Each hash is the seed of the next, which takes half the time
 * of hashing a record of them all. A text of that one control character would count as none.
 */
export const accountMark = (row: string): SQL =>
  sql.raw(
    accountTexts.reduce(
      (seed, column) => `hashtextextended(coalesce(${row}.${column}, e'\\x01'), ${seed})`,
      `uuid_hash_extended(${row}.id, case when ${row}.is_active then 1 else 0 end + case when ${row}.deactivated_by_sync then 2 else 0 end)`,
    ),
  );

/** What a change of an account adds; a difference of two marks may be more than a mark can be. */
export const accountChange = (after: string, before: string): SQL =>
  sql`${accountMark(after)}::numeric - ${accountMark(before)}`;

export const groupMark = (row: string): SQL =>
  sql.raw(`hash_record_extended(row(${row}.id, ${row}.directory_id, ${row}.internal_name), 1)`);

export const membershipMark = (row: string): SQL =>
  sql.raw(`uuid_hash_extended(${row}.user_id, uuid_hash_extended(${row}.group_id, 2))`);

/** The sum of marks as text, whatever their number; JavaScript has no such number. */
export const sumOf = (marks: SQL): SQL => sql`coalesce(sum(${marks}), 0)::text`;

/** The sum as it is now, and how many imported accounts are active. */
export const importedSum = (scope: TenantScope): Promise<{ sum: bigint; active: number }> =>
  scope.tx(async (tx) => {
    const { rows } = await tx.execute<{ sum: string; active: number }>(sql`
      select (a.sum + (select coalesce(sum(${groupMark('g')}), 0) from ${groups} g
          where g.tenant_id = ${scope.tenantId} and g.directory_id is not null)
        + (select coalesce(sum(${membershipMark('m')}), 0) from ${groupMembers} m
          where m.tenant_id = ${scope.tenantId} and m.group_id not in (
            select g.id from ${groups} g where g.tenant_id = ${scope.tenantId} and g.directory_id is null)))::text as sum, a.active
      from (select coalesce(sum(${accountMark('u')}), 0) as sum, count(*) filter (where u.is_active)::int as active from ${users} u
        where u.tenant_id = ${scope.tenantId} and u.directory_id is not null) a`);
    return { sum: BigInt(rows[0]?.sum ?? 0), active: rows[0]?.active ?? 0 };
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
