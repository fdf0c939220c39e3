import { and, asc, eq, inArray, lte, notExists, sql } from 'drizzle-orm';
import { pollPlans } from '@portal/db/schema/monitoring/servers';
import { runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import type { SystemContext } from '@portal/platform/context';
import { addRuns } from '@portal/platform/runs/start';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { isModuleOn } from '../modules/module-access.ts';
import { pollServers } from './jobs.ts';
import { nextPollAt } from './poll-plan.ts';

/** Runs started per sweep; the rest waits for the next sweep. */
const batch = 500;

/**
 * Starts the due runs, each once regardless of the number of workers, and plans the next run of each tenant. If a run is still under
 * way, the next one follows its end, because the current run does not see servers added or changed since it began. Skips inactive
 * tenants and those that switched the module off.
 */
export async function startDueServerPolls(system: SystemContext): Promise<void> {
  const begun = await system.acrossTenants('due server polls of every tenant are started', async (tx) => {
    const due = tx.$with('due').as(
      tx
        .select({ tenantId: pollPlans.tenantId })
        .from(pollPlans)
        .innerJoin(tenants, and(eq(tenants.id, pollPlans.tenantId), eq(tenants.isActive, true)))
        .where(
          and(
            lte(pollPlans.nextPollAt, sql`now()`),
            isModuleOn(pollPlans.tenantId, 'virtualization'),
            notExists(
              tx
                .select({ id: runs.id })
                .from(runs)
                .where(and(eq(runs.tenantId, pollPlans.tenantId), eq(runs.kind, pollServers.name), isUnfinished)),
            ),
          ),
        )
        .orderBy(asc(pollPlans.nextPollAt))
        .limit(batch)
        .for('update', { of: pollPlans, skipLocked: true }),
    );
    const claimed = await tx
      .with(due)
      .update(pollPlans)
      .set({ nextPollAt: nextPollAt(pollPlans.tenantId) })
      .where(inArray(pollPlans.tenantId, tx.select({ tenantId: due.tenantId }).from(due)))
      .returning({ tenantId: pollPlans.tenantId });
    return claimed.length === 0 ? [] : addRuns(tx, pollServers, claimed);
  });
  for (const { id, payload } of begun) await system.enqueue(pollServers, payload, { runId: id });
}
