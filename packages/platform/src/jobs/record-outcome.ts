import { sql } from 'drizzle-orm';
import type { Database } from '@portal/db/open';
import { jobOutcomes } from '@portal/db/schema/platform/operations';

/** Keeps how a job last went, for operators. */
export async function recordOutcome(
  acrossTenants: Database['acrossTenants'],
  outcome: { name: string; state: 'succeeded' | 'failed'; ms: number },
): Promise<void> {
  const last = { lastRunAt: sql`now()`, lastState: outcome.state, lastDurationMs: Math.round(outcome.ms) };
  await acrossTenants('how a job went is no tenant’s', (tx) =>
    tx
      .insert(jobOutcomes)
      .values({ name: outcome.name, ...last })
      .onConflictDoUpdate({ target: jobOutcomes.name, set: { ...last, runs: sql`${jobOutcomes.runs} + 1` } }),
  );
}
