import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { monitoredServers, pollPlans } from '@portal/db/schema/monitoring/servers';

/** Minutes between two runs of the tenant at work; null without active servers. */
export const smallestInterval = sql<number>`(select min(${monitoredServers.pollIntervalMin}) from ${monitoredServers} where ${monitoredServers.isActive})`;

/** Seconds between two runs of a tenant: the smallest interval of its active servers; null without any. */
const intervalOf = (tenantId: SQL | typeof pollPlans.tenantId): SQL =>
  sql`(select min(${monitoredServers.pollIntervalMin}) * 60 from ${monitoredServers} where ${monitoredServers.tenantId} = ${tenantId} and ${monitoredServers.isActive})`;

/**
 * When the next run of a tenant begins, by the database's clock. Its times lie on a grid of its interval, moved by a number made from
 * its id: so tenants are spread, a run that began late puts off no later one, and what was missed is made up for once.
 */
export const nextPollAt = (tenantId: SQL | typeof pollPlans.tenantId): SQL => {
  const interval = intervalOf(tenantId);
  const spread = sql`(hashtext(${tenantId}::text)::bigint & 2147483647)`;
  return sql`to_timestamp((floor((extract(epoch from now()) - ${spread} % ${interval}) / ${interval}) + 1) * ${interval} + ${spread} % ${interval})`;
};

/**
 * Follows a change of a tenant's servers, in its transaction. A server that was added or changed is looked at right away, by a sweep
 * that comes some seconds later; for all others the new interval counts, which puts off nothing that is planned already.
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
