import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { runs } from '@portal/db/schema/platform/operations';
import type { RunScope } from './scope.ts';
import { isUnfinished } from './unfinished.ts';

/** When the sweep takes a run for abandoned and enqueues it again. */
const leaseEnd = sql`now() + interval '60 seconds'`;

/** Attempts per run, including retries and interruptions; ends runs that kill their workers. */
const maxAttempts = 20;

/** With `attempt`: only if no later attempt has begun. */
const isOpen = (id: string, attempt?: number) =>
  and(eq(runs.id, id), isUnfinished, attempt === undefined ? undefined : eq(runs.attempts, attempt));

/** A running run. */
export interface RunAtWork {
  id: string;
  /** Number of the attempt, from 1; a later attempt takes over from a stalled worker. */
  attempt: number;
}

/** Begins a run; null if it is already finished, so that a job that is delivered twice does its work once. */
export async function beginRun(scope: RunScope, id: string): Promise<RunAtWork | null> {
  const [begun] = await scope.tx((tx) =>
    tx
      .update(runs)
      .set({
        state: 'running',
        startedAt: sql`coalesce(${runs.startedAt}, now())`,
        attempts: sql`${runs.attempts} + 1`,
        dueAt: leaseEnd,
      })
      .where(isOpen(id))
      .returning({ attempts: runs.attempts }),
  );
  if (!begun) return null;
  if (begun.attempts <= maxAttempts) return { id, attempt: begun.attempts };
  await endRun(scope, { id }, { error: 'The work was interrupted too often and was given up.' });
  return null;
}

/**
 * Locks a run for the rest of the transaction; false if it is finished or another worker has taken it over. A transaction that begins with
 * this call cannot interfere with that worker.
 */
export async function holdRun(tx: Tx, { id, attempt }: RunAtWork): Promise<boolean> {
  const held = await tx.run(heldRun, { id, attempt });
  return held.length > 0;
}

const heldRun = prepared<{ id: string; attempt: number }>()('run_hold', (db) =>
  db
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(eq(runs.id, sql.placeholder('id')), eq(runs.state, 'running'), eq(runs.attempts, sql.placeholder('attempt'))),
    )
    .for('share'),
);

/** Extends the lease of a run, and stores its progress. */
export async function touchRun(
  scope: RunScope,
  id: string,
  progress: { done: number; total: number } | null,
): Promise<void> {
  await scope.tx((tx) =>
    tx
      .update(runs)
      .set({ dueAt: leaseEnd, ...progress })
      .where(isOpen(id)),
  );
}

/** Postpones a run to the next attempt of its job; the sweep takes over if that attempt does not come. */
export async function postponeRun(scope: RunScope, { id, attempt }: RunAtWork, delayMs: number): Promise<void> {
  await scope.tx((tx) =>
    tx
      .update(runs)
      .set({ state: 'queued', dueAt: sql`${leaseEnd} + make_interval(secs => ${delayMs / 1000})` })
      .where(isOpen(id, attempt)),
  );
}

/** Finishes a run. `error` is one plain sentence for the user; null means success. An attempt that was taken over changes nothing. */
export async function endRun(
  scope: RunScope,
  { id, attempt }: Pick<RunAtWork, 'id'> & Partial<RunAtWork>,
  { error }: { error: string | null },
): Promise<void> {
  await scope.tx((tx) =>
    tx
      .update(runs)
      .set({ state: error === null ? 'succeeded' : 'failed', finishedAt: sql`now()`, error })
      .where(isOpen(id, attempt)),
  );
}
