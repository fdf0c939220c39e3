import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { runs } from '@portal/db/schema/platform/operations';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '../context.ts';
import type { AnyJob, PayloadOf, TenantJob } from '../jobs/job.ts';
import { isUnfinished } from './unfinished.ts';

/**
 * Starts work that the actor may watch with `GET /runs/:id`: writes the row, then enqueues the job. Runs of platform jobs belong to no
 * tenant, and every SUPER_ADMIN may watch them. The row contains the payload, so the payload must not contain secrets.
 * Throws 409 while a run with the same subject is unfinished, see `conflictWithUnfinished`.
 */
export async function startRun<Job extends AnyJob>(
  ctx: UserContext,
  job: Job,
  payload: PayloadOf<Job>,
): Promise<{ runId: string }> {
  const add = (tx: Tx) => addRun(tx, job, payload, { startedBy: ctx.actor.id });
  const added = job.scope === 'tenant' ? ctx.tx(add) : ctx.acrossTenants('work of the platform is started', add);
  const runId = await added.catch(
    conflictWithUnfinished(['CONFLICT', 'This is already running. Please wait until it has finished.']),
  );
  await ctx.enqueue(job, payload, { runId });
  return { runId };
}

/**
 * Writes only the row, for a transaction that writes more. Enqueue the job with the returned id after the commit. Runs of platform jobs
 * need a cross-tenant transaction.
 */
export async function addRun<Job extends AnyJob>(
  tx: Tx,
  job: Job,
  payload: PayloadOf<Job>,
  { startedBy }: { startedBy: string | null },
): Promise<string> {
  const row = runOf(job, payload, startedBy);
  await tx.insert(runs).values(row);
  return row.id;
}

/** Joins the unfinished run with the same subject, so that the actor may watch it; null if there is none. */
export async function joinRun<Payload extends { tenantId: string }>(
  tx: Tx,
  job: TenantJob<Payload>,
  payload: Payload,
  { startedBy }: { startedBy: string },
): Promise<string | null> {
  const isWatching = sql`coalesce(${runs.startedBy}, ${startedBy}) = ${startedBy} or ${startedBy} = any(${runs.joinedBy})`;
  const [joined] = await tx
    .update(runs)
    .set({
      startedBy: sql`coalesce(${runs.startedBy}, ${startedBy})`,
      joinedBy: sql`case when ${isWatching} then ${runs.joinedBy} else array_append(${runs.joinedBy}, ${startedBy}) end`,
    })
    .where(
      and(
        eq(runs.tenantId, payload.tenantId),
        eq(runs.kind, job.name),
        eq(runs.subject, job.key(payload)),
        isUnfinished,
      ),
    )
    .returning({ id: runs.id });
  return joined?.id ?? null;
}

/** For `.catch` of a transaction that adds a run: throws `conflict` if a run with the same subject is unfinished. */
export const conflictWithUnfinished = (conflict: Parameters<typeof conflictOn>[0][string]) =>
  conflictOn({ runs_subject_unique: conflict, runs_directory_sync_unique: conflict });

/** Writes the rows of scheduled runs; skips subjects that already have an unfinished run. */
export async function addRuns<Job extends AnyJob>(
  tx: Tx,
  job: Job,
  payloads: PayloadOf<Job>[],
): Promise<{ id: string; payload: PayloadOf<Job> }[]> {
  const wanted = payloads.map((payload) => ({ payload, row: runOf(job, payload, null) }));
  const added = await tx
    .insert(runs)
    .values(wanted.map(({ row }) => row))
    .onConflictDoNothing()
    .returning({ id: runs.id });
  const ids = new Set(added.map(({ id }) => id));
  return wanted.filter(({ row }) => ids.has(row.id)).map(({ row, payload }) => ({ id: row.id, payload }));
}

const runOf = <Job extends AnyJob>(job: Job, payload: PayloadOf<Job>, startedBy: string | null) => ({
  id: newId(),
  ...(job.scope === 'tenant'
    ? { tenantId: (payload as { tenantId: string }).tenantId, startedBy }
    : { tenantId: null, startedBy: null }),
  kind: job.name,
  subject: job.runsAlone === true ? job.key(payload) : null,
  payload: z.encode(job.payload, payload),
  dueAt: sql`now() + interval '30 seconds'`,
});
