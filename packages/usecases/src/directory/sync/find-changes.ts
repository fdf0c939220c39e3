import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { checkStage, expectPeople, linesOf, type Stage, stagedPeople } from './stage.ts';

/** An imported account that the directory does not let in any more. */
export interface LeavingAccount {
  id: string;
  directoryId: string;
  username: string;
  /** Stays as it is, with a warning. */
  isSuperAdmin: boolean;
  /** Left out by name: the administrators' wish, which the deactivation limit does not count. */
  isExcluded: boolean;
}

/** What differs between the people on the stage and the accounts, as directory ids; nothing of it is decided yet. */
export interface Changes {
  /** People who may come in and have no account under their directory id. */
  unknown: string[];
  /** People whose account differs, those in `swaps` left out. */
  differing: string[];
  /** People whose account differs and who want a name or address that another one of them gives up, and those others. */
  swaps: string[];
  leaving: LeavingAccount[];
  /** Active imported accounts that a run may switch off. */
  active: number;
  /** Names and addresses that stand in the directory more than once, with the directory id of whom they go to. */
  duplicates: { usernames: Map<string, string>; emails: Map<string, string> };
}

/** Compares the stage with the accounts of its tenant, set against set. */
export async function findChanges(
  stage: Stage,
  { staged, excluded }: { staged: number; excluded: Set<string> },
): Promise<Changes> {
  return stage.scope.tx(async (tx) => {
    await expectPeople(tx, staged);
    if (staged > 0) await checkStage(tx, stage);
    const { unknown, differing } = staged > 0 ? await findDiffering(tx, stage) : { unknown: [], differing: [] };
    const isQuiet = unknown.length === 0 && differing.length === 0;
    const swaps = isQuiet ? new Set<string>() : await findSwaps(tx, stage);
    return {
      unknown,
      differing: differing.filter((id) => !swaps.has(id)),
      swaps: [...swaps],
      leaving: await findLeaving(tx, stage, excluded),
      active: await tx.$count(
        users,
        sql`${users.isActive} and ${users.ldapDn} is not null and ${users.role} <> 'SUPER_ADMIN'`,
      ),
      duplicates: {
        usernames: isQuiet ? new Map() : await findDuplicates(tx, stage, 'username'),
        emails: isQuiet ? new Map() : await findDuplicates(tx, stage, 'email'),
      },
    };
  });
}

async function findDiffering(tx: Tx, stage: Stage): Promise<{ unknown: string[]; differing: string[] }> {
  const { rows } = await tx.execute<{ unknown: string | null; differing: string | null }>(sql`
    select string_agg(s.directory_id, chr(10) order by s.directory_id) filter (where u.id is null) as unknown,
      string_agg(s.directory_id, chr(10) order by s.directory_id) filter (where u.id is not null) as differing
    from ${stagedPeople(stage, 's')} left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
    where s.standing = 'live' and (u.id is null or s.has_bad_email or (u.deactivated_by_sync and not u.is_active) or u.role = 'SUPER_ADMIN'
      or (s.username, s.email, s.ldap_dn, s.display_name, s.first_name, s.last_name)
        is distinct from (u.username, u.email, u.ldap_dn, u.display_name, u.first_name, u.last_name))`);
  return { unknown: linesOf(rows[0]?.unknown ?? null), differing: linesOf(rows[0]?.differing ?? null) };
}

async function findSwaps(tx: Tx, stage: Stage): Promise<Set<string>> {
  const wishes = (column: SQL): SQL => sql`
    select u.id as account, s.directory_id as wants, h.directory_id as holds
    from ${stagedPeople(stage, 's')}
      left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      join ${users} h on h.tenant_id = ${stage.scope.tenantId} and h.${column} = s.${column} and h.id is distinct from u.id
      join ${stagedPeople(stage, 'hs')} on hs.directory_id = h.directory_id and hs.standing = 'live' and hs.${column} is distinct from h.${column}
    where s.standing = 'live' and s.${column} is distinct from u.${column}`;
  const { rows } = await tx.execute<{ id: string }>(sql`
    select distinct x.id from (${wishes(sql.raw('username'))} union all ${wishes(sql.raw('email'))}) w
      cross join lateral (values (case when w.account is null then null else w.wants end), (w.holds)) x (id)
    where x.id is not null`);
  return new Set(rows.map(({ id }) => id));
}

async function findLeaving(tx: Tx, stage: Stage, excluded: Set<string>): Promise<LeavingAccount[]> {
  // An account whose person is gone, while a new one came by its username, is found by that and stays.
  const { rows } = await tx.execute<LeavingAccount & Record<string, unknown>>(sql`
    with strangers as (
      select s.username from ${stagedPeople(stage, 's')}
        left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      where s.standing = 'live' and s.username is not null and u.id is null)
    select u.id, u.directory_id as "directoryId", u.username, u.role = 'SUPER_ADMIN' as "isSuperAdmin",
      (s.standing is not distinct from 'excluded' or u.username = any(${sql.param([...excluded])}::text[])) as "isExcluded"
    from ${users} u left join ${stagedPeople(stage, 's')} on s.directory_id = u.directory_id
      left join strangers n on n.username = u.username and s.directory_id is null
    where u.tenant_id = ${stage.scope.tenantId} and u.ldap_dn is not null and u.is_active and s.standing is distinct from 'live'
      and n.username is null
    order by u.username`);
  return rows;
}

/** Who has a name already keeps it; among others the directory id decides, so that it is the same one each time. */
async function findDuplicates(tx: Tx, stage: Stage, field: 'username' | 'email'): Promise<Map<string, string>> {
  const column = sql.raw(field);
  const { rows } = await tx.execute<{ value: string; id: string }>(sql`
    select distinct on (s.${column}) s.${column} as value, s.directory_id as id
    from ${stagedPeople(stage, 's')}
      left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
    where s.standing = 'live' and s.${column} in (
      select t.${column} collate "C" from ${stagedPeople(stage, 't')} where t.standing = 'live' and t.${column} is not null
      group by t.${column} collate "C" having count(*) > 1)
    order by s.${column}, (u.${column} is not distinct from s.${column}) desc, s.directory_id`);
  return new Map(rows.map(({ value, id }) => [value, id]));
}
