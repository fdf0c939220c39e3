import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { alertLimits } from '@portal/domain/tenders/alert-mailbox';
import type { SystemContext } from '@portal/platform/context';
import { fetchAlertMails } from '../jobs.ts';

/** Readings begun per sweep; the rest waits for the next one. */
const batch = 200;

/**
 * Begins to read the mailboxes whose time has come, each once however many workers look, and sets when each comes again: a nudge that is
 * lost costs one round. Tenants have theirs begun in turn, so that no number of one tenant's keeps those of others from being read.
 * Inactive tenants and accounts rest.
 */
export async function startDueAlertMails(system: SystemContext): Promise<void> {
  const begun = await system.acrossTenants('due mailboxes of every tenant are read', async (tx) => {
    const isDue = lte(tenderMailboxes.nextFetchAt, sql`now()`);
    const inLine = tx
      .select({
        id: tenderMailboxes.id,
        turn: sql<number>`row_number() over (partition by ${tenderMailboxes.tenantId} order by ${tenderMailboxes.nextFetchAt})`.as(
          'turn',
        ),
      })
      .from(tenderMailboxes)
      .where(isDue)
      .as('in_line');
    const due = tx.$with('due').as(
      tx
        .select({ id: tenderMailboxes.id })
        .from(tenderMailboxes)
        .innerJoin(inLine, eq(inLine.id, tenderMailboxes.id))
        .innerJoin(tenants, and(eq(tenants.id, tenderMailboxes.tenantId), eq(tenants.isActive, true)))
        .innerJoin(users, and(eq(users.id, tenderMailboxes.userId), eq(users.isActive, true)))
        .where(isDue)
        .orderBy(asc(inLine.turn), asc(tenderMailboxes.nextFetchAt))
        .limit(batch)
        .for('update', { of: tenderMailboxes, skipLocked: true }),
    );
    return (
      tx
        .with(due)
        .update(tenderMailboxes)
        // Spread a little, so that those that were set together do not come together for ever.
        .set({ nextFetchAt: sql`now() + make_interval(secs => ${alertLimits.everyMin * 60} + 20 * random())` })
        .where(inArray(tenderMailboxes.id, tx.select({ id: due.id }).from(due)))
        .returning({ tenantId: tenderMailboxes.tenantId, userId: tenderMailboxes.userId })
    );
  });
  for (const payload of begun) await system.enqueue(fetchAlertMails, payload);
}
