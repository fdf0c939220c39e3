import { and, asc, eq, inArray, isNull, lt, lte, or, sql, type SQL } from 'drizzle-orm';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import type { TenantContext } from '@portal/platform/context';
import { nextSlot } from './next-check.ts';

/** A claimed check. Only the holder of its lease may store the result. */
export interface Claim {
  id: string;
  leaseId: string;
  statusUrl: string;
}

/** Longer than a check takes, including the wait for a slot and for the database. */
const lease = sql`now() + interval '45 seconds'`;

const isFree = or(isNull(cloudInstances.leasedUntil), lte(cloudInstances.leasedUntil, sql`now()`));

/** Claims due instances, the longest waiting first. */
export const claimDue = (ctx: TenantContext, limit: number): Promise<Claim[]> =>
  claim(ctx, lte(cloudInstances.nextCheckAt, sql`now()`), limit);

/** Claims active instances whose last check ended before `since`, except those leased by another check. */
export const claimUnchecked = (ctx: TenantContext, since: Date, limit: number): Promise<Claim[]> =>
  claim(ctx, isUncheckedSince(since), limit);

/** Counts these instances, including those leased by another check. */
export const countUnchecked = (ctx: TenantContext, since: Date): Promise<number> =>
  ctx.read((db) => db.$count(cloudInstances, and(eq(cloudInstances.isActive, true), isUncheckedSince(since))));

const isUncheckedSince = (since: Date): SQL | undefined =>
  or(isNull(cloudInstances.checkedAt), lt(cloudInstances.checkedAt, since));

/**
 * An expired lease belongs to a check that ended with its process, perhaps because of the answer of the cloud. The check is repeated
 * once. If it ends like that again, the next one is at the usual time.
 */
const nextCheckOfClaim = sql`case when ${cloudInstances.leaseId} is null then ${cloudInstances.nextCheckAt}
  else ${nextSlot(cloudInstances.slotSec)} end`;

const claim = (ctx: TenantContext, isWanted: SQL | undefined, limit: number): Promise<Claim[]> =>
  ctx.tx((tx) => {
    const wanted = tx.$with('wanted').as(
      tx
        .select({ id: cloudInstances.id })
        .from(cloudInstances)
        .where(and(eq(cloudInstances.isActive, true), isWanted, isFree))
        .orderBy(asc(cloudInstances.nextCheckAt))
        .limit(limit)
        .for('update', { skipLocked: true }),
    );
    return tx
      .with(wanted)
      .update(cloudInstances)
      .set({ leaseId: sql`gen_random_uuid()`, leasedUntil: lease, nextCheckAt: nextCheckOfClaim })
      .where(inArray(cloudInstances.id, tx.select({ id: wanted.id }).from(wanted)))
      .returning(claimColumns);
  });

/** Claims one instance, active or not; null if another check holds its lease or the instance is gone. */
export const claimOne = (ctx: TenantContext, id: string): Promise<Claim | null> =>
  ctx.tx(async (tx) => {
    const [claimed] = await tx
      .update(cloudInstances)
      .set({ leaseId: sql`gen_random_uuid()`, leasedUntil: lease })
      .where(and(eq(cloudInstances.id, id), isFree))
      .returning(claimColumns);
    return claimed ?? null;
  });

/** Releases claims without a result, so that other checks need not wait for their leases to expire. */
export async function releaseClaims(ctx: TenantContext, claims: Claim[]): Promise<void> {
  if (claims.length === 0) return;
  await ctx.tx((tx) =>
    tx
      .update(cloudInstances)
      .set({ leaseId: null, leasedUntil: null })
      .where(
        and(
          inArray(
            cloudInstances.id,
            claims.map(({ id }) => id),
          ),
          inArray(
            cloudInstances.leaseId,
            claims.map(({ leaseId }) => leaseId),
          ),
        ),
      ),
  );
}

const claimColumns = {
  id: cloudInstances.id,
  // Never null, because the update has just set it.
  leaseId: sql<string>`${cloudInstances.leaseId}`,
  statusUrl: cloudInstances.statusUrl,
};
