import type { SystemContext } from '@portal/platform/context';
import { followDeadlines } from '../settle-tenders.ts';

/** Tenders updated in one transaction. */
const batch = 1_000;

/**
 * Moves tenders whose deadline has passed to their next deadline, or closes them. Until this has run, a tender with several deadlines shows
 * the one that has passed; lists leave out closed tenders in any case.
 */
export async function passTenderDeadlines(system: SystemContext, signal: AbortSignal): Promise<void> {
  let rows: number;
  do {
    signal.throwIfAborted();
    rows = await system.acrossTenants('deadlines of tenders have passed', (tx) => followDeadlines(tx, batch));
  } while (rows > 0);
}
