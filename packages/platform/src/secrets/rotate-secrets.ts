import { and, asc, getTableColumns, getTableName, gt, isNotNull, sql } from 'drizzle-orm';
import type { Database, Tx } from '@portal/db/open';
import type { SealedColumn } from './sealed-column.ts';
import { type Secrets, UnreadableSecretError } from './sealed.ts';

export interface Rotation {
  /** `smtp_configs.password` */
  column: string;
  /** Readable, and already sealed with the first key. */
  current: number;
  reEncrypted: number;
  /** Unchanged because no key opens them: number by reason. */
  unreadable: Map<string, number>;
  /** Changed by an app between reading and writing: the app's value stays. */
  overtaken: number;
}

/** A stored secret, sealed again with the first key. */
interface Resealed {
  id: string;
  was: string;
  sealed: string;
}

// Rows per transaction, in memory and locked.
const batchSize = 200;
const beforeAllIds = '00000000-0000-0000-0000-000000000000';

/**
 * Seals all stored secrets with the first key that are sealed with another key. The apps may run meanwhile: a value is replaced only if it
 * is still the one that was read. Can be repeated; it then handles the rest.
 */
export async function rotateSecrets(
  { acrossTenants }: Pick<Database, 'acrossTenants'>,
  secrets: Secrets,
  columns: readonly SealedColumn[],
): Promise<Rotation[]> {
  const rotations: Rotation[] = [];
  for (const column of columns) {
    const name = `${getTableName(column.table)}.${column.column.name}`;
    const rotation: Rotation = { column: name, current: 0, reEncrypted: 0, unreadable: new Map(), overtaken: 0 };
    rotations.push(rotation);
    let after: string | null = beforeAllIds;
    while (after !== null) {
      const from: string = after;
      after = await acrossTenants('stored secrets are sealed with the first key', (tx) =>
        rotateBatch(tx, secrets, column, from, rotation),
      );
    }
  }
  return rotations;
}

/** Rotates the rows after an id, adds the results to `rotation`, and returns the id after which to continue; null at the end. */
async function rotateBatch(
  tx: Tx,
  secrets: Secrets,
  { table, column, boundTo, context }: SealedColumn,
  after: string,
  rotation: Rotation,
): Promise<string | null> {
  const rows = await tx
    .select({ id: sql<string>`${table.id}`, envelope: sql<string>`${column}`, boundTo: sql<string>`${boundTo}` })
    .from(table)
    .where(and(isNotNull(column), gt(table.id, after)))
    .orderBy(asc(table.id))
    .limit(batchSize);

  const resealed: Resealed[] = [];
  for (const { id, envelope, boundTo: owner } of rows) {
    try {
      // Also opens secrets of the first key, to check that the key still fits.
      const plaintext = secrets.open(envelope, context(owner));
      if (secrets.isCurrent(envelope)) rotation.current += 1;
      else resealed.push({ id, was: envelope, sealed: secrets.seal(plaintext, context(owner)) });
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error;
      rotation.unreadable.set(error.message, (rotation.unreadable.get(error.message) ?? 0) + 1);
    }
  }

  const replaced = await replaceUnchanged(tx, table, column, resealed);
  rotation.reEncrypted += replaced;
  rotation.overtaken += resealed.length - replaced;
  return rows.length < batchSize ? null : (rows.at(-1)?.id ?? null);
}

async function replaceUnchanged(
  tx: Tx,
  table: SealedColumn['table'],
  column: SealedColumn['column'],
  resealed: Resealed[],
): Promise<number> {
  if (resealed.length === 0) return 0;
  const [key] = Object.entries(getTableColumns(table)).find(([, candidate]) => candidate === column) ?? [];
  if (key === undefined) throw new TypeError(`${getTableName(table)} has no such column.`);
  const list = (values: string[]) => sql.param(values);
  const replaced = await tx
    .update(table)
    .set({ [key]: sql`fresh.sealed` })
    .from(
      sql`unnest(${list(resealed.map(({ id }) => id))}::uuid[], ${list(resealed.map(({ was }) => was))}::text[], ${list(resealed.map(({ sealed }) => sealed))}::text[]) as fresh (id, was, sealed)`,
    )
    .where(sql`${table.id} = fresh.id and ${column} = fresh.was`)
    .returning({ id: table.id });
  return replaced.length;
}
