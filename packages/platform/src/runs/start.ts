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
 * Starts work the actor may watch under `GET /runs/:id`: a row, then the job that carries it out. A platform job's run is no
 * tenant's and watched by every SUPER_ADMIN. The payload stands in the row, so it must hold no secret.
 * Throws 409 while one of the same subject is under way, see `conflictWithUnfinished`.
 */
export async function startRun<Job extends AnyJob>(
  ctx: UserContext,
  job: Job,
  payload: PayloadOf<Job>,
): Promise<{ runId: string }> {
  const add = (tx: Tx) => addRun(tx, job, payload, { startedBy: ctx.actor.id });
  const added = job.scope === 'tenant' ? ctx.tx(add) : ctx.acrossTenants('work of the platform is started', add);
  const runId = await added.catch(
    conflictWithUnfinished(['CONFLICT', 'This is under way already. Please wait for its end.']),
  );
  await ctx.enqueue(job, payload, { runId });
  return { runId };
}

/**
 * The row alone, for a transaction that writes more; its id is for the job, which is handed over after the commit.
 * A platform job's takes a transaction across tenants.
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

/** The run of the same subject that is under way, which the actor may watch from now on; null while there is none. */
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

/** For `.catch` of a transaction that adds a run: the conflict it is that one of the same subject is under way. */
export const conflictWithUnfinished = (conflict: Parameters<typeof conflictOn>[0][string]) =>
  conflictOn({ runs_subject_unique: conflict, runs_directory_sync_unique: conflict });

/** The rows of work that starts by itself; whose subject has one under way already is left out. */
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
