import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { groupMembers, groups } from '@portal/db/schema/modules';
import { users } from '@portal/db/schema/users';
import type { DirectoryGroup } from '@portal/domain/directory-groups';
import { type GroupsPlan, type KnownGroup, planGroups } from '@portal/domain/directory-plan';
import { newId } from '@portal/domain/ids';
import type { PartOfPeople } from './find-changes.ts';
import { groupMark, membershipMark, together, type Written, writtenBy } from './imported-sum.ts';
import { knownGroups } from './known-groups.ts';
import type { News } from './people-reader.ts';
import { batchesOf, inLanes, portions } from './portions.ts';
import { checkStage, countOf, expectPeople, isAmong, peopleOf, type Stage } from './staging.ts';
import type { Batch } from './sync-report.ts';

/** Groups or people per transaction. */
const batch = { groups: 1_000, people: 5_000 } as const;

type GroupsRead = Pick<News, 'groups' | 'usedGroups' | 'changed'> & { staged: number };
type InBatch = (work: (tx: Tx) => Promise<Batch>) => Promise<void>;

/** How many of the kept groups the directory has no more. */
export async function goneGroups(
  stage: Stage,
  read: DirectoryGroup[],
): Promise<{ goneGroups: number; knownGroups: number }> {
  const known = await knownGroups(stage);
  const inDirectory = new Set(read.map(({ directoryId }) => directoryId));
  return {
    goneGroups: known.filter(({ directoryId }) => !inDirectory.has(directoryId)).length,
    knownGroups: known.length,
  };
}

/** Makes groups and memberships those of the directory, after the accounts are. Rows that are right already are not written. */
export async function applyGroups(stage: Stage, read: GroupsRead, inBatch: InBatch): Promise<void> {
  const { plan, positions } = await planDirectoryGroups(stage, read);
  const idOf = new Map(plan.known.map(({ directoryId, id }) => [directoryId, id]));
  for (const part of portions(plan.create, batch.groups)) {
    await inBatch(async (tx) => {
      const made = part.map((group) => ({ id: newId(), ...group }));
      const inserted = await writtenBy(
        tx,
        sql`insert into ${groups} as g (id, tenant_id, directory_id, internal_name)
          select a.id, ${stage.scope.tenantId}::uuid, a."directoryId", a.name
          from json_to_recordset(${JSON.stringify(made)}::json) as a(id uuid, "directoryId" text, name text)
          returning ${groupMark('g')} as mark`,
      );
      for (const { directoryId, id } of made) idOf.set(directoryId, id);
      return { counts: { groups: inserted.rows }, sum: inserted.sum };
    });
  }
  for (const part of portions(plan.rename, batch.groups)) {
    await inBatch(async (tx) => {
      const renamed = await writtenBy(
        tx,
        sql`update ${groups} g set internal_name = a."internalName", updated_at = now()
          from json_to_recordset(${JSON.stringify(part)}::json) as a(id uuid, "internalName" text) join ${groups} before using (id)
          where g.id = a.id returning ${groupMark('g')}::numeric - ${groupMark('before')} as mark`,
      );
      return { counts: { groups: renamed.rows }, sum: renamed.sum };
    });
  }
  for (const part of portions(plan.remove, batch.groups)) {
    await inBatch(async (tx) => {
      const ids = sql.param(part.map(({ id }) => id));
      // By hand first, because what goes along with a group by itself answers nothing.
      const left = await writtenBy(
        tx,
        sql`delete from ${groupMembers} m where m.tenant_id = ${stage.scope.tenantId} and m.group_id = any(${ids}::uuid[])
          returning -${membershipMark('m')}::numeric as mark`,
      );
      const removed = await writtenBy(
        tx,
        sql`delete from ${groups} g where g.id = any(${ids}::uuid[]) returning -${groupMark('g')}::numeric as mark`,
      );
      return { counts: { groups: removed.rows }, sum: together(left, removed).sum };
    });
  }
  const groupIds = read.groups.map(({ directoryId }, position) =>
    positions.has(position) ? (idOf.get(directoryId) ?? noGroup) : noGroup,
  );
  const people = await peopleWithOtherGroups(stage, groupIds, read);
  // Each person's memberships are apart from everybody else's.
  await inLanes(batchesOf(people, batch.people), 2, (members) =>
    inBatch(async (tx) => {
      const { rows, sum } = await writeMemberships(tx, stage, { groupIds, changed: read.changed }, members);
      return { counts: { memberships: rows }, sum };
    }),
  );
}

