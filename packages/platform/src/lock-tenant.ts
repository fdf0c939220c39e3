import { eq } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenants } from '@portal/db/schema/tenants';

/**
 * Makes this transaction wait for every other one of the tenant that asked for the same: for changes that count rows or number them.
 * The lock leaves foreign keys to the tenant alone, so nothing else waits.
 */
export async function lockTenant(tx: Tx, tenantId: string): Promise<void> {
  await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenantId)).for('no key update');
}
