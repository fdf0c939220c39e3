import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { ldapStagedPeople } from '@portal/db/schema/directory';
import type { DirectoryPerson } from '@portal/domain/directory-person';
import { unavailable } from '@portal/domain/errors';

/** Where the people of one reading are kept until it is over. */
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

/** People of a stage by their directory ids, and the parts of it they are in; null for any. */
export interface People {
  parts: number[] | null;
  ids: string[];
}

/** The columns of `peopleOf`, and the lists they come from. */
const lists = {
  directory_id: ldapStagedPeople.directoryIds,
  standing: ldapStagedPeople.standings,
  dn: ldapStagedPeople.dns,
  username: ldapStagedPeople.usernames,
  email: ldapStagedPeople.emails,
  email_fault: ldapStagedPeople.emailFaults,
  display_name: ldapStagedPeople.displayNames,
  first_name: ldapStagedPeople.firstNames,
  last_name: ldapStagedPeople.lastNames,
  groups: ldapStagedPeople.groups,
};
type Column = keyof typeof lists;

const ofStage = ({ scope, runId, attempt }: Stage): SQL => {
  const { tenantId } = scope;
  return sql`${ldapStagedPeople.tenantId} = ${tenantId} and ${ldapStagedPeople.runId} = ${runId} and ${ldapStagedPeople.attempt} = ${attempt}`;
};

/** The people of a stage, or of some parts of it, as a table of that name: `part` and the columns asked for. */
export function peopleOf(stage: Stage, name: string, columns: Column[], parts: number[] | null = null): SQL {
  // The offset keeps the server from joining each part by itself, which would read the other table once for each.
  const list = (items: SQL[]) => sql.join(items, sql`, `);
  const inParts = parts === null ? sql`true` : sql`${ldapStagedPeople.part} = any(${sql.param(parts)}::int[])`;
  return sql`(select ${ldapStagedPeople.part} as part, p.* from ${ldapStagedPeople}
    cross join lateral unnest(${list(columns.map((column) => sql`${lists[column]}`))}) p (${list(columns.map((column) => sql.raw(column)))})
    where ${ofStage(stage)} and ${inParts} offset 0) ${sql.raw(name)}`;
}

/** Between the values of a person in one text, and for none. Neither stands in a value: names have no control characters, and in a DN they are escaped. */
export const separator = '\u001e';
export const nothing = '\u0001';

/** Puts a part of the people on the stage. */
export async function stagePeople(stage: Stage, part: number, people: StagedPerson[]): Promise<void> {
  // One text for each column: taken apart faster than rows, JSON or the driver's own arrays.
  const column = (value: (person: StagedPerson) => string | null): SQL =>
    sql`string_to_array(${people.map((person) => value(person) ?? nothing).join(separator)}, ${separator}, ${nothing})`;
  await stage.scope.tx((tx) =>
    tx.insert(ldapStagedPeople).values({
      tenantId: stage.scope.tenantId,
      runId: stage.runId,
      attempt: stage.attempt,
      part,
      directoryIds: column(({ directoryId }) => directoryId),
      standings: column(({ standing }) => standing),
      dns: column(({ dn }) => dn),
      usernames: column(({ username }) => username),
      emails: column(({ email }) => email),
      emailFaults: column(({ hasBadEmail }) => (hasBadEmail ? 'bad' : null)),
      displayNames: column(({ displayName }) => displayName),
      firstNames: column(({ firstName }) => firstName),
      lastNames: column(({ lastName }) => lastName),
      groups: column(({ groups }) => (groups.length === 0 ? null : groups.join(','))),
    }),
  );
}

/** A stage of so few people is what the server takes it for. */
const few = 500;

/**
 * Readies a transaction for statements over the people of a stage and as many accounts. Of many, hashes stay in memory, and tables
 * are joined by them: the server has no statistics of a stage, takes it for a few rows and would else compare each with each.
 */
export async function expectPeople(tx: Tx, count: number): Promise<void> {
  if (count <= few) return;
  await tx.execute(sql`set local work_mem = '64MB'`);
  await tx.execute(sql`set local enable_nestloop = off`);
}

/** How many these directory ids are; null for everybody, however many that is. */
export const countOf = (directoryIds: string[] | null): number => directoryIds?.length ?? Infinity;

/** Whether the account `u` is one of a person of these directory ids; null for everybody. */
export const isAmong = (directoryIds: string[] | null): SQL =>
  directoryIds === null ? sql`true` : sql`u.directory_id = any(string_to_array(${directoryIds.join('\n')}, chr(10)))`;

/** How many people are on the stage. */
export async function countStaged(stage: Stage): Promise<number> {
  const [row] = await stage.scope.read((db) =>
    db
      .select({ people: sql<number>`coalesce(sum(cardinality(${ldapStagedPeople.directoryIds})), 0)::int` })
      .from(ldapStagedPeople)
      .where(ofStage(stage)),
  );
  return row?.people ?? 0;
}

/**
 * Throws unless the people are still there. A crash of the database server empties the stage as a whole, and to whoever looks
 * after it everybody seems to have left; so each transaction that concludes something from the stage makes sure first.
 */
export async function checkStage(tx: Tx, stage: Stage): Promise<void> {
  const rows = await tx.select({ part: ldapStagedPeople.part }).from(ldapStagedPeople).where(ofStage(stage)).limit(1);
  if (rows.length === 0) throw stageLost();
}

export const stageLost = () =>
  unavailable('The database was restarted while the directory was being read. Nothing was lost; please start again.');

/** Takes the people of a run off the stage, those of its earlier tries too. */
export async function clearStage({ scope, runId }: Pick<Stage, 'scope' | 'runId'>): Promise<void> {
  await scope.tx((tx) =>
    tx
      .delete(ldapStagedPeople)
      .where(and(eq(ldapStagedPeople.tenantId, scope.tenantId), eq(ldapStagedPeople.runId, runId))),
  );
}
