import { eq } from 'drizzle-orm';
import { tenants } from '@portal/db/schema/tenants';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from './context.ts';

/** Throws 404 unless a tenant with this id exists; for requests in which a SUPER_ADMIN names a tenant. */
export async function requireTenant(ctx: UserContext, tenantId: string): Promise<void> {
  const [tenant] = await ctx
    .inTenant(tenantId)
    .read((db) => db.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenantId)));
  if (!tenant) throw notFound();
}
