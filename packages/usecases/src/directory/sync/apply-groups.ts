import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { groupMembers, groups, moduleGrants } from '@portal/db/schema/modules';
import { type GroupsPlan, planGroups } from '@portal/domain/directory/plan';
import { newId } from '@portal/domain/ids';
import { portions } from '@portal/domain/portions';
import {
  createImportedGroups,
  removeImportedGroups,
  renameImportedGroups,
  setImportedMemberships,
} from '../../modules/imported-groups.ts';
import type { DirectoryRead } from './read-directory.ts';
import { checkStage, expectPeople, linesOf, type Stage, stagedPeople } from './stage.ts';
import type { SyncReport } from './sync-report.ts';

/** Groups or people per transaction. */
const batch = { groups: 1_000, people: 5_000 } as const;

/** A run does not touch the memberships of a SUPER_ADMIN; they disappear only with their group. */
const mayBeTouched = sql`u.role <> 'SUPER_ADMIN'`;

/** How many of the stored groups the directory no longer has. */
export function goneGroups({ groups: found, knownGroups }: DirectoryRead): { goneGroups: number; knownGroups: number } {
  const inDirectory = new Set(found.map(({ directoryId }) => directoryId));
  const gone = knownGroups.filter(({ directoryId }) => !inDirectory.has(directoryId));
  return { goneGroups: gone.length, knownGroups: knownGroups.length };
}

/** Brings groups and memberships in line with the directory; runs after the accounts. Does not write unchanged rows. */
export async function applyGroups(stage: Stage, read: DirectoryRead, inBatch: SyncReport['inBatch']): Promise<void> {
  const plan = await planDirectoryGroups(stage, read);
  const idOf = new Map(read.knownGroups.map(({ directoryId, id }) => [directoryId, id]));
  for (const part of portions(plan.create, batch.groups)) {
    const made = part.map((group) => ({ id: newId(), ...group }));
    await inBatch(async (tx) => ({ groups: await createImportedGroups(tx, stage.scope.tenantId, made) }));
    for (const { directoryId, id } of made) idOf.set(directoryId, id);
  }
  for (const part of portions(plan.rename, batch.groups))
    await inBatch(async (tx) => ({ groups: await renameImportedGroups(tx, part) }));
  const removed = new Set(plan.remove.map(({ directoryId }) => directoryId));
  const groupIds = read.groups.map(({ directoryId }) =>
    removed.has(directoryId) ? noGroup : (idOf.get(directoryId) ?? noGroup),
  );
  const members = await membersToChange(stage, groupIds, read);
  for (const part of portions(members, batch.people))
    await inBatch(async (tx) => ({ memberships: await writeMemberships(tx, stage, groupIds, part) }));
  // Removed last, so that their memberships are counted like in the preview.
  for (const part of portions(plan.remove, batch.groups)) {
    const ids = part.map(({ id }) => id);
    await inBatch(async (tx) => ({ groups: await removeImportedGroups(tx, ids) }));
  }
}

/** How many groups and memberships a run would write. `skipped` are the directory ids of people without an account. */
export async function countGroupChanges(
  stage: Stage,
  read: DirectoryRead,
  skipped: string[],
): Promise<{ groups: number; memberships: number }> {
  const directoryIds = sql.param(read.groups.map(({ directoryId }) => directoryId));
  return stage.scope.tx(async (tx) => {
    await expectPeople(tx, read.people);
    const { rows } = await tx.execute<{ positions: number[] | null; memberships: number }>(sql`
      with wanted as (
        select s.directory_id as person, p.position, g.directory_id as group_id
        from ${stagedPeople(stage, 's')} cross join lateral unnest(s.groups) p (position)
          join unnest(${directoryIds}::text[]) with ordinality g (directory_id, ordinal) on g.ordinal = p.position + 1
          left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
        where s.standing = 'live' and s.directory_id <> all(${sql.param(skipped)}::text[]) and (u.id is null or ${mayBeTouched})),
      actual as (
        select u.directory_id as person, g.directory_id as group_id from ${groupMembers} m
        join ${groups} g on g.tenant_id = m.tenant_id and g.id = m.group_id and g.directory_id is not null
        join ${users} u on u.tenant_id = m.tenant_id and u.id = m.user_id and ${mayBeTouched})
      select (select array_agg(distinct position) from wanted) as positions,
        (select count(*)::int from wanted full join actual using (person, group_id)
          where wanted.position is null or actual.group_id is null) as memberships`);
    const plan = planUsedGroups(read, new Set(rows[0]?.positions), await protectedGroups(tx, stage));
    return {
      groups: plan.create.length + plan.rename.length + plan.remove.length,
      memberships: rows[0]?.memberships ?? 0,
    };
  });
}