/** The positions of a person `s` in the list of groups. */
const positionsOf = sql`unnest(string_to_array(s.groups, ',')::int[])`;

/** How many groups and memberships a run would write, when `skipped` (directory ids) get no account. */
export async function countGroupChanges(
  stage: Stage,
  { groups: read, usedGroups, changed }: GroupsRead,
  skipped: string[],
): Promise<{ groups: number; memberships: number }> {
  const known = await knownGroups(stage);
  return stage.scope.tx(async (tx) => {
    await expectPeople(tx, countOf(changed));
    const { rows } = await tx.execute<{ positions: number[] | null; memberships: number }>(sql`
      with wanted as (
        select s.directory_id as person, p.position, g.directory_id as group_id
        from ${peopleOf(stage, 's', ['directory_id', 'standing', 'groups'])} cross join lateral ${positionsOf} p (position)
          join unnest(${sql.param(read.map(({ directoryId }) => directoryId))}::text[]) with ordinality g (directory_id, ordinal)
            on g.ordinal = p.position + 1
        where s.standing = 'live' and s.directory_id <> all(${sql.param(skipped)}::text[])),
      actual as (
        select u.directory_id as person, g.directory_id as group_id from ${groupMembers} m
        join ${groups} g on g.tenant_id = m.tenant_id and g.id = m.group_id and g.directory_id is not null
        join ${users} u on u.tenant_id = m.tenant_id and u.id = m.user_id and ${isAmong(changed)})
      select (select array_agg(distinct position) from wanted) as positions,
        (select count(*)::int from wanted full join actual using (person, group_id)
          where (wanted.position is null or actual.group_id is null) and person not in (
            select u.directory_id from ${users} u
            where u.tenant_id = ${stage.scope.tenantId} and u.role = 'SUPER_ADMIN' and u.directory_id is not null)) as memberships`);
    const positions = usedGroups.union(new Set(rows[0]?.positions ?? []));
    const plan = planGroups(
      known,
      read.filter((_, position) => positions.has(position)),
    );
    return {
      groups: plan.create.length + plan.rename.length + plan.remove.length,
      memberships: rows[0]?.memberships ?? 0,
    };
  });
}

async function planDirectoryGroups(
  stage: Stage,
  { groups: read, usedGroups, staged, changed }: GroupsRead,
): Promise<{ plan: GroupsPlan & { known: KnownGroup[] }; positions: Set<number> }> {
  const known = await knownGroups(stage);
  const positions = await stage.scope.tx(async (tx) => {
    if (staged === 0) return usedGroups;
    await expectPeople(tx, countOf(changed));
    await checkStage(tx, stage);
    const { rows } = await tx.execute<{ position: number }>(sql`
      select distinct p.position from ${peopleOf(stage, 's', ['directory_id', 'standing', 'groups'])}
        join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
        cross join lateral ${positionsOf} p (position)
      where s.standing = 'live'`);
    return usedGroups.union(new Set(rows.map(({ position }) => position)));
  });
  const wanted = read.filter((_, position) => positions.has(position));
  return { plan: { ...planGroups(known, wanted), known }, positions };
}

/** In a list of ids: no group. A null would make the server walk the list for each look into it. */
const noGroup = '00000000-0000-0000-0000-000000000000';

