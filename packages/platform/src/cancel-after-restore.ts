import type { Tx } from '@portal/db/open';
import type { SystemContext } from './context.ts';

/**
 * Notifications that were pending when a backup was made. After a restore they have already been sent, or come too late. The database
 * cannot know that it is a copy, so the operator says so. A maximum age of mails would need no operator, but would lose mails during a
 * long outage of the mail server.
 */
export interface RestoreCancellation {
  /** Shown to the operator. */
  what: string;
  /** Cancels a batch silently and returns its size; 0 if none is left. */
  cancel: (tx: Tx) => Promise<number>;
}

/** Cancels the pending notifications of a restored database and returns their number by kind. Call it before any app runs. */
export async function cancelPending(
  { acrossTenants }: Pick<SystemContext, 'acrossTenants'>,
  cancellations: readonly RestoreCancellation[],
): Promise<Record<string, number>> {
  const cancelled: Record<string, number> = {};
  for (const { what, cancel } of cancellations) {
    let count = 0;
    let last: number;
    do {
      last = await acrossTenants('pending notifications of a restored database are cancelled', cancel);
      count += last;
    } while (last > 0);
    cancelled[what] = count;
  }
  return cancelled;
}
