import { hash, randomInt } from 'node:crypto';
import { type SQL, sql } from 'drizzle-orm';
import type { TenantScope } from '@portal/db/open';
import { groupMembers } from '@portal/db/schema/modules';
import { users } from '@portal/db/schema/users';
import type { DirectoryPerson } from '@portal/domain/directory-person';
import type { KnownGroup } from '@portal/domain/directory-plan';
import { expectMany, nothing, separator } from './staging.ts';

/**
 * What the imported accounts hold, each as a short mark of its fields and groups, so that most people of a directory are
 * found to be as they were while they are read, without being kept anywhere.
 */
export interface KnownAccounts {
  /** Marks by directory id; an account that a sync switched off has one that nobody's equals. */
  marks: Map<string, string>;
  /** The mark an account has when it is as this person is in the directory; `groups` are directory ids. */
  markOf(person: DirectoryPerson, groups: string[]): string;
}

const fingerprintLength = 22;

/** Two numbers of 31 bits; those of several groups are joined by XOR, whatever their order. */
type GroupMark = readonly [number, number];

/** Reads the marks of all imported accounts of the tenant, whose groups of the directory are given. */
export async function readKnownAccounts(scope: TenantScope, groups: KnownGroup[]): Promise<KnownAccounts> {
  // Chance numbers of this very run: nobody can choose groups whose numbers cancel each other out.
  const markOfGroup = new Map<string, GroupMark>();
  const groupMark = (directoryId: string): GroupMark => {
    const known = markOfGroup.get(directoryId);
    if (known) return known;
    const mark = [randomInt(2 ** 31), randomInt(2 ** 31)] as const;
    markOfGroup.set(directoryId, mark);
    return mark;
  };
  return {
    marks: await readMarks(
      scope,
      groups.map(({ id, directoryId }) => ({ id, mark: groupMark(directoryId) })),
    ),
    markOf(person, groupIds) {
      let [a, b] = [0, 0];
      for (const id of groupIds) {
        const mark = groupMark(id);
        a ^= mark[0];
        b ^= mark[1];
      }
      const { username, email, dn, displayName, firstName, lastName } = person;
      const fields = [username, email, dn, displayName, firstName, lastName].map((value) => value ?? nothing);
      return `${hash('sha256', fields.join(separator), 'base64').slice(0, fingerprintLength)} ${a} ${b}`;
    },
  };
}

async function readMarks(scope: TenantScope, groups: { id: string; mark: GroupMark }[]): Promise<Map<string, string>> {
  const list = (values: (string | number)[]): SQL => sql`string_to_array(${values.join(',')}, ',')`;
  const { username, email, ldapDn, displayName, firstName, lastName } = users;
  const fields = sql.join(
    [username, email, ldapDn, displayName, firstName, lastName].map((column) => sql`coalesce(${column}, ${nothing})`),
    sql`, `,
  );
  const accounts = await scope.tx(async (tx) => {
    await expectMany(tx);
    // One text: a driver takes a hundred thousand rows apart far more slowly.
    const { rows } = await tx.execute<{ accounts: string | null }>(sql`
      with group_marks as (select * from unnest(${list(groups.map(({ id }) => id))}::uuid[],
          ${list(groups.map(({ mark }) => mark[0]))}::int[], ${list(groups.map(({ mark }) => mark[1]))}::int[]) as t(group_id, a, b)),
        memberships as (
          select m.user_id, bit_xor(g.a) as a, bit_xor(g.b) as b from ${groupMembers} m
          join group_marks g on g.group_id = m.group_id group by m.user_id)
      select string_agg(${users.directoryId} || ' ' || case when ${users.deactivatedBySync} then '' else
          left(encode(sha256(convert_to(concat_ws(${separator}, ${fields}), 'UTF8')), 'base64'), ${sql.raw(String(fingerprintLength))}) end
          || ' ' || coalesce(memberships.a, 0) || ' ' || coalesce(memberships.b, 0), chr(10)) as accounts
      from ${users} left join memberships on memberships.user_id = ${users.id}
      where ${users.tenantId} = ${scope.tenantId} and ${users.directoryId} is not null`);
    return rows[0]?.accounts ?? null;
  });
  const lines = accounts?.split('\n') ?? [];
  return new Map(
    lines.map((line) => {
      const end = line.indexOf(' ');
      return [line.slice(0, end), line.slice(end + 1)];
    }),
  );
}
