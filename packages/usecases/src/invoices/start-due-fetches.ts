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

/** Fetches begun per sweep; the rest waits for the next one. */
const batch = 200;

/**
 * Begins the fetches whose time has come, each once however many workers look, and sets when each comes again; of a mailbox that is
 * switched off only what a fetch by hand has left over. Where one is still under way the next follows its end; inactive
 * tenants and those that switched the module off rest.
 */
export async function startDueInvoiceFetches(system: SystemContext): Promise<void> {
  const begun = await system.acrossTenants('due fetches of invoices of every tenant are begun', async (tx) => {
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
  for (const { id, payload } of begun) await system.enqueue(fetchInvoices, payload, { runId: id });
}
