import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { ldapStagedEntries } from '@portal/db/schema/directory';
import type { DirectoryPerson } from '@portal/domain/directory/person';
import { unavailable } from '@portal/domain/errors';

/** Where the people of one reading are kept until they are applied. */
export interface Stage {
  scope: TenantScope;
  /** The run that reads, or an id of its own for a preview. */
  runId: string;
  attempt: number;
}

/** Whether a person may come in, and if not, why. */
export type Standing = 'live' | 'outside' | 'excluded' | 'switched_off';

export interface StagedPerson extends DirectoryPerson {
  standing: Standing;
  /** Positions in the list of groups that the reader holds. */
  groups: number[];
}

const isOf = ({ scope, runId, attempt }: Stage): SQL =>
  sql`${ldapStagedEntries.tenantId} = ${scope.tenantId} and ${ldapStagedEntries.runId} = ${runId} and ${ldapStagedEntries.attempt} = ${attempt}`;

/** The people of a stage as a table of that name, all of them or those of these directory ids. */
export function stagedPeople(stage: Stage, name: string, directoryIds: string[] | null = null): SQL {
  const isAsked =
    directoryIds === null ? sql`true` : sql`${ldapStagedEntries.directoryId} = any(${linesParam(directoryIds)})`;
  return sql`(select * from ${ldapStagedEntries} where ${isOf(stage)} and ${isAsked}) ${sql.raw(name)}`;
}

/** Texts without line breaks as one parameter: a driver takes a list of a hundred thousand apart far more slowly. */
export const linesParam = (lines: string[]): SQL => sql`string_to_array(${lines.join('\n')}, chr(10))`;

/** The same the other way. */
export const linesOf = (text: string | null): string[] => (text === null ? [] : text.split('\n'));

/** Puts people on the stage. Their texts hold no control characters, so a column is one text: the server takes JSON apart at half the speed. */
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

/** A stage of so few people is what the server takes it for. */
const few = 500;

/**
 * Readies a transaction for statements over so many people and as many accounts. Of many, hashes stay in memory, and tables are
 * joined by them: the server has no statistics of a stage, takes it for a few rows and would else compare each with each.
 */
export async function expectPeople(tx: Tx, count: number): Promise<void> {
  if (count <= few) return;
  await tx.execute(sql`set local work_mem = '64MB'`);
  await tx.execute(sql`set local enable_nestloop = off`);
}

/** Takes people who seemed to be live for excluded. */
export const excludeStaged = (tx: Tx, stage: Stage, directoryIds: string[]) =>
  tx
    .update(ldapStagedEntries)
    .set({ standing: 'excluded' })
    .where(sql`${isOf(stage)} and ${ldapStagedEntries.directoryId} = any(${linesParam(directoryIds)})`);

/** How many people are on the stage. */
export const countStaged = (stage: Stage): Promise<number> =>
  stage.scope.tx((tx) => tx.$count(ldapStagedEntries, isOf(stage)));

/**
 * Throws unless the people are still there. A crash of the database server empties the stage as a whole, and to whoever looks
 * after it everybody seems to have left; so each transaction that concludes something from the stage makes sure first.
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

/** Takes the people of a run off the stage, those of its earlier tries too. */
export async function clearStage({ scope, runId }: Pick<Stage, 'scope' | 'runId'>): Promise<void> {
  await scope.tx((tx) =>
    tx
      .delete(ldapStagedEntries)
      .where(and(eq(ldapStagedEntries.tenantId, scope.tenantId), eq(ldapStagedEntries.runId, runId))),
  );
}
