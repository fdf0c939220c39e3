import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { monitoredServers, pollPlans } from '@portal/db/schema/monitoring/servers';

/** Minutes between two runs of the current tenant; null without active servers. */
export const smallestInterval = sql<number>`(select min(${monitoredServers.pollIntervalMin}) from ${monitoredServers} where ${monitoredServers.isActive})`;

/** Seconds between two runs of a tenant: the smallest interval of its active servers; null without any. */
const intervalOf = (tenantId: SQL | typeof pollPlans.tenantId): SQL =>
  sql`(select min(${monitoredServers.pollIntervalMin}) * 60 from ${monitoredServers} where ${monitoredServers.tenantId} = ${tenantId} and ${monitoredServers.isActive})`;

/**
 * When the next run of a tenant starts, by the database clock. Runs lie on a grid of the interval, offset by a hash of the tenant id.
 * The offset spreads the tenants, a late run does not delay later ones, and several missed runs are made up by one.
 */
export const nextPollAt = (tenantId: SQL | typeof pollPlans.tenantId): SQL => {
  const interval = intervalOf(tenantId);
  const spread = sql`(hashtext(${tenantId}::text)::bigint & 2147483647)`;
  return sql`to_timestamp((floor((extract(epoch from now()) - ${spread} % ${interval}) / ${interval}) + 1) * ${interval} + ${spread} % ${interval})`;
};

/**
 * Plans the next run after a change of a tenant's servers, in the same transaction. With `soon`, the next sweep starts a run within
 * seconds. Otherwise the new interval applies, but a planned run is never delayed.
 */
export async function planPolls(tx: Tx, tenantId: string, { soon }: { soon: boolean }): Promise<void> {
  const id = sql`${tenantId}::uuid`;
  const at = soon ? sql`now()` : nextPollAt(id);
  const sooner = sql`case when ${at} is not null then least(${pollPlans.nextPollAt}, ${at}) end`;
  await tx
    .insert(pollPlans)
    .values({ tenantId, nextPollAt: at })
    .onConflictDoUpdate({ target: pollPlans.tenantId, set: { nextPollAt: sooner } });
}
