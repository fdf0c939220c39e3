import { and, asc, eq, inArray, lte, notExists, sql } from 'drizzle-orm';
import { invoiceMailboxes } from '@portal/db/schema/invoices';
import { runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import { fetchEveryMin } from '@portal/domain/invoices/limits';
import type { SystemContext } from '@portal/platform/context';
import { addRuns } from '@portal/platform/runs/start';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { isModuleOn } from '../modules/module-access.ts';
import { fetchInvoices } from './jobs.ts';

/** Fetches started per sweep; the rest wait for the next sweep. */
const batch = 200;

/**
 * Starts the fetches that are due and schedules the next ones. Concurrent workers start each fetch only once. A mailbox that is switched
 * off is due only for mails that a manual fetch left over. While a fetch runs, the mailbox stays due and starts after it. Inactive tenants
 * and tenants that switched the module off are skipped.
 */
export async function startDueInvoiceFetches(system: SystemContext): Promise<void> {
  const started = await system.acrossTenants('start the due invoice fetches of all tenants', async (tx) => {
    const due = tx.$with('due').as(
      tx
        .select({ id: invoiceMailboxes.id })
        .from(invoiceMailboxes)
        .innerJoin(tenants, and(eq(tenants.id, invoiceMailboxes.tenantId), eq(tenants.isActive, true)))
        .where(
          and(
            lte(invoiceMailboxes.nextFetchAt, sql`now()`),
            isModuleOn(invoiceMailboxes.tenantId, 'invoice-mailbox'),
            notExists(
              tx
                .select({ id: runs.id })
                .from(runs)
                .where(
                  and(eq(runs.tenantId, invoiceMailboxes.tenantId), eq(runs.kind, fetchInvoices.name), isUnfinished),
                ),
            ),
          ),
        )
        .orderBy(asc(invoiceMailboxes.nextFetchAt))
        .limit(batch)
        .for('update', { of: invoiceMailboxes, skipLocked: true }),
    );
    const claimed = await tx
      .with(due)
      .update(invoiceMailboxes)
      .set({
        nextFetchAt: sql`case when ${invoiceMailboxes.isActive} then now() + make_interval(mins => ${fetchEveryMin}) end`,
      })
      .where(inArray(invoiceMailboxes.id, tx.select({ id: due.id }).from(due)))
      .returning({ tenantId: invoiceMailboxes.tenantId });
    return claimed.length === 0 ? [] : addRuns(tx, fetchInvoices, claimed);
  });
  for (const { id, payload } of started) await system.enqueue(fetchInvoices, payload, { runId: id });
}
