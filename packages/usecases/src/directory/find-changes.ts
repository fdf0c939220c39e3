import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/users';
import { normalizeUsername } from '@portal/domain/accounts';
import { checkStage, countOf, expectPeople, isAmong, peopleOf, type Stage } from './staging.ts';

/** An imported account that the directory does not let in any more. */
export interface LeavingAccount {
  id: string;
  directoryId: string;
  username: string;
  /** Stays as it is, with a warning. */
  isSuperAdmin: boolean;
  /** Left out by name: the administrators' wish, which the brake does not count. */
  isExcluded: boolean;
}

export interface PartOfPeople {
  part: number;
  ids: string[];
}

/** What differs between the people on the stage and the accounts, as directory ids; nothing of it is decided yet. */
export interface Changes {
  /** People who may come in and have no account under their directory id, by the part of the stage they are in. */
  unknown: PartOfPeople[];
  /** People whose account differs. */
  differing: PartOfPeople[];
  /** Of the latter those who want a name or address that another one of them gives up, and those others. */
  entangled: string[];
  leaving: LeavingAccount[];
  /** Active imported accounts that a run may switch off. */
  standing: number;
  /** Names and addresses that stand in the directory more than once, with the directory id of whom they go to. */
  twins: { usernames: Map<string, string>; emails: Map<string, string> };
}

/** Compares the stage with the accounts of its tenant, set against set; who is not on it and may leave is among `changed`. */
export async function findChanges(
  stage: Stage,
  { staged, changed, excluded }: { staged: number; changed: string[] | null; excluded: string[] },
): Promise<Changes> {
  return stage.scope.tx(async (tx) => {
    await expectPeople(tx, countOf(changed));
    if (staged > 0) await checkStage(tx, stage);
    const { unknown, differing } = staged > 0 ? await findDiffering(tx, stage) : { unknown: [], differing: [] };
    const isQuiet = unknown.length === 0 && differing.length === 0;
    return {
      unknown,
      differing,
      entangled: isQuiet ? [] : await findEntangled(tx, stage),
      leaving: changed?.length === 0 ? [] : await findLeaving(tx, stage, { changed, excluded }),
      standing: await tx.$count(
        users,
        sql`${users.isActive} and ${users.ldapDn} is not null and ${users.role} <> 'SUPER_ADMIN'`,
      ),
      twins: {
        usernames: isQuiet ? new Map() : await findTwins(tx, stage, 'username'),
        emails: isQuiet ? new Map() : await findTwins(tx, stage, 'email'),
      },
    };
  });
}

/** Ids in one text: a driver takes a hundred thousand rows apart far more slowly. None of them holds a line break. */
const linesOf = (text: string | null): string[] => (text === null ? [] : text.split('\n'));

async function findDiffering(tx: Tx, stage: Stage): Promise<{ unknown: PartOfPeople[]; differing: PartOfPeople[] }> {
  const columns = [
    'directory_id',
    'standing',
    'username',
    'email',
    'email_fault',
    'dn',
    'display_name',
    'first_name',
    'last_name',
  ] as const;
  const { rows } = await tx.execute<{ part: number; unknown: string | null; differing: string | null }>(sql`
    select s.part, string_agg(s.directory_id, chr(10)) filter (where u.id is null) as unknown,
      string_agg(s.directory_id, chr(10)) filter (where u.id is not null) as differing
    from ${peopleOf(stage, 's', [...columns])} left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
    where s.standing = 'live' and (u.id is null or s.email_fault is not null or (u.deactivated_by_sync and not u.is_active) or u.role = 'SUPER_ADMIN'
      or (s.username, s.email, s.dn, s.display_name, s.first_name, s.last_name)
        is distinct from (u.username, u.email, u.ldap_dn, u.display_name, u.first_name, u.last_name))
    group by s.part order by s.part`);
  const listed = (field: 'unknown' | 'differing') =>
    rows.map((row) => ({ part: row.part, ids: linesOf(row[field]) })).filter(({ ids }) => ids.length > 0);
  return { unknown: listed('unknown'), differing: listed('differing') };
}

async function findEntangled(tx: Tx, stage: Stage): Promise<string[]> {
  const wishes = (column: SQL): SQL => sql`
    select u.id as mover, s.directory_id as wants, h.directory_id as holds
    from ${peopleOf(stage, 's', ['directory_id', 'standing', 'username', 'email'])}
      left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      join ${users} h on h.tenant_id = ${stage.scope.tenantId} and h.${column} = s.${column} and h.id is distinct from u.id
      join ${peopleOf(stage, 'hs', ['directory_id', 'standing', 'username', 'email'])} on hs.directory_id = h.directory_id and hs.standing = 'live' and hs.${column} is distinct from h.${column}
    where s.standing = 'live' and s.${column} is distinct from u.${column}`;
  const { rows } = await tx.execute<{ id: string }>(sql`
    select distinct x.id from (${wishes(sql.raw('username'))} union all ${wishes(sql.raw('email'))}) w
      cross join lateral (values (case when w.mover is null then null else w.wants end), (w.holds)) x (id)
    where x.id is not null`);
  return rows.map(({ id }) => id);
}

async function findLeaving(
  tx: Tx,
  stage: Stage,
  { changed, excluded }: { changed: string[] | null; excluded: string[] },
): Promise<LeavingAccount[]> {
  // An account whose person is gone, while a new one came by its username, is found by that and stays.
  const { rows } = await tx.execute<LeavingAccount & Record<string, unknown>>(sql`
    with strangers as (
      select s.username from ${peopleOf(stage, 's', ['directory_id', 'standing', 'username'])}
        left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
      where s.standing = 'live' and s.username is not null and u.id is null)
    select u.id, u.directory_id as "directoryId", u.username, u.role = 'SUPER_ADMIN' as "isSuperAdmin",
      (s.standing is not distinct from 'excluded' or u.username = any(${sql.param(excluded.map(normalizeUsername))}::text[])) as "isExcluded"
    from ${users} u left join ${peopleOf(stage, 's', ['directory_id', 'standing'])} on s.directory_id = u.directory_id
      left join strangers n on n.username = u.username and s.directory_id is null
    where u.tenant_id = ${stage.scope.tenantId} and u.ldap_dn is not null and u.is_active and s.standing is distinct from 'live'
      and n.username is null and ${isAmong(changed)}
    order by u.username`);
  return rows;
}

/** Who has a name already keeps it; among others the directory id decides, so that it is the same one each time. */
async function findTwins(tx: Tx, stage: Stage, field: 'username' | 'email'): Promise<Map<string, string>> {
  const column = sql.raw(field);
  const { rows } = await tx.execute<{ value: string; id: string }>(sql`
    select distinct on (s.${column}) s.${column} as value, s.directory_id as id
    from ${peopleOf(stage, 's', ['directory_id', 'standing', field])}
      left join ${users} u on u.tenant_id = ${stage.scope.tenantId} and u.directory_id = s.directory_id
    where s.standing = 'live' and s.${column} in (
      select t.${column} collate "C" from ${peopleOf(stage, 't', ['standing', field])} where t.standing = 'live' and t.${column} is not null
      group by t.${column} collate "C" having count(*) > 1)
    order by s.${column}, (u.${column} is not distinct from s.${column}) desc, s.directory_id`);
  return new Map(rows.map(({ value, id }) => [value, id]));
}
