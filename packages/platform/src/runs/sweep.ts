import { and, asc, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import type { SystemContext } from '../context.ts';
import type { AnyJob } from '../jobs/job.ts';
import { runScope } from './scope.ts';
import { endRun } from './state.ts';
import { isUnfinished } from './unfinished.ts';

/** Runs per sweep; the rest follow with the next sweep. */
const batch = 500;

/**
 * Enqueues runs again whose job was lost or whose worker died, taking the tenants in turn. Skips runs of inactive tenants.
 */
export async function handOverIdleRuns(system: SystemContext, jobs: readonly AnyJob[]): Promise<void> {
  const idle = await system.acrossTenants(
    'abandoned runs of all tenants and of the platform are enqueued again',
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
      // With a limit it is looked up for each idle run: under row policies the planner expects all runs of the table to be idle, and would
      // read all tenants.
      const owner = tx
        .select({ isActive: tenants.isActive })
        .from(tenants)
        .where(eq(tenants.id, runs.tenantId))
        .limit(1)
        .as('owner');
      const due = tx.$with('due').as(
        tx
          .select({ id: runs.id })
          .from(runs)
          .innerJoin(inLine, eq(inLine.id, runs.id))
          .leftJoinLateral(owner, sql`true`)
          .where(and(isIdle, or(isNull(runs.tenantId), eq(owner.isActive, true))))
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
        error: 'This release no longer knows this kind of work.',
      });
  }
}
