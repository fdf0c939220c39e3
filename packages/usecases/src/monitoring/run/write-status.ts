import { and, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { monitoredServers, serverStatuses } from '@portal/db/schema/monitoring/servers';
import type { KeptStatus } from '@portal/domain/monitoring/settle';
import type { TenantContext } from '@portal/platform/context';
import { holdOperation, type RunningOperation } from '@portal/platform/operations/state';
import { serverColumns, type StoredServer } from '../stored-server.ts';
import type { Memory } from './memory.ts';

/** An active server with what is known of it. */
export const serverToLookAt = prepared<{ id: string }>()('server_to_look_at', (db) =>
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
    .where(and(eq(monitoredServers.id, sql.placeholder('id')), eq(monitoredServers.isActive, true))),
);

const unchangedServer = prepared<{ id: string; revision: number }>()('server_unchanged', (db) =>
  db
    .select({ id: monitoredServers.id })
    .from(monitoredServers)
    .where(
      and(
        eq(monitoredServers.id, sql.placeholder('id')),
        eq(monitoredServers.revision, sql.placeholder('revision')),
        eq(monitoredServers.isActive, true),
      ),
    )
    .for('share'),
);

/**
 * Writes what a run found of a server, and says whether it did: nothing is written by a run that another worker has taken over, nor
 * of a server that was changed, switched off or removed since it was asked.
 */
export async function writeStatus(
  ctx: TenantContext,
  {
    server,
    run,
    status,
    memory,
    tookMs,
  }: { server: StoredServer; run: RunningOperation; status: KeptStatus; memory: Memory; tookMs: number },
): Promise<boolean> {
  return ctx.tx(async (tx) => {
    if (!(await holdOperation(tx, run))) return false;
    const unchanged = await tx.run(unchangedServer, { id: server.id, revision: server.revision });
    if (unchanged.length === 0) return false;
    const values = { ...status, runId: run.id, memory, tookMs, checkedAt: sql`now()` };
    await tx
      .insert(serverStatuses)
      .values({ id: server.id, tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: serverStatuses.id, set: values });
    return true;
  });
}
