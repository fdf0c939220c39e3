import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { runs } from '@portal/db/schema/platform/operations';
import type { RunScope } from './scope.ts';
import { isUnfinished } from './unfinished.ts';

/** A run nobody was at for this long is handed to the queue again. */
const patience = sql`now() + interval '60 seconds'`;

/** Begins of one run, retries and interruptions included. A run that kills its worker ends here. */
const maxAttempts = 20;

/** `attempt`: only while no later try has taken it up. */
const isOpen = (id: string, attempt?: number) =>
  and(eq(runs.id, id), isUnfinished, attempt === undefined ? undefined : eq(runs.attempts, attempt));

/** A run at work. */
export interface RunAtWork {
  id: string;
  /** Which try of the run this is, from 1: a later one takes over from a worker that stalled. */
  attempt: number;
}

/** Takes a run up; null when it is over already, so that a job that comes twice does its work once. */
export async function beginRun(scope: RunScope, id: string): Promise<RunAtWork | null> {
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
  if (!begun) return null;
  if (begun.attempts <= maxAttempts) return { id, attempt: begun.attempts };
  await endRun(scope, { id }, { error: 'The work was interrupted too often and was given up.' });
  return null;
}

/**
 * Holds a run for the rest of the transaction; false when it is over or another worker took it up since. A transaction that
 * begins with it changes nothing behind the back of that other one.
 */
export async function holdRun(tx: Tx, { id, attempt }: RunAtWork): Promise<boolean> {
  const held = await tx
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.id, id), eq(runs.state, 'running'), eq(runs.attempts, attempt)))
    .for('share');
  return held.length > 0;
}

/** Says that somebody is at it, and how far. */
export async function touchRun(
  scope: RunScope,
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
export async function postponeRun(scope: RunScope, { id, attempt }: RunAtWork, delayMs: number): Promise<void> {
  await scope.tx((tx) =>
    tx
      .update(runs)
      .set({ state: 'queued', dueAt: sql`${patience} + make_interval(secs => ${delayMs / 1000})` })
      .where(isOpen(id, attempt)),
  );
}

/** `error` is for the person who watches: one plain sentence, null for a success. A try that was overtaken ends nothing. */
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
