import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { runs } from '@portal/db/schema/platform/operations';
import type { UserContext } from '@portal/platform/context';
import { addOperation } from '@portal/platform/operations/start';
import { discoverIcon } from './jobs.ts';

/**
 * The run that will look for a favorite's icon as it stands after this transaction: one that has not begun yet, else a new one.
 * One at work may have read the favorite already, and does not count. The job is handed over after the commit.
 */
export async function addIconSearch(tx: Tx, ctx: UserContext, favoriteId: string): Promise<string> {
  // Locked: a worker about to begin it waits for what is written here.
  const [waiting] = await tx
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(
        eq(runs.state, 'queued'),
        eq(runs.kind, discoverIcon.name),
        sql`${runs.payload}->>'favoriteId' = ${favoriteId}`,
      ),
    )
    .limit(1)
    .for('update');
  return (
    waiting?.id ?? addOperation(tx, discoverIcon, { tenantId: ctx.tenantId, favoriteId }, { startedBy: ctx.actor.id })
  );
}