/**
 * Which group each of these accounts is to be in: user_id, group_id. The people are named `s`, their accounts `u`. A SUPER_ADMIN's
 * memberships are no business of a synchronization, neither these nor those it has.
 */
const wantedMemberships = (stage: Stage, groupIds: string[], { parts, ids }: Members = everybody): SQL => sql`
  select user_id, group_id from (
    select u.id as user_id, (${sql.param(groupIds)}::uuid[])[p.position + 1] as group_id
    from ${peopleOf(stage, 's', ['directory_id', 'standing', 'groups'], parts)}
      join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      cross join lateral ${positionsOf} p (position)
    where s.standing = 'live' and u.role <> 'SUPER_ADMIN'
      and ${ids === null ? sql`true` : sql`u.id = any(${sql.param(ids)}::uuid[])`} offset 0) m
  where group_id <> ${noGroup}`;

/** Accounts by their ids, and the parts of the stage they are in; null for all. */
interface Members {
  parts: number[] | null;
  ids: string[] | null;
}
const everybody: Members = { parts: null, ids: null };

/** Accounts whose groups of the directory are others than those they are in here; part 0 is those who are not on the stage. */
async function peopleWithOtherGroups(
  stage: Stage,
  groupIds: string[],
  { changed, staged }: GroupsRead,
): Promise<PartOfPeople[]> {
  if (changed?.length === 0) return [];
  return stage.scope.tx(async (tx) => {
    await expectPeople(tx, countOf(changed));
    if (staged > 0) await checkStage(tx, stage);
    const { rows } = await tx.execute<{ part: number; ids: string }>(sql`
      with wanted as (${wantedMemberships(stage, groupIds)}), actual as (
        select m.user_id, m.group_id from ${groupMembers} m
        join ${groups} g on g.tenant_id = m.tenant_id and g.id = m.group_id and g.directory_id is not null
        join ${users} u on u.tenant_id = m.tenant_id and u.id = m.user_id and u.role <> 'SUPER_ADMIN' and ${isAmong(changed)}),
      others as (
        select distinct user_id from wanted full join actual using (user_id, group_id)
        where wanted.group_id is null or actual.group_id is null)
      select coalesce(s.part, 0) as part, string_agg(u.id::text, chr(10)) as ids from others join ${users} u on u.id = others.user_id
        left join ${peopleOf(stage, 's', ['directory_id'])} on s.directory_id = u.directory_id
      group by 1 order by 1`);
    return rows.map(({ part, ids }) => ({ part, ids: ids.split('\n') }));
  });
}

async function writeMemberships(
  tx: Tx,
  stage: Stage,
  { groupIds, changed }: { groupIds: string[]; changed: GroupsRead['changed'] },
  members: Members,
): Promise<Written> {
  await expectPeople(tx, countOf(changed));
  const wanted = wantedMemberships(stage, groupIds, members);
  const isTheirs = sql`m.user_id = any(${sql.param(members.ids)}::uuid[])`;
  const removed = await writtenBy(
    tx,
    sql`with wanted as (${wanted})
    delete from ${groupMembers} m using ${groups} g, ${users} u
    where g.tenant_id = m.tenant_id and g.id = m.group_id and g.directory_id is not null and ${isTheirs}
      and u.tenant_id = m.tenant_id and u.id = m.user_id and u.role <> 'SUPER_ADMIN'
      and not exists (select from wanted w where w.user_id = m.user_id and w.group_id = m.group_id)
    returning -${membershipMark('m')}::numeric as mark`,
  );
  const added = await writtenBy(
    tx,
    sql`with wanted as (${wanted})
    insert into ${groupMembers} as n (tenant_id, group_id, user_id)
    select ${stage.scope.tenantId}::uuid, w.group_id, w.user_id from wanted w
    where not exists (select from ${groupMembers} m where ${isTheirs} and m.user_id = w.user_id and m.group_id = w.group_id)
    returning ${membershipMark('n')} as mark`,
  );
  return together(removed, added);
}
