import { sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { invoiceFiles, invoiceMails } from '@portal/db/schema/invoices';
import type { TenantContext } from '@portal/platform/context';

/** A generous estimate of one mail row; every mail seen counts, also without documents. */
const bytesPerMail = 4_096;

const stored = prepared<Record<string, never>>()('invoice_storage', (db) => {
  const documents = db.select({ bytes: sql`sum(${invoiceFiles.sizeBytes})` }).from(invoiceFiles);
  const mails = db.select({ count: sql`count(*)` }).from(invoiceMails);
  return db
    .select({
      bytes: sql<number>`(coalesce((${documents}), 0) + ${sql.raw(`${bytesPerMail}`)} * (${mails}))::float8`.as(
        'bytes',
      ),
    })
    .from(sql`(select 1) as one`);
});

/**
 * The storage that the tenant's invoices use, and their limit, in bytes. The limit is needed because invoices never expire, and any sender
 * who knows the mailbox address can send more. The sum is read six times an hour; a counter updated with each file would be a row that all
 * writes of the tenant wait for.
 */
export async function invoiceStorage(ctx: TenantContext): Promise<{ storedBytes: number; maxStoredBytes: number }> {
  const [row] = await ctx.run(stored, {});
  return { storedBytes: row?.bytes ?? 0, maxStoredBytes: ctx.config.invoiceStoragePerTenant };
}
