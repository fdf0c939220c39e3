import { eq } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenants } from '@portal/db/schema/tenants';

/**
 * Serializes transactions of a tenant that call this, for changes that count or number rows. The lock does not block foreign keys to the
 * tenant, so no other transaction waits.
 */
export async function lockTenant(tx: Tx, tenantId: string): Promise<void> {
  await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenantId)).for('no key update');
}
