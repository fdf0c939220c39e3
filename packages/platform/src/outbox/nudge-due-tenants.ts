import { and, eq, inArray, lte, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { mails } from '@portal/db/schema/platform/mails';
import { tenants } from '@portal/db/schema/tenants';
import type { SystemContext } from '../context.ts';
import { nudgeMails } from './queue-mail.ts';

/** Tenants nudged per sweep; the rest waits for the next one, a few seconds later. */
const batch = 1_000;

export const tenantsWithDueMails = (tx: Tx) =>
  tx
    .selectDistinct({ tenantId: mails.tenantId })
    .from(mails)
    .innerJoin(tenants, and(eq(tenants.id, mails.tenantId), eq(tenants.isActive, true)))
    .where(and(inArray(mails.state, ['queued', 'sending']), lte(mails.dueAt, sql`now()`)))
    .limit(batch);

/** Wakes the outbox of every active tenant that has a due mail: lost nudges, retries, and leases of workers that died. */
export async function nudgeDueTenants(system: SystemContext, signal: AbortSignal): Promise<void> {
  const due = await system.acrossTenants('due mails of every tenant are looked for', tenantsWithDueMails);
  for (const { tenantId } of due) {
    signal.throwIfAborted();
    await nudgeMails(system, tenantId);
  }
}
