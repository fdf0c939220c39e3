import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { checkStage, expectPeople, linesOf, type Stage, stagedPeople } from './stage.ts';

/** An imported account that the directory no longer admits. */
export interface LeavingAccount {
  id: string;
  directoryId: string;
  username: string;
  /** A SUPER_ADMIN stays unchanged, with a warning. */
  isSuperAdmin: boolean;
  /** Excluded by name. Administrators want this, so the deactivation limit does not count it. */
  isExcluded: boolean;
}

/** Differences between the people on the stage and the accounts, as directory ids, before any decision. */
export interface Changes {
  /** Admitted people without an account under their directory id. */
  unknown: string[];
  /** People whose account differs, except those in `swaps`. */
  differing: string[];
  /** People whose account differs and whose new name or address another one of them gives up, and those others. */
  swaps: string[];
  leaving: LeavingAccount[];
  /** Number of active imported accounts that a run may switch off. */
  active: number;
  /** Names and addresses that occur more than once in the directory, with the directory id of the person who gets them. */
  duplicates: { usernames: Map<string, string>; emails: Map<string, string> };
}

/** Compares the stage with the accounts of its tenant, using set operations: people with accounts, and beside that accounts with people. */
export async function findChanges(
  stage: Stage,
  { staged, excluded }: { staged: number; excluded: Set<string> },
): Promise<Changes> {
  const compare = <T>(find: (tx: Tx) => Promise<T>): Promise<T> =>
    stage.scope.tx(async (tx) => {
      await expectPeople(tx, staged);
      if (staged > 0) await checkStage(tx, stage);
      return find(tx);
    });
  const [ofPeople, ofAccounts] = await Promise.all([
    compare((tx) => findChangesOfPeople(tx, stage, staged)),
    compare((tx) => findChangesOfAccounts(tx, stage, excluded)),
  ]);
  return { ...ofPeople, ...ofAccounts };
}

async function findChangesOfPeople(tx: Tx, stage: Stage, staged: number): Promise<Omit<Changes, 'leaving' | 'active'>> {
  const { unknown, differing } = staged > 0 ? await findDiffering(tx, stage) : { unknown: [], differing: [] };
  const isUnchanged = unknown.length === 0 && differing.length === 0;
  const swaps = isUnchanged ? new Set<string>() : await findSwaps(tx, stage);
  return {
    unknown,
    differing: differing.filter((id) => !swaps.has(id)),
    swaps: [...swaps],
    duplicates: {
      usernames: isUnchanged ? new Map() : await findDuplicates(tx, stage, 'username'),
      emails: isUnchanged ? new Map() : await findDuplicates(tx, stage, 'email'),
    },
  };
}

const findChangesOfAccounts = async (
  tx: Tx,
  stage: Stage,
  excluded: Set<string>,
): Promise<Pick<Changes, 'leaving' | 'active'>> => ({
  leaving: await findLeaving(tx, stage, excluded),
  active: await tx.$count(
    users,
    sql`${users.isActive} and ${users.ldapDn} is not null and ${users.role} <> 'SUPER_ADMIN'`,
  ),
});

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
  const takeovers = (column: SQL): SQL => sql`
    select u.id as account, s.directory_id as wants, h.directory_id as holds
    from ${stagedPeople(stage, 's')}
      left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      join ${users} h on h.tenant_id = ${stage.scope.tenantId} and h.${column} = s.${column} and h.id is distinct from u.id
      join ${stagedPeople(stage, 'hs')} on hs.directory_id = h.directory_id and hs.standing = 'live' and hs.${column} is distinct from h.${column}
    where s.standing = 'live' and s.${column} is distinct from u.${column}`;
  const { rows } = await tx.execute<{ id: string }>(sql`
    select distinct x.id from (${takeovers(sql.raw('username'))} union all ${takeovers(sql.raw('email'))}) w
      cross join lateral (values (case when w.account is null then null else w.wants end), (w.holds)) x (id)
    where x.id is not null`);
  return new Set(rows.map(({ id }) => id));
}

async function findLeaving(tx: Tx, stage: Stage, excluded: Set<string>): Promise<LeavingAccount[]> {
  // An account stays if its person is gone but a new person has its username: the plan matches them by username.
  const { rows } = await tx.execute<LeavingAccount & Record<string, unknown>>(sql`
    with newcomers as (
      select s.username from ${stagedPeople(stage, 's')}
        left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      where s.standing = 'live' and s.username is not null and u.id is null)
    select u.id, u.directory_id as "directoryId", u.username, u.role = 'SUPER_ADMIN' as "isSuperAdmin",
      (s.standing is not distinct from 'excluded' or u.username = any(${sql.param([...excluded])}::text[])) as "isExcluded"
    from ${users} u left join ${stagedPeople(stage, 's')} on s.directory_id = u.directory_id
      left join newcomers n on n.username = u.username and s.directory_id is null
    where u.tenant_id = ${stage.scope.tenantId} and u.ldap_dn is not null and u.is_active and s.standing is distinct from 'live'
      and n.username is null
    order by u.username`);
  return rows;
}

/** The current owner of a name keeps it. Otherwise the lowest directory id wins, so that the result is stable. */
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
