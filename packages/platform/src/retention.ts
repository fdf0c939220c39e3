import { type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Tx } from '@portal/db/open';
import type { SystemContext } from './context.ts';
import { processEach } from './process-each.ts';

/** Rows per statement: short enough to disturb nobody. */
const batch = 5_000;
/** Before every other. */
const firstId = '00000000-0000-0000-0000-000000000000';

interface OldRows {
  /** Named in the log. */
  what: string;
  table: PgTable;
  /** By the database's clock, and found by an index: each batch asks anew. */
  isOver: SQL | undefined;
  /** What is emptied in a row that itself stays. */
  emptied?: Record<string, null>;
}

/** What is kept for a time only. A batch at a time: `remove` says how many rows went, 0 when there are none left. */
interface RemovedRows {
  what: string;
  remove: (tx: Tx) => Promise<number>;
}

/** What has too many rows, found by looking at all there is, a portion at a time: `walk` is given where the one before ended. */
interface WalkedRows {
  what: string;
  walk: (tx: Tx, after: string) => Promise<Walked>;
}

export interface Walked {
  removed: number;
  /** The id from which to go on; null at the end. */
  after: string | null;
}

export type Retention = OldRows | RemovedRows | WalkedRows;

/**
 * Deletes what has been kept long enough, a batch at a time, and says how many rows of what went. What fails keeps no other from its
 * turn; the first failure is thrown when all have had theirs.
 */
export async function removeExpiredRows(
  system: SystemContext,
  retentions: readonly Retention[],
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  const remove = async (retention: Retention) => {
    const walk = walkOf(retention);
    removed[retention.what] = 0;
    for (let after: string | null = firstId; after !== null;) {
      signal.throwIfAborted();
      const from: string = after;
      const portion = await system.acrossTenants('rows kept long enough go', (tx) => walk(tx, from));
      removed[retention.what] = (removed[retention.what] ?? 0) + portion.removed;
      ({ after } = portion);
    }
  };
  try {
    await processEach(retentions, remove, {
      signal,
      onFailure: ({ what }, error) =>
        system.log.error({ what, err: error }, 'rows kept long enough could not be removed'),
    });
  } finally {
    system.log.info({ removed }, 'rows kept long enough were removed');
  }
  return removed;
}

/** What is old goes batch by batch from the beginning: each takes away what the next would find. */
function walkOf(retention: Retention): WalkedRows['walk'] {
  if ('walk' in retention) return retention.walk;
  const remove = 'remove' in retention ? retention.remove : (tx: Tx) => removeBatch(tx, retention);
  return async (tx) => {
    const removed = await remove(tx);
    return { removed, after: removed > 0 ? firstId : null };
  };
}

/** By where rows lie, so that a batch is no larger than it says, whatever the key of the table. */
async function removeBatch(tx: Tx, { table, isOver, emptied }: OldRows): Promise<number> {
  const due = sql`ctid in (select ctid from ${table} where ${isOver} limit ${batch})`;
  const { rowCount } = await (emptied ? tx.update(table).set(emptied).where(due) : tx.delete(table).where(due));
  return rowCount ?? 0;
}
