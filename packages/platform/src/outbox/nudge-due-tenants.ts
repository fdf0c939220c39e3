import { and, eq, inArray, lte, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { mails } from '@portal/db/schema/platform/mails';
import { tenants } from '@portal/db/schema/tenants';
import type { SystemContext } from '../context.ts';
import { nudgeMails } from './queue-mail.ts';

/** Tenants nudged per sweep; the rest follow with the next sweep, a few seconds later. */
const batch = 1_000;

/** Active tenants with due mails. Looks up each such tenant once, regardless of how many of its mails are due. */
export function tenantsWithDueMails(tx: Tx) {
  const due = tx
    .selectDistinct({ tenantId: mails.tenantId })
    .from(mails)
    .where(and(inArray(mails.state, ['queued', 'sending']), lte(mails.dueAt, sql`now()`)))
    .as('due');
  // Not a join: PostgreSQL can only guess how many tenants have due mails, and it reads all tenants if it guesses too many.
  const isActive = tx.select({ isActive: tenants.isActive }).from(tenants).where(eq(tenants.id, due.tenantId));
  return tx
    .select({ tenantId: due.tenantId })
    .from(due)
    .where(sql`(${isActive})`)
    .limit(batch);
}

/** Nudges the outbox of every active tenant with a due mail: after lost nudges, for retries, and after expired leases of dead workers. */
export async function nudgeDueTenants(system: SystemContext, signal: AbortSignal): Promise<void> {
  const due = await system.acrossTenants('due mails of all tenants are found', tenantsWithDueMails);
  for (const { tenantId } of due) {
    signal.throwIfAborted();
    await nudgeMails(system, tenantId);
  }
}
