import type { Tx } from '@portal/db/open';
import type { SystemContext } from './context.ts';

/** What waits to be told when a backup is made. After a restore it has been told since, or comes too late. */
export interface RestoreCancellation {
  /** Named to the operator. */
  what: string;
  /** Ends some of it without a word: says how many, 0 when none is left. */
  cancel: (tx: Tx) => Promise<number>;
}

/** Ends what a restored database would tell a second time, and says how much of what. Nothing may run on it yet. */
export async function cancelPending(
  { acrossTenants }: Pick<SystemContext, 'acrossTenants'>,
  cancellations: readonly RestoreCancellation[],
): Promise<Record<string, number>> {
  const cancelled: Record<string, number> = {};
  for (const { what, cancel } of cancellations) {
    let count = 0;
    let last: number;
    do {
      last = await acrossTenants('a restored database tells nothing of the past', cancel);
      count += last;
    } while (last > 0);
    cancelled[what] = count;
  }
  return cancelled;
}
