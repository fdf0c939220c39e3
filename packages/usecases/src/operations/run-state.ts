import { and, eq, inArray, sql } from 'drizzle-orm';
import type { TenantScope } from '@portal/db/open';
import { runs } from '@portal/db/schema/operations';

/** A run nobody was at for this long is handed to the queue again. */
const patience = sql`now() + interval '60 seconds'`;

/** Begins of one run, retries and interruptions included. A run that kills its worker ends here. */
const maxAttempts = 20;

const isOpen = (id: string) => and(eq(runs.id, id), inArray(runs.state, ['queued', 'running']));

/** Takes a run up; false when it is over already, so that a job that comes twice does its work once. */
export async function beginRun(scope: TenantScope, id: string): Promise<boolean> {
  const [begun] = await scope.tx((tx) =>
    tx
      .update(runs)
      .set({
        state: 'running',
        startedAt: sql`coalesce(${runs.startedAt}, now())`,
        attempts: sql`${runs.attempts} + 1`,
        dueAt: patience,
      })
      .where(isOpen(id))
      .returning({ attempts: runs.attempts }),
  );
  if (!begun) return false;
  if (begun.attempts <= maxAttempts) return true;
  await endRun(scope, id, { error: 'The work was interrupted too often and was given up.' });
  return false;
}

/** Says that somebody is at it, and how far. */
export async function touchRun(
  scope: TenantScope,
  id: string,
  progress: { done: number; total: number } | null,
): Promise<void> {
  await scope.tx((tx) =>
    tx
      .update(runs)
      .set({ dueAt: patience, ...progress })
      .where(isOpen(id)),
  );
}

/** Puts a run back for a later try of its job; the sweep steps in when that try does not come. */
export async function postponeRun(scope: TenantScope, id: string, delayMs: number): Promise<void> {
  await scope.tx((tx) =>
    tx
      .update(runs)
      .set({ state: 'queued', dueAt: sql`${patience} + make_interval(secs => ${delayMs / 1000})` })
      .where(isOpen(id)),
  );
}

/** `error` is for the person who watches: one plain sentence, null for a success. */
export async function endRun(scope: TenantScope, id: string, { error }: { error: string | null }): Promise<void> {
  await scope.tx((tx) =>
    tx
      .update(runs)
      .set({ state: error === null ? 'succeeded' : 'failed', finishedAt: sql`now()`, error })
      .where(isOpen(id)),
  );
}
