import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { ldapStagedEntries } from '@portal/db/schema/directory';
import type { DirectoryPerson } from '@portal/domain/directory/person';
import { unavailable } from '@portal/domain/errors';

/** Holds the people of one reading until a run applies them. */
export interface Stage {
  scope: TenantScope;
  /** The id of the run, or a new id for a preview. */
  runId: string;
  attempt: number;
}

/** `live` if a person may have an account, otherwise the reason why not. */
export type Standing = 'live' | 'outside' | 'excluded' | 'switched_off';

export interface StagedPerson extends DirectoryPerson {
  standing: Standing;
  /** Positions in the reader's list of groups. */
  groups: number[];
}

const isOf = ({ scope, runId, attempt }: Stage): SQL =>
  sql`${ldapStagedEntries.tenantId} = ${scope.tenantId} and ${ldapStagedEntries.runId} = ${runId} and ${ldapStagedEntries.attempt} = ${attempt}`;

/** The people of a stage as a table with this alias: all of them, or only those with these directory ids. */
export function stagedPeople(stage: Stage, name: string, directoryIds: string[] | null = null): SQL {
  const isAsked =
    directoryIds === null ? sql`true` : sql`${ldapStagedEntries.directoryId} = any(${linesParam(directoryIds)})`;
  return sql`(select * from ${ldapStagedEntries} where ${isOf(stage)} and ${isAsked}) ${sql.raw(name)}`;
}

/** Passes texts without line breaks as one text parameter, because the driver serializes long lists far more slowly. */
export const linesParam = (lines: string[]): SQL => sql`string_to_array(${lines.join('\n')}, chr(10))`;

/** Splits a text result into lines; the reverse of `linesParam`. */
export const linesOf = (text: string | null): string[] => (text === null ? [] : text.split('\n'));

/** Puts people on the stage. Sends each column as one text (values hold no control characters); parsing JSON takes twice as long. */
export async function stagePeople(stage: Stage, people: StagedPerson[]): Promise<void> {
  const column = (valueOf: (person: StagedPerson) => string | boolean | null): SQL =>
    sql`string_to_array(${people.map((person) => valueOf(person) ?? '\u0001').join('\n')}, chr(10), chr(1))`;
  await stage.scope.tx((tx) =>
    tx.execute(sql`
      insert into ${ldapStagedEntries} (tenant_id, run_id, attempt, directory_id, standing, ldap_dn, username, email, has_bad_email,
        display_name, first_name, last_name, groups)
      select ${stage.scope.tenantId}::uuid, ${stage.runId}::uuid, ${stage.attempt}::int, p.directory_id, p.standing, p.dn, p.username,
        p.email, p.has_bad_email::boolean, p.display_name, p.first_name, p.last_name, coalesce(string_to_array(p.groups, ','), '{}')::int[]
      from unnest(${column(({ directoryId }) => directoryId)}, ${column(({ standing }) => standing)}, ${column(({ dn }) => dn)},
        ${column(({ username }) => username)}, ${column(({ email }) => email)}, ${column(({ hasBadEmail }) => hasBadEmail)},
        ${column(({ displayName }) => displayName)}, ${column(({ firstName }) => firstName)}, ${column(({ lastName }) => lastName)},
        ${column(({ groups }) => groups.join())})
        as p (directory_id, standing, dn, username, email, has_bad_email, display_name, first_name, last_name, groups)`),
  );
}

/** Up to this many people, the server's default estimate for the stage is good enough. */
const fewPeople = 500;

/**
 * Prepares a transaction for statements over `count` people and as many accounts. For large counts it forces in-memory hash joins: the
 * server has no statistics of the stage, assumes a few rows and would use nested loops. It also forbids parallel workers: with 100,000
 * people and two processors, the statements take a third less time without them, and leave a processor to the requests.
 */
export async function expectPeople(tx: Tx, count: number): Promise<void> {
  if (count <= fewPeople) return;
  await tx.execute(sql`set local work_mem = '64MB'`);
  await tx.execute(sql`set local enable_nestloop = off`);
  await tx.execute(sql`set local max_parallel_workers_per_gather = 0`);
}

/** Marks people on the stage as excluded. */
export const excludeStaged = (tx: Tx, stage: Stage, directoryIds: string[]) =>
  tx
    .update(ldapStagedEntries)
    .set({ standing: 'excluded' })
    .where(sql`${isOf(stage)} and ${ldapStagedEntries.directoryId} = any(${linesParam(directoryIds)})`);

/** How many people are on the stage. */
export const countStaged = (stage: Stage): Promise<number> =>
  stage.scope.tx((tx) => tx.$count(ldapStagedEntries, isOf(stage)));

/**
 * Throws if the stage is empty. A crash of the database server empties it completely, and then all people would seem to have left the
 * directory. So each transaction that draws conclusions from the stage calls this first.
 */
export async function checkStage(tx: Tx, stage: Stage): Promise<void> {
  const rows = await tx
    .select({ one: sql`1` })
    .from(ldapStagedEntries)
    .where(isOf(stage))
    .limit(1);
  if (rows.length === 0) throw stageLost();
}

export const stageLost = () =>
  unavailable('The database was restarted while the directory was being read. Nothing was lost; please start again.');

/** Removes the people of a run from the stage, including those of earlier attempts. */
export async function clearStage({ scope, runId }: Pick<Stage, 'scope' | 'runId'>): Promise<void> {
  await scope.tx((tx) =>
    tx
      .delete(ldapStagedEntries)
      .where(and(eq(ldapStagedEntries.tenantId, scope.tenantId), eq(ldapStagedEntries.runId, runId))),
  );
}
