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

/** An audit entry as statement parameters. */
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

/** The actor and the client's address. */
interface By {
  actor?: Pick<Actor, 'id' | 'username'>;
  ip: string | null;
}

/** Writes an audit entry of the area, in the transaction of the change. */
export type RecordAudit<Action extends string> = (tx: Tx, by: By, event: AuditEvent<Action>) => Promise<void>;

/** The audit log of an area, limited to the area's declared actions. */
export const auditLog = <const Action extends string>(...actions: Action[]) => ({
  auditActions: actions,

  /** Writes an audit entry in the transaction of the change, so that neither exists without the other. */
  async recordAudit(tx: Tx, by: By, event: AuditEvent<Action>): Promise<void> {
    await tx.run(insertEntry, paramsOf(by, event));
  },

  /** The parameters for `auditOf`. */
  auditParams: (by: By, event: AuditEvent<Action>): AuditParams => paramsOf(by, event),
});

/** Part of a statement with the parameters of `auditParams`: writes the entry if `change` has a row. */
export const auditOf = (db: Pick<Tx, 'insert' | 'select'>, change: WithSubquery) =>
  db
    .insert(auditEntries)
    .select(sql`select ${valuesOf(auditEntries, entry)} from ${change}`)
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
