import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { alertLimits } from '@portal/domain/tenders/alert-mailbox';
import type { SystemContext } from '@portal/platform/context';
import { fetchAlertMails } from '../jobs.ts';

/** Readings started per sweep; the rest waits for the next sweep. */
const batch = 200;

/**
 * Starts to read the mailboxes that are due, each once even if several workers run this, and sets their next time: a lost nudge costs one
 * round. Tenants take turns, so that a tenant with many mailboxes does not delay those of others. Mailboxes of inactive tenants and
 * accounts are not read.
 */
export async function startDueAlertMails(system: SystemContext): Promise<void> {
  const started = await system.acrossTenants('due mailboxes of every tenant are read', async (tx) => {
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
        // Random offset, so that mailboxes that were saved together do not stay together.
        .set({ nextFetchAt: sql`now() + make_interval(secs => ${alertLimits.everyMin * 60} + 20 * random())` })
        .where(inArray(tenderMailboxes.id, tx.select({ id: due.id }).from(due)))
        .returning({ tenantId: tenderMailboxes.tenantId, userId: tenderMailboxes.userId })
    );
  });
  for (const payload of started) await system.enqueue(fetchAlertMails, payload);
}
