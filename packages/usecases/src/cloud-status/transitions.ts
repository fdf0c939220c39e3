import { and, desc, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { cloudTransitions } from '@portal/db/schema/cloud-status/outages';
import type { CloudTransition } from '@portal/domain/cloud-status/instances';
import { notFound } from '@portal/domain/errors';
import { Id } from '@portal/domain/ids';
import { Instant } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';

/** The last item of a page. */
export const TransitionCursor = z.tuple([Instant, Id]);

/** Changes of reported states, newest first, of one instance or of all. Throws 404 for an unknown instance. */
export async function listTransitions(
  ctx: TenantContext,
  page: { limit: number; after?: z.output<typeof TransitionCursor> | undefined; instanceId?: string | undefined },
): Promise<{ items: CloudTransition[]; next: z.input<typeof TransitionCursor> | null }> {
  const { limit, after, instanceId } = page;
  const rows = await ctx.read(async (db) => {
    if (instanceId !== undefined && (await db.$count(cloudInstances, eq(cloudInstances.id, instanceId))) === 0)
      throw notFound();
    return db
      .select({
        id: cloudTransitions.id,
        at: cloudTransitions.at,
        instanceId: cloudTransitions.instanceId,
        customerName: cloudInstances.customerName,
        from: cloudTransitions.from,
        to: cloudTransitions.to,
        reason: cloudTransitions.reason,
      })
      .from(cloudTransitions)
      .innerJoin(
        cloudInstances,
        and(eq(cloudInstances.tenantId, cloudTransitions.tenantId), eq(cloudInstances.id, cloudTransitions.instanceId)),
      )
      .where(
        and(
          instanceId === undefined ? undefined : eq(cloudTransitions.instanceId, instanceId),
          after &&
            sql`(${cloudTransitions.at}, ${cloudTransitions.id}) < (${after[0].toISOString()}::timestamptz, ${after[1]}::uuid)`,
        ),
      )
      .orderBy(desc(cloudTransitions.at), desc(cloudTransitions.id))
      .limit(limit + 1);
  });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ id: _id, ...transition }) => transition),
    next: rows.length > limit && last ? [last.at.toISOString(), last.id] : null,
  };
}
