import { sql, type WithSubquery } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { type RowOf, valuesOf } from '@portal/db/row-of';
import { auditEntries } from '@portal/db/schema/platform/audit';
import type { Actor } from '@portal/domain/access';
import { newId } from '@portal/domain/ids';

export interface AuditEvent<Action extends string = string> {
  /** `area.what` */
  action: Action;
  /** The tenant the entry is about; null when none is known. */
  tenantId: string | null;
  target?: {
    type:
      | 'user'
      | 'tenant'
      | 'session'
      | 'group'
      | 'module'
      | 'module_category'
      | 'custom_module'
      | 'cloud_instance'
      | 'server'
      | 'invoice'
      | 'rss_feed'
      | 'tender_source'
      | 'queue';
    id: string;
  };
  /** One English sentence; never a secret value. */
  summary: string;
}

/** An audit entry as statements name it. */
export interface AuditParams extends Record<string, unknown> {
  entryId: string;
  tenantId: string | null;
  actorId: string | null;
  actorName: string | null;
  action: string;
  targetType: string | null;
  targetId: string | null;
  summary: string;
  ip: string | null;
}

const entry = {
  id: sql<string>`${sql.placeholder('entryId')}::uuid`,
  tenantId: sql<string>`${sql.placeholder('tenantId')}::uuid`,
  at: sql<Date>`now()`,
  actorId: sql<string>`${sql.placeholder('actorId')}::uuid`,
  actorName: sql<string>`${sql.placeholder('actorName')}::text`,
  action: sql<string>`${sql.placeholder('action')}::text`,
  targetType: sql<string>`${sql.placeholder('targetType')}::text`,
  targetId: sql<string>`${sql.placeholder('targetId')}::text`,
  summary: sql<string>`${sql.placeholder('summary')}::text`,
  ip: sql<string>`${sql.placeholder('ip')}::text`,
} satisfies RowOf<typeof auditEntries>;

const insertEntry = prepared<AuditParams>()('audit_insert', (db) =>
  db.insert(auditEntries).values(entry).returning({ id: auditEntries.id }),
);

/** Who did it, and from where. */
interface By {
  actor?: Pick<Actor, 'id' | 'username'>;
  ip: string | null;
}

/** How an area notes what it did, in the transaction of the deed itself. */
export type RecordAudit<Action extends string> = (tx: Tx, by: By, event: AuditEvent<Action>) => Promise<void>;

/** The audit log as an area writes it: with the actions it has declared and no others. */
export const auditLog = <const Action extends string>(...actions: Action[]) => ({
  auditActions: actions,

  /** Writes an audit entry in the transaction of the deed itself: neither exists without the other. */
  async recordAudit(tx: Tx, by: By, event: AuditEvent<Action>): Promise<void> {
    await tx.run(insertEntry, paramsOf(by, event));
  },

  /** An audit entry for `auditOf`. */
  auditParams: (by: By, event: AuditEvent<Action>): AuditParams => paramsOf(by, event),
});

/** Part of a statement with the parameters of `auditParams`: the entry, if `deed` has a row. */
export const auditOf = (db: Pick<Tx, 'insert' | 'select'>, deed: WithSubquery) =>
  db
    .insert(auditEntries)
    .select(sql`select ${valuesOf(auditEntries, entry)} from ${deed}`)
    .returning({ id: auditEntries.id });

const paramsOf = ({ actor, ip }: By, event: AuditEvent): AuditParams => ({
  entryId: newId(),
  tenantId: event.tenantId,
  actorId: actor?.id ?? null,
  actorName: actor?.username ?? null,
  action: event.action,
  targetType: event.target?.type ?? null,
  targetId: event.target?.id ?? null,
  summary: event.summary.slice(0, 500),
  ip,
});
