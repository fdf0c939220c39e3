import { inArray, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Tx } from '@portal/db/open';
import type { SystemContext } from './context.ts';

/** Rows per statement: short enough to disturb nobody. */
const batch = 5_000;

interface OldRows {
  /** Named in the log. */
  what: string;
  table: PgTable;
  id: PgColumn;
  /** By the database's clock. */
  isOver: SQL | undefined;
  /** What is emptied in a row that itself stays. */
  emptied?: Record<string, null>;
}

/** What is kept for a time only. A batch at a time: `remove` says how many rows went, 0 when there are none left. */
export type Retention = OldRows | { what: string; remove: (tx: Tx) => Promise<number> };

/** Deletes what has been kept long enough, a batch at a time, and says how many rows of what went. */
export async function removeExpiredRows(
  system: SystemContext,
  retentions: readonly Retention[],
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  for (const retention of retentions) {
    const remove = 'remove' in retention ? retention.remove : (tx: Tx) => removeBatch(tx, retention);
    let count = 0;
    let last: number;
    do {
      signal.throwIfAborted();
      last = await system.acrossTenants('rows kept long enough go', remove);
      count += last;
    } while (last > 0);
    removed[retention.what] = count;
  }
  system.log.info({ removed }, 'rows kept long enough were removed');
  return removed;
}

async function removeBatch(tx: Tx, { table, id, isOver, emptied }: OldRows): Promise<number> {
  const due = inArray(id, tx.select({ id }).from(table).where(isOver).limit(batch));
  const { rowCount } = await (emptied ? tx.update(table).set(emptied).where(due) : tx.delete(table).where(due));
  return rowCount ?? 0;
}
