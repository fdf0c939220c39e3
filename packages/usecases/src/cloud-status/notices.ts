import { and, eq, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';

/**
 * Whoever settles who of a tenant is told of which outage does so one at a time, each until its commit: an outage that ends while its
 * mail is being sent is so seen either by who ends it or by who settles the mail. Take it after every lock of rows others may wait
 * for with this lock in hand.
 */
export const settlingNotices = async (tx: Tx, tenantId: string): Promise<void> =>
  void (await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.cloudNotices}, hashtext(${tenantId}))`));

export const outageOfNotice = and(
  eq(cloudOutages.tenantId, cloudOutageNotices.tenantId),
  eq(cloudOutages.id, cloudOutageNotices.outageId),
);

export const instanceOfOutage = and(
  eq(cloudInstances.tenantId, cloudOutages.tenantId),
  eq(cloudInstances.id, cloudOutages.instanceId),
);

/** The bell of the person a notice is for. */
export const bellOfNotice = and(
  eq(cloudSubscriptions.tenantId, cloudInstances.tenantId),
  eq(cloudSubscriptions.instanceId, cloudInstances.id),
  eq(cloudSubscriptions.userId, cloudOutageNotices.userId),
);
