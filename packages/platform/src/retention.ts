import { type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Tx } from '@portal/db/open';
import type { SystemContext } from './context.ts';
import { processEach } from './process-each.ts';

/** Rows per statement: few enough not to disturb other work. */
const batch = 5_000;
/** Smaller than every id. */
const firstId = '00000000-0000-0000-0000-000000000000';

interface OldRows {
  /** Name for the log. */
  what: string;
  table: PgTable;
  /** Uses the database's clock, and an index, because each batch evaluates it again. */
  isOver: SQL | undefined;
  /** Columns to set to null instead of deleting the row. */
  emptied?: Record<string, null>;
}

/** Removes expired rows in batches: `remove` returns the number of removed rows, 0 if none are left. */
interface RemovedRows {
  what: string;
  remove: (tx: Tx) => Promise<number>;
}

/** Removes surplus rows by walking through the whole table in portions: `walk` gets the position where the last portion ended. */
interface WalkedRows {
  what: string;
  walk: (tx: Tx, after: string) => Promise<Walked>;
}

export interface Walked {
  removed: number;
  /** The id after which to continue; null at the end. */
  after: string | null;
}

export type Retention = OldRows | RemovedRows | WalkedRows;

/**
 * Removes expired rows in batches and returns the number of removed rows by kind. Continues after a failure, and throws the first failure
 * at the end.
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
      const portion = await system.acrossTenants('expired rows are removed', (tx) => walk(tx, from));
      removed[retention.what] = (removed[retention.what] ?? 0) + portion.removed;
      ({ after } = portion);
    }
  };
  try {
    await processEach(retentions, remove, {
      signal,
      onFailure: ({ what }, error) => system.log.error({ what, err: error }, 'expired rows could not be removed'),
    });
  } finally {
    system.log.info({ removed }, 'expired rows were removed');
  }
  return removed;
}

/** Each batch of expired rows starts from the beginning, because the previous batch has removed its rows. */
function walkOf(retention: Retention): WalkedRows['walk'] {
  if ('walk' in retention) return retention.walk;
  const remove = 'remove' in retention ? retention.remove : (tx: Tx) => removeBatch(tx, retention);
  return async (tx) => {
    const removed = await remove(tx);
    return { removed, after: removed > 0 ? firstId : null };
  };
}

/** Selects rows by `ctid`, so that the batch size holds for tables with any key. */
async function removeBatch(tx: Tx, { table, isOver, emptied }: OldRows): Promise<number> {
  const due = sql`ctid in (select ctid from ${table} where ${isOver} limit ${batch})`;
  const { rowCount } = await (emptied ? tx.update(table).set(emptied).where(due) : tx.delete(table).where(due));
  return rowCount ?? 0;
}
