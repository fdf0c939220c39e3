import type { Database, TenantScope } from '@portal/db/open';

/** Where a run lies: in its tenant, or outside all of them. */
export type RunScope = Pick<TenantScope, 'read' | 'tx'>;

/** The scope of runs of a tenant; of null those of the platform. */
export function runScope(
  { inTenant, acrossTenants }: Pick<Database, 'inTenant' | 'acrossTenants'>,
  tenantId: string | null,
): RunScope {
  if (tenantId !== null) return inTenant(tenantId);
  const why = 'a run of the platform is no tenant’s';
  return { read: (work) => acrossTenants(why, work), tx: (work) => acrossTenants(why, work) };
}
