import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import { ldapConfigs, ldapSyncRuns } from '@portal/db/schema/directory';
import { tenants } from '@portal/db/schema/tenants';
import type { SystemContext } from '@portal/platform/context';
import { addRuns } from '@portal/platform/runs/start';
import { syncDirectory } from './jobs.ts';
import { nextSyncAt } from './next-sync.ts';

/** Maximum synchronizations started per sweep; the rest waits for the next one. */
const batch = 200;

/**
 * Starts the synchronizations that are due, each once even with several workers, and plans the next ones. Skips tenants whose
 * synchronization is still running. Inactive tenants get one synchronization once they are active again.
 */
export async function startDueDirectorySyncs(system: SystemContext): Promise<void> {
  const started = await system.acrossTenants('the schedule starts due synchronizations of all tenants', async (tx) => {
    const due = tx.$with('due').as(
      tx
        .select({ id: ldapConfigs.id })
        .from(ldapConfigs)
        .innerJoin(tenants, and(eq(tenants.id, ldapConfigs.tenantId), eq(tenants.isActive, true)))
        .where(and(eq(ldapConfigs.isActive, true), lte(ldapConfigs.nextSyncAt, sql`now()`)))
        .orderBy(asc(ldapConfigs.nextSyncAt))
        .limit(batch)
        .for('update', { of: ldapConfigs, skipLocked: true }),
    );
    const claimed = await tx
      .with(due)
      .update(ldapConfigs)
      .set({ nextSyncAt })
      .where(inArray(ldapConfigs.id, tx.select({ id: due.id }).from(due)))
      .returning({ tenantId: ldapConfigs.tenantId });
    if (claimed.length === 0) return [];
    const added = await addRuns(
      tx,
      syncDirectory,
      claimed.map(({ tenantId }) => ({ tenantId, force: false })),
    );
    if (added.length > 0)
      await tx
        .insert(ldapSyncRuns)
        .values(added.map(({ id, payload: { tenantId } }) => ({ id, tenantId, trigger: 'schedule' as const })));
    return added;
  });
  for (const { id, payload } of started) await system.enqueue(syncDirectory, payload, { runId: id });
}
