import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Tx } from '@portal/db/open';
import { runs } from '@portal/db/schema/platform/operations';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '../context.ts';
import type { TenantJob } from '../jobs/job.ts';

/**
 * Starts work the actor may watch under `GET /runs/:id`: a row, then the job that carries it out.
 * The payload stands in the row, so it must hold no secret.
 */
export async function startOperation<Payload extends { tenantId: string }>(
  ctx: UserContext,
  job: TenantJob<Payload>,
  payload: Payload,
): Promise<{ runId: string }> {
  const runId = await ctx.tx((tx) => addOperation(tx, job, payload, { startedBy: ctx.actor.id }));
  await ctx.enqueue(job, payload, { runId });
  return { runId };
}

/** The row alone, for a transaction that writes more; its id is for the job, which is handed over after the commit. */
export async function addOperation<Payload extends { tenantId: string }>(
  tx: Tx,
  job: TenantJob<Payload>,
  payload: Payload,
  { startedBy }: { startedBy: string | null },
): Promise<string> {
  const row = runOf(job, payload, startedBy);
  await tx.insert(runs).values(row);
  return row.id;
}

/** The rows of work that starts by itself, of many tenants; what a tenant has under way already is left out. */
export const addOperations = <Payload extends { tenantId: string }>(
  tx: Tx,
  job: TenantJob<Payload>,
  payloads: Payload[],
): Promise<{ id: string; tenantId: string }[]> =>
  tx
    .insert(runs)
    .values(payloads.map((payload) => runOf(job, payload, null)))
    .onConflictDoNothing()
    .returning({ id: runs.id, tenantId: runs.tenantId });

const runOf = <Payload extends { tenantId: string }>(
  job: TenantJob<Payload>,
  payload: Payload,
  startedBy: string | null,
) => ({
  id: newId(),
  tenantId: payload.tenantId,
  kind: job.name,
  payload: z.encode(job.payload, payload),
  startedBy,
  dueAt: sql`now() + interval '30 seconds'`,
});
