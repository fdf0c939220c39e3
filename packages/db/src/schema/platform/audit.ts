import { sql } from 'drizzle-orm';
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, tenantPolicies } from '../columns.ts';

/**
 * Who did what, written in the transaction of the change. `tenantId` is the tenant that the entry is about; only SUPER_ADMIN sees
 * entries without one (an unknown username). No foreign keys: an entry outlives its subject.
 * The apps add and read entries but may neither change nor delete them.
 */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: uuid().primaryKey(),
    tenantId: uuid(),
    at: createdAt(),
    actorId: uuid(),
    actorName: text(),
    action: text().notNull(),
    targetType: text(),
    targetId: text(),
    summary: text().notNull(),
    ip: text(),
  },
  (t) => [
    index('audit_entries_tenant').on(t.tenantId, t.id),
    index('audit_entries_tenant_action').on(t.tenantId, t.action, t.id),
    index('audit_entries_tenant_actor').on(t.tenantId, t.actorId, t.id),
    // For a SUPER_ADMIN's queries over all tenants.
    index('audit_entries_action').on(t.action, t.id),
    index('audit_entries_actor').on(t.actorId, t.id),
    index('audit_entries_at').on(t.at),
    ...tenantPolicies(t.tenantId),
  ],
);

/** Removes a batch of entries older than 400 days and returns their number as `removed`. There is no other way to remove entries. */
export const removeExpiredAuditEntries = sql`select portal_remove_expired_audit_entries() as removed`;
