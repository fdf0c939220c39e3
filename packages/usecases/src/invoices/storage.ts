import { sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { invoiceFiles, invoiceMails } from '@portal/db/schema/invoices';
import type { TenantContext } from '@portal/platform/context';

/** Of each mail that was seen, with something to keep or not: what its row takes up, generously. */
const bytesOfMail = 4_096;

const stored = prepared<Record<string, never>>()('invoice_storage', (db) => {
  const documents = db.select({ bytes: sql`sum(${invoiceFiles.sizeBytes})` }).from(invoiceFiles);
  const mails = db.select({ count: sql`count(*)` }).from(invoiceMails);
  return db
    .select({
      bytes: sql<number>`(coalesce((${documents}), 0) + ${sql.raw(`${bytesOfMail}`)} * (${mails}))::float8`.as('bytes'),
    })
    .from(sql`(select 1) as one`);
});

/**
 * The room that the invoices of the tenant at work take up, and how much there is, in bytes. Nothing of them goes by itself, and whoever
 * knows the mailbox's address may send more.
 */
export async function invoiceStorage(ctx: TenantContext): Promise<{ storedBytes: number; maxStoredBytes: number }> {
  const [row] = await ctx.run(stored, {});
  return { storedBytes: row?.bytes ?? 0, maxStoredBytes: ctx.config.invoiceStoragePerTenant };
}
