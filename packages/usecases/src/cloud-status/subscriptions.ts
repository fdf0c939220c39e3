import { and, eq } from 'drizzle-orm';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

/** Subscribes the caller to failure mails of the instance. A second call has no effect. Throws 404. */
export const subscribe = (ctx: UserContext, instanceId: string): Promise<void> =>
  ctx.tx(async (tx) => {
    // Locks the instance, so that it is not deleted in between.
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

/** Unsubscribes the caller, also from failures not mailed yet. Does nothing without a subscription. Throws 404. */
export const unsubscribe = (ctx: UserContext, instanceId: string): Promise<void> =>
  ctx.tx(async (tx) => {
    if ((await tx.$count(cloudInstances, eq(cloudInstances.id, instanceId))) === 0) throw notFound();
    await tx
      .delete(cloudSubscriptions)
      .where(and(eq(cloudSubscriptions.instanceId, instanceId), eq(cloudSubscriptions.userId, ctx.actor.id)));
  });