const planDirectoryGroups = (stage: Stage, read: DirectoryRead): Promise<GroupsPlan> =>
  stage.scope.tx(async (tx) => {
    await expectPeople(tx, read.people);
    const protectedIds = await protectedGroups(tx, stage);
    if (read.people === 0) return planUsedGroups(read, new Set(), protectedIds);
    await checkStage(tx, stage);
    const { rows } = await tx.execute<{ position: number }>(sql`
      select distinct unnest(s.groups) as position from ${stagedPeople(stage, 's')}
        join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      where s.standing = 'live'`);
    return planUsedGroups(read, new Set(rows.map(({ position }) => position)), protectedIds);
  });

/** Plans to keep the groups that the directory has and that have members or module grants in the portal. */
const planUsedGroups = (
  { groups: found, knownGroups }: DirectoryRead,
  positions: Set<number>,
  protectedIds: Set<string>,
): GroupsPlan =>
  planGroups(
    knownGroups,
    found.filter(({ directoryId }, position) => positions.has(position) || protectedIds.has(directoryId)),
  );

/**
 * Directory ids of groups that stay even if they have no members on the stage: groups with a SUPER_ADMIN, and groups with grants,
 * which must survive while the group is empty for a time.
 */
async function protectedGroups(tx: Tx, stage: Stage): Promise<Set<string>> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    select distinct g.directory_id as id from ${groups} g join ${groupMembers} m on m.tenant_id = g.tenant_id and m.group_id = g.id
      join ${users} u on u.tenant_id = m.tenant_id and u.id = m.user_id
    where g.tenant_id = ${stage.scope.tenantId} and g.directory_id is not null and not ${mayBeTouched}
    union
    select g.directory_id from ${moduleGrants} granted join ${groups} g on g.tenant_id = granted.tenant_id and g.id = granted.group_id
    where g.tenant_id = ${stage.scope.tenantId} and g.directory_id is not null`);
  return new Set(rows.map(({ id }) => id));
}

/** Stands for "no group" in a list of ids. With a null, the server would walk the whole list for each lookup. */
const noGroup = '00000000-0000-0000-0000-000000000000';

/** An account whose memberships differ from the directory. */
interface Member {
  userId: string;
  directoryId: string;
}

/** Selects the wanted memberships of the accounts on the stage: user_id, group_id. */
const wantedMemberships = (stage: Stage, groupIds: string[], members: Member[] | null = null): SQL => sql`
  select user_id, group_id from (
    select user_id, (${sql.param(groupIds)}::uuid[])[position + 1] as group_id from (
      select u.id as user_id, unnest(s.groups) as position
      from ${stagedPeople(stage, 's', members && members.map(({ directoryId }) => directoryId))}
        join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id and ${mayBeTouched}
          and ${members === null ? sql`true` : sql`u.id = any(${sql.param(members.map(({ userId }) => userId))}::uuid[])`}
      where s.standing = 'live') p offset 0) w
  where group_id <> ${noGroup}`;

/** Finds the accounts whose imported groups differ from the directory. */
async function membersToChange(stage: Stage, groupIds: string[], { people }: DirectoryRead): Promise<Member[]> {
  return stage.scope.tx(async (tx) => {
    await expectPeople(tx, people);
    if (people > 0) await checkStage(tx, stage);
    const { rows } = await tx.execute<{ members: string | null }>(sql`
      with wanted as (${wantedMemberships(stage, groupIds)}), actual as (
        select m.user_id, m.group_id from ${groupMembers} m
        join ${groups} g on g.tenant_id = m.tenant_id and g.id = m.group_id and g.directory_id is not null
        where m.user_id not in (select u.id from ${users} u where u.tenant_id = ${stage.scope.tenantId} and not ${mayBeTouched})),
      others as (
        select distinct user_id from wanted full join actual using (user_id, group_id)
        where wanted.group_id is null or actual.group_id is null)
      select string_agg(u.id || ' ' || u.directory_id, chr(10) order by u.directory_id) as members
      from others join ${users} u on u.id = others.user_id`);
    return linesOf(rows[0]?.members ?? null).map((line) => {
      const [userId = '', directoryId = ''] = line.split(' ');
      return { userId, directoryId };
    });
  });
}

async function writeMemberships(tx: Tx, stage: Stage, groupIds: string[], members: Member[]): Promise<number> {
  await expectPeople(tx, members.length);
  return setImportedMemberships(tx, {
    tenantId: stage.scope.tenantId,
    userIds: members.map(({ userId }) => userId),
    wanted: wantedMemberships(stage, groupIds, members),
  });
}
