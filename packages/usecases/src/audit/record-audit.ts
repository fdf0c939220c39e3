import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { auditEntries } from '@portal/db/schema/audit';
import type { Actor } from '@portal/domain/access';
import type { AuditAction } from '@portal/domain/audit';
import { newId } from '@portal/domain/ids';

export interface AuditEvent {
  action: AuditAction;
  /** The tenant the entry is about; null when none is known. */
  tenantId: string | null;
  target?: {
    type: 'user' | 'tenant' | 'session' | 'group' | 'module' | 'module_category' | 'custom_module';
    id: string;
  };
  /** One English sentence; never a secret value. */
  summary: string;
}

const insertEntry = prepared<{
  id: string;
  tenantId: string | null;
  actorId: string | null;
  actorName: string | null;
  action: string;
  targetType: string | null;
  targetId: string | null;
  summary: string;
  ip: string | null;
}>()('audit_insert', (db) =>
  db
    .insert(auditEntries)
    .values({
      id: sql.placeholder('id'),
      tenantId: sql.placeholder('tenantId'),
      actorId: sql.placeholder('actorId'),
      actorName: sql.placeholder('actorName'),
      action: sql.placeholder('action'),
      targetType: sql.placeholder('targetType'),
      targetId: sql.placeholder('targetId'),
      summary: sql.placeholder('summary'),
      ip: sql.placeholder('ip'),
    })
    .returning({ id: auditEntries.id }),
);

/** Writes an audit entry in the transaction of the deed itself: neither exists without the other. */
export async function recordAudit(
  tx: Tx,
  by: { actor?: Pick<Actor, 'id' | 'username'>; ip: string | null },
  event: AuditEvent,
): Promise<void> {
  await tx.run(insertEntry, {
    id: newId(),
    tenantId: event.tenantId,
    actorId: by.actor?.id ?? null,
    actorName: by.actor?.username ?? null,
    action: event.action,
    targetType: event.target?.type ?? null,
    targetId: event.target?.id ?? null,
    summary: event.summary.slice(0, 500),
    ip: by.ip,
  });
}
