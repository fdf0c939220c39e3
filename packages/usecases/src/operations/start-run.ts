import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { runs } from '@portal/db/schema/operations';
import { newId } from '@portal/domain/ids';
import type { Ctx } from '../run/context.ts';
import type { TenantJob } from '../run/jobs.ts';

/**
 * Starts work the actor may watch under `GET /runs/:id`: a row, then the job that carries it out.
 * The payload stands in the row, so it must hold no secret.
 */
export async function startRun<Payload extends { tenantId: string }>(
  ctx: Ctx,
  job: TenantJob<Payload>,
  payload: Payload,
): Promise<{ runId: string }> {
  const runId = newId();
  await ctx.tx((tx) =>
    tx.insert(runs).values({
      id: runId,
      tenantId: ctx.tenantId,
      kind: job.name,
      payload: z.encode(job.payload, payload),
      startedBy: ctx.actor.id,
      dueAt: sql`now() + interval '30 seconds'`,
    }),
  );
  await ctx.enqueue(job, payload, { runId });
  return { runId };
}
