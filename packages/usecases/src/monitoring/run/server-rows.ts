import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm';
import { monitoredServers, serverStatuses } from '@portal/db/schema/monitoring/servers';
import type { KeptStatus } from '@portal/domain/monitoring/settle';
import type { TenantContext } from '@portal/platform/context';
import { holdOperation, type RunningOperation } from '@portal/platform/operations/state';
import { together } from '@portal/platform/together';
import { serverColumns, type StoredServer } from '../stored-server.ts';
import type { Memory } from './memory.ts';

/** What a run found of a server. */
export interface Finding {
  server: StoredServer;
  status: KeptStatus;
  memory: Memory;
  tookMs: number;
}

/** The rows of a run: several servers share a statement where several begin or end at the same time. */
export interface ServerRows {
  /** An active server with what is known of it; undefined for one that was switched off or removed. */
  read(id: string): Promise<StoredLook | undefined>;
  /**
   * Writes what was found, and says whether it did: nothing is written by a run that another worker has taken over, nor of a server
   * that was changed, switched off or removed since it was asked.
   */
  write(finding: Finding): Promise<boolean>;
}

type StoredLook = { server: StoredServer; status: unknown; memory: unknown };

/** Servers that share a statement. */
const most = 50;

export function openServerRows(ctx: TenantContext, run: RunningOperation): ServerRows {
  return {
    read: together(
      async (ids: string[]) => {
        const rows = await ctx.read((db) => storedLooks(db, ids));
        const byId = new Map(rows.map((row) => [row.server.id, row]));
        return ids.map((id): StoredLook | undefined => byId.get(id));
      },
      { most },
    ),
    write: together((findings: Finding[]) => writeAll(ctx, run, findings), { most }),
  };
}

const storedLooks = (db: Parameters<Parameters<TenantContext['read']>[0]>[0], ids: string[]) =>
  db
    .select({
      server: serverColumns,
      status: {
        state: serverStatuses.state,
        failure: serverStatuses.failure,
        message: serverStatuses.message,
        checkedAt: serverStatuses.checkedAt,
        lastOkAt: serverStatuses.lastOkAt,
        headline: serverStatuses.headline,
        facts: serverStatuses.facts,
        rules: serverStatuses.rules,
        notExamined: serverStatuses.notExamined,
        changes: serverStatuses.changes,
        missed: serverStatuses.missed,
      },
      memory: serverStatuses.memory,
    })
    .from(monitoredServers)
    .leftJoin(serverStatuses, eq(serverStatuses.id, monitoredServers.id))
    .where(and(inArray(monitoredServers.id, ids), eq(monitoredServers.isActive, true)));

const { id: _, tenantId: __, ...written } = getTableColumns(serverStatuses);
/** Every column takes the value of the row that could not be inserted. */
const asInserted = Object.fromEntries(
  Object.entries(written).map(([name, column]) => [
    name,
    sql.raw(`excluded.${column.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
  ]),
);

function writeAll(ctx: TenantContext, run: RunningOperation, findings: Finding[]): Promise<boolean[]> {
  return ctx.tx(async (tx) => {
    if (!(await holdOperation(tx, run))) return findings.map(() => false);
    const ids = findings.map(({ server }) => server.id).toSorted();
    const present = await tx
      .select({ id: monitoredServers.id, revision: monitoredServers.revision })
      .from(monitoredServers)
      .where(and(inArray(monitoredServers.id, ids), eq(monitoredServers.isActive, true)))
      .orderBy(monitoredServers.id)
      .for('share');
    const revisions = new Map(present.map(({ id, revision }) => [id, revision]));
    const isUnchanged = ({ server }: Finding) => revisions.get(server.id) === server.revision;
    const rows = findings.filter(isUnchanged).map(({ server, status, memory, tookMs }) => ({
      ...status,
      id: server.id,
      tenantId: ctx.tenantId,
      runId: run.id,
      memory,
      tookMs,
      checkedAt: sql`now()`,
    }));
    if (rows.length > 0)
      await tx.insert(serverStatuses).values(rows).onConflictDoUpdate({ target: serverStatuses.id, set: asInserted });
    return findings.map(isUnchanged);
  });
}
