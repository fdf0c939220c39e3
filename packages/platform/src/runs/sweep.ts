import { and, asc, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import type { SystemContext } from '../context.ts';
import type { AnyJob } from '../jobs/job.ts';
import { runScope } from './scope.ts';
import { endRun } from './state.ts';
import { isUnfinished } from './unfinished.ts';

/** Runs handed over per sweep; the rest waits for the next one. */
const batch = 500;

/**
 * Hands runs to the queue again that nobody picked up or whose worker is gone, those of each tenant in turn. Those of inactive tenants rest.
 */
export async function handOverIdleRuns(system: SystemContext, jobs: readonly AnyJob[]): Promise<void> {
  const idle = await system.acrossTenants(
    'idle runs of every tenant and of the platform are handed over',
    async (tx) => {
      const isIdle = and(isUnfinished, lte(runs.dueAt, sql`now()`));
      const inLine = tx
        .select({
          id: runs.id,
          turn: sql<number>`row_number() over (partition by ${runs.tenantId} order by ${runs.dueAt})`.as('turn'),
        })
        .from(runs)
        .where(isIdle)
        .as('in_line');
      const due = tx.$with('due').as(
        tx
          .select({ id: runs.id })
          .from(runs)
          .innerJoin(inLine, eq(inLine.id, runs.id))
          .leftJoin(tenants, eq(tenants.id, runs.tenantId))
          .where(and(isIdle, or(isNull(runs.tenantId), eq(tenants.isActive, true))))
          .orderBy(asc(inLine.turn), asc(runs.dueAt))
          .limit(batch)
          .for('update', { of: runs, skipLocked: true }),
      );
      return tx
        .with(due)
        .update(runs)
        .set({ dueAt: sql`now() + interval '60 seconds'` })
        .where(inArray(runs.id, tx.select({ id: due.id }).from(due)))
        .returning({ id: runs.id, tenantId: runs.tenantId, kind: runs.kind, payload: runs.payload });
    },
  );
  for (const run of idle) {
    const job = jobs.find(({ name }) => name === run.kind);
    const payload = job?.payload.safeParse(run.payload);
    if (job && payload?.success) await system.enqueue(job, payload.data, { runId: run.id });
    else
      await endRun(runScope(system, run.tenantId), run, {
        error: 'This release does not know this kind of work any more.',
      });
  }
}
