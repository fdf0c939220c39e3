import type { SystemContext } from '@portal/platform/context';
import { followDeadlines } from '../settle-tenders.ts';

/** Tenders updated in one transaction. */
const batch = 1_000;

/** Moves tenders whose deadline has passed to their next deadline, or closes them. */
export async function passTenderDeadlines(system: SystemContext, signal: AbortSignal): Promise<void> {
  let rows: number;
  do {
    signal.throwIfAborted();
    rows = await system.acrossTenants('deadlines of tenders have passed', (tx) => followDeadlines(tx, batch));
  } while (rows > 0);
}
