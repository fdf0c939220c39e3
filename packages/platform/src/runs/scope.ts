import type { Database, TenantScope } from '@portal/db/open';

/** The scope of a run: its tenant, or the platform. */
export type RunScope = Pick<TenantScope, 'read' | 'tx'>;

/** The scope for runs of a tenant; null for runs of the platform. */
export function runScope(
  { inTenant, acrossTenants }: Pick<Database, 'inTenant' | 'acrossTenants'>,
  tenantId: string | null,
): RunScope {
  if (tenantId !== null) return inTenant(tenantId);
  const why = 'runs of the platform belong to no tenant';
  return { read: (work) => acrossTenants(why, work), tx: (work) => acrossTenants(why, work) };
}
