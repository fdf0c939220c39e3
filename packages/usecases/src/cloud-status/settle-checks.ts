import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { afterCheck } from '@portal/domain/cloud-status/checks';
import type { CloudReading } from '@portal/domain/cloud-status/reading';
import type { TenantContext } from '@portal/platform/context';
import { nudgeMails } from '@portal/platform/outbox/queue-mail';
import type { Claim } from './claims.ts';
import { nextAfterFailure, nextSlot } from './next-check.ts';
import { type OutageEvent, reportOutages } from './outages.ts';

interface CheckResult {
  claim: Claim;
  reading: CloudReading;
}

/**
 * Stores the results of checks in one transaction: state, counter, outage, transition and queued mails. Skips a check whose lease now
 * belongs to another check, so that no check overwrites a later one. Returns for each check whether it counted.
 */
export async function settleChecks(ctx: TenantContext, results: CheckResult[]): Promise<boolean[]> {
  const { counted, hasMails } = await ctx.tx(async (tx) => {
    const held = await hold(tx, results);
    const ours = results.flatMap((result) => {
      const state = held.get(result.claim.leaseId);
      return state ? [{ ...result, state, after: afterCheck(state, result.reading.isReached) }] : [];
    });
    await write(tx, ours.map(rowOf));
    const events = ours.flatMap(({ claim, reading, state, after }): OutageEvent[] => {
      if (after.event === null) return [];
      const { failingSince } = state;
      return reading.isReached
        ? [{ kind: 'recovered', instanceId: claim.id }]
        : [{ kind: 'failed', instanceId: claim.id, failingSince, failure: reading.failure, message: reading.message }];
    });
    return { counted: new Set(held.keys()), hasMails: await reportOutages(tx, ctx.tenantId, events) };
  });
  if (hasMails) await nudgeMails(ctx, ctx.tenantId);
  return results.map(({ claim, reading }) => {
    const isOurs = counted.has(claim.leaseId);
    if (isOurs) ctx.metrics.countCheck(reading.isReached ? 'ok' : reading.failure);
    return isOurs;
  });
}

type Ours = CheckResult & { after: ReturnType<typeof afterCheck> };

/** Locks the instances that these checks still lease, in the order of their ids. Returns them by lease. */
async function hold(tx: Tx, results: CheckResult[]) {
  const rows = await tx
    .select({
      leaseId: sql<string>`${cloudInstances.leaseId}`,
      isActive: cloudInstances.isActive,
      reportedState: cloudInstances.reportedState,
      consecutiveFailures: cloudInstances.consecutiveFailures,
      failingSince: cloudInstances.failingSince,
    })
    .from(cloudInstances)
    .where(
      and(
        inArray(
          cloudInstances.id,
          results.map(({ claim }) => claim.id),
        ),
        inArray(
          cloudInstances.leaseId,
          results.map(({ claim }) => claim.leaseId),
        ),
      ),
    )
    .orderBy(asc(cloudInstances.id))
    .for('update');
  return new Map(rows.map(({ leaseId, ...state }) => [leaseId, state]));
}

const rowOf = ({ claim, reading, after }: Ours) => ({
  id: claim.id,
  lease_id: claim.leaseId,
  is_reached: reading.isReached,
  reported_state: after.reportedState,
  consecutive_failures: after.consecutiveFailures,
  failure: reading.isReached ? null : reading.failure,
  message: reading.message,
  is_maintenance: reading.isReached && reading.isMaintenance,
  needs_db_upgrade: reading.isReached && reading.needsDbUpgrade,
  // If the answer has no version, the known one stays.
  ...(reading.isReached && reading.version
    ? {
        says_version: true,
        version: reading.version.shown,
        release: reading.version.release,
        has_extended_support: reading.version.hasExtendedSupport,
        product_name: reading.version.productName,
      }
    : { says_version: false }),
});

/** One statement and one commit for all results; the commit is the largest cost of a check. */
async function write(tx: Tx, rows: ReturnType<typeof rowOf>[]): Promise<void> {
  if (rows.length === 0) return;
  const checked = sql`json_to_recordset(${JSON.stringify(rows)}::json) as checked (
    id uuid, lease_id uuid, is_reached boolean, reported_state cloud_check_state, consecutive_failures int, failure text, message text,
    is_maintenance boolean, needs_db_upgrade boolean, says_version boolean, version text, release text, has_extended_support boolean,
    product_name text)`;
  const ifReported = (reported: ReturnType<typeof sql>, known: ReturnType<typeof sql>) =>
    sql`case when checked.says_version then ${reported} else ${known} end`;
  await tx
    .update(cloudInstances)
    .set({
      leaseId: null,
      leasedUntil: null,
      nextCheckAt: sql`case when checked.is_reached then ${nextSlot(cloudInstances.slotSec)} else ${nextAfterFailure} end`,
      lastCheckState: sql`case when checked.is_reached then 'ok' else 'failed' end::cloud_check_state`,
      reportedState: sql`checked.reported_state`,
      consecutiveFailures: sql`checked.consecutive_failures`,
      failingSince: sql`case when not checked.is_reached then coalesce(${cloudInstances.failingSince}, now()) end`,
      failure: sql`checked.failure`,
      message: sql`checked.message`,
      checkedAt: sql`now()`,
      lastOkAt: sql`case when checked.is_reached then now() else ${cloudInstances.lastOkAt} end`,
      isMaintenance: sql`checked.is_maintenance`,
      needsDbUpgrade: sql`checked.needs_db_upgrade`,
      version: ifReported(sql`checked.version`, sql`${cloudInstances.version}`),
      release: ifReported(sql`checked.release`, sql`${cloudInstances.release}`),
      hasExtendedSupport: ifReported(sql`checked.has_extended_support`, sql`${cloudInstances.hasExtendedSupport}`),
      productName: ifReported(sql`checked.product_name`, sql`${cloudInstances.productName}`),
    })
    .from(checked)
    .where(and(eq(cloudInstances.id, sql`checked.id`), eq(cloudInstances.leaseId, sql`checked.lease_id`)));
}
