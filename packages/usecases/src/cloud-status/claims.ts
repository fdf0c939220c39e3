import { and, asc, eq, inArray, isNull, lt, lte, or, sql, type SQL } from 'drizzle-orm';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import type { TenantContext } from '@portal/platform/context';
import { nextSlot } from './next-check.ts';

/** A check that is about to begin: whoever holds its lease may write what it found. */
export interface Claim {
  id: string;
  leaseId: string;
  statusUrl: string;
}

/** Longer than a check takes, waiting for its turn and for the database included. */
const lease = sql`now() + interval '45 seconds'`;

const isFree = or(isNull(cloudInstances.leasedUntil), lte(cloudInstances.leasedUntil, sql`now()`));

/** Instances whose time has come, those waiting longest first. */
export const claimDue = (ctx: TenantContext, limit: number): Promise<Claim[]> =>
  claim(ctx, lte(cloudInstances.nextCheckAt, sql`now()`), limit);

/** Active instances whose last check ended before a time. One that another check is at is left to that one. */
export const claimUnchecked = (ctx: TenantContext, since: Date, limit: number): Promise<Claim[]> =>
  claim(ctx, isUncheckedSince(since), limit);

/** How many there are, those that others are at included. */
export const countUnchecked = (ctx: TenantContext, since: Date): Promise<number> =>
  ctx.read((db) => db.$count(cloudInstances, and(eq(cloudInstances.isActive, true), isUncheckedSince(since))));

const isUncheckedSince = (since: Date): SQL | undefined =>
  or(isNull(cloudInstances.checkedAt), lt(cloudInstances.checkedAt, since));

/**
 * A lease that has run out is of a check that ended with its process, perhaps by what the cloud answered. It is repeated once, and
 * should it end like that again, not before its usual time.
 */
const nextUnlessSettled = sql`case when ${cloudInstances.leaseId} is null then ${cloudInstances.nextCheckAt}
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
      .set({ leaseId: sql`gen_random_uuid()`, leasedUntil: lease, nextCheckAt: nextUnlessSettled })
      .where(inArray(cloudInstances.id, tx.select({ id: wanted.id }).from(wanted)))
      .returning(claimColumns);
  });

/** One instance, active or not; null while another check is at it, or when it is gone. */
export const claimOne = (ctx: TenantContext, id: string): Promise<Claim | null> =>
  ctx.tx(async (tx) => {
    const [claimed] = await tx
      .update(cloudInstances)
      .set({ leaseId: sql`gen_random_uuid()`, leasedUntil: lease })
      .where(and(eq(cloudInstances.id, id), isFree))
      .returning(claimColumns);
    return claimed ?? null;
  });

/** Hands claims back that nothing came of, so that another check need not wait for their leases to run out. */
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
  // Just written.
  leaseId: sql<string>`${cloudInstances.leaseId}`,
  statusUrl: cloudInstances.statusUrl,
};
