import { and, desc, eq, gte, lt, lte } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { isSuperAdmin } from '@portal/domain/access';
import type { UserContext } from '@portal/platform/context';

export interface AuditFilter {
  action?: string | undefined;
  actorId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  limit: number;
  /** The id the page before ended with. */
  after?: string | undefined;
}

/** Audit entries, newest first: an ADMIN's own tenant; for a SUPER_ADMIN every tenant and what is about none. */
export async function listAuditEntries(ctx: UserContext, filter: AuditFilter) {
  const query = (db: Pick<Tx, 'select'>) =>
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
          filter.action === undefined ? undefined : eq(auditEntries.action, filter.action),
          filter.actorId === undefined ? undefined : eq(auditEntries.actorId, filter.actorId),
          filter.from && gte(auditEntries.at, filter.from),
          filter.to && lte(auditEntries.at, filter.to),
          filter.after === undefined ? undefined : lt(auditEntries.id, filter.after),
        ),
      )
      .orderBy(desc(auditEntries.id))
      .limit(filter.limit + 1);
  const rows = await (isSuperAdmin(ctx.actor)
    ? ctx.acrossTenants('a SUPER_ADMIN reads the audit log', query)
    : ctx.read(query));
  const items = rows.slice(0, filter.limit);
  return { items, next: rows.length > filter.limit ? (items.at(-1)?.id ?? null) : null };
}
