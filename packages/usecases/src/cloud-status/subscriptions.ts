import { and, eq } from 'drizzle-orm';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

/** From now on the caller is told when the instance fails; twice is once. Throws 404. */
export const subscribe = (ctx: UserContext, instanceId: string): Promise<void> =>
  ctx.tx(async (tx) => {
    // Held, so that it is not deleted in between.
    const found = await tx
      .select({ id: cloudInstances.id })
      .from(cloudInstances)
      .where(eq(cloudInstances.id, instanceId))
      .for('key share');
    if (found.length === 0) throw notFound();
    await tx
      .insert(cloudSubscriptions)
      .values({ tenantId: ctx.tenantId, instanceId, userId: ctx.actor.id })
      .onConflictDoNothing();
  });

/** The caller is told no more, not even of a failure that was not mailed yet. Without a subscription nothing happens. Throws 404. */
export const unsubscribe = (ctx: UserContext, instanceId: string): Promise<void> =>
  ctx.tx(async (tx) => {
    if ((await tx.$count(cloudInstances, eq(cloudInstances.id, instanceId))) === 0) throw notFound();
    await tx
      .delete(cloudSubscriptions)
      .where(and(eq(cloudSubscriptions.instanceId, instanceId), eq(cloudSubscriptions.userId, ctx.actor.id)));
  });
