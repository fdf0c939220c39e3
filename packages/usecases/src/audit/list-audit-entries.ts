import { and, desc, eq, gte, lt, lte, sql } from 'drizzle-orm';
import { preparedFor } from '@portal/db/prepared';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { isSuperAdmin } from '@portal/domain/access';
import { tenantNamedBy } from '@portal/domain/accounts/accounts';
import { idBound } from '@portal/domain/ids';
import { DAY } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { requireTenant } from '@portal/platform/require-tenant';

export interface AuditFilter {
  tenantId?: string | undefined;
  action?: string | undefined;
  actorId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
}

/**
 * Lists audit entries, newest first. Without `tenantId`, an ADMIN sees their own tenant, and a SUPER_ADMIN all tenants and the entries
 * without a tenant. Throws 403 if an ADMIN names another tenant, 404 if a SUPER_ADMIN names an unknown one.
 */
export async function listAuditEntries(ctx: UserContext, { tenantId: named, limit, ...filter }: AuditFilter) {
  const tenantId = tenantNamedBy(ctx.actor, named);
  if (tenantId !== null && tenantId !== ctx.tenantId) await requireTenant(ctx, tenantId);
  const { from, to } = filter;
  const params = {
    ...filter,
    limit: limit + 1,
    idFrom: from && idBound(new Date(from.getTime() - clockSlack)),
    idTo: to && idBound(new Date(to.getTime() + clockSlack)),
  };
  const page = entriesPage(params);
  const rows = await (isSuperAdmin(ctx.actor) && tenantId === null
    ? ctx.runAcrossTenants('a SUPER_ADMIN reads the audit log', page, params)
    : ctx.inTenant(tenantId ?? ctx.tenantId).run(page, params));
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Maximum difference between the clock of the database and those of the processes, which make the ids. */
const clockSlack = DAY;

const entriesPage = preparedFor<Omit<AuditFilter, 'tenantId'>>()('audit_page', (db, given) =>
  db
    .select({
      id: auditEntries.id,
      at: auditEntries.at,
      actorId: auditEntries.actorId,
      actorName: auditEntries.actorName,
      action: auditEntries.action,
      targetType: auditEntries.targetType,
      targetId: auditEntries.targetId,
      summary: auditEntries.summary,
      ip: auditEntries.ip,
    })
    .from(auditEntries)
    .where(
      and(
        given('action') ? eq(auditEntries.action, sql.placeholder('action')) : undefined,
        given('actorId') ? eq(auditEntries.actorId, sql.placeholder('actorId')) : undefined,
        given('from') ? gte(auditEntries.at, sql.placeholder('from')) : undefined,
        given('to') ? lte(auditEntries.at, sql.placeholder('to')) : undefined,
        // The query scans the ids, which begin with the time. Without this range it would first read all newer entries.
        given('from') ? gte(auditEntries.id, sql.placeholder('idFrom')) : undefined,
        given('to') ? lt(auditEntries.id, sql.placeholder('idTo')) : undefined,
        given('after') ? lt(auditEntries.id, sql.placeholder('after')) : undefined,
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(sql.placeholder('limit')),
);
