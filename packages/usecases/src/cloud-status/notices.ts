import { and, eq, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';

/**
 * Serializes changes to the notices of a tenant until the commit. If an outage ends while its mail is being sent, either the transaction
 * that ends it or the one that settles the mail then sees the other. To avoid deadlocks, take this lock after all row locks that holders
 * of this lock may wait for.
 */
export const lockNotices = async (tx: Tx, tenantId: string): Promise<void> =>
  void (await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.cloudNotices}, hashtext(${tenantId}))`));

export const outageOfNotice = and(
  eq(cloudOutages.tenantId, cloudOutageNotices.tenantId),
  eq(cloudOutages.id, cloudOutageNotices.outageId),
);

export const instanceOfOutage = and(
  eq(cloudInstances.tenantId, cloudOutages.tenantId),
  eq(cloudInstances.id, cloudOutages.instanceId),
);

/** The subscription of the user a notice is for. */
export const subscriptionOfNotice = and(
  eq(cloudSubscriptions.tenantId, cloudInstances.tenantId),
  eq(cloudSubscriptions.instanceId, cloudInstances.id),
  eq(cloudSubscriptions.userId, cloudOutageNotices.userId),
);
