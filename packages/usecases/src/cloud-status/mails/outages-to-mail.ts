import { and, asc, eq, gt, isNull, notInArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';
import { isMassOutage, massOutage } from '@portal/domain/cloud-status/checks';
import { subscriptionOfNotice, instanceOfOutage, outageOfNotice, lockNotices } from '../notices.ts';

interface Reader {
  tenantId: string;
  userId: string;
  /** The outage whose mail is being written. */
  outageId: string;
}

/**
 * The outages this mail reports: its own or, in a mass outage, all that the user has not been notified of. Empty if all are over, if
 * the user has unsubscribed, or if another mail reports them. The mail claims its outages, so a retry reports the same ones except those
 * that have ended. Ended outages stay claimed if the first attempt may have arrived.
 */
export async function outagesToMail(tx: Tx, reader: Reader, { mayHaveArrived }: { mayHaveArrived: boolean }) {
  await lockNotices(tx, reader.tenantId);
  const [own] = await tx
    .select({
      mailedWith: cloudOutageNotices.mailedWith,
      failure: cloudOutages.failure,
      failingSince: cloudOutages.failingSince,
      reportedAt: cloudOutages.reportedAt,
      endedAt: cloudOutages.endedAt,
    })
    .from(cloudOutageNotices)
    .innerJoin(cloudOutages, outageOfNotice)
    .where(and(eq(cloudOutageNotices.outageId, reader.outageId), eq(cloudOutageNotices.userId, reader.userId)));
  if (!own) return [];
  const isFirstTry = (await tx.$count(cloudOutageNotices, isInMail(reader))) === 0;
  if (isFirstTry) {
    if (own.endedAt !== null || own.mailedWith !== null) return [];
    const isOneOfMany = own.failure === 'netz' && (await isPartOfMassOutage(tx, own));
    await claimNotices(tx, reader, isOneOfMany);
  }
  const outages = await openOutages(tx, reader);
  if (isFirstTry || !mayHaveArrived)
    await releaseOthers(
      tx,
      reader,
      outages.map(({ id }) => id),
    );
  return outages;
}

const isInMail = ({ userId, outageId }: Reader) =>
  and(eq(cloudOutageNotices.userId, userId), eq(cloudOutageNotices.mailedWith, outageId));

/** Whether enough of the instances checked around that time have been unreachable since. */
async function isPartOfMassOutage(
  tx: Tx,
  { failingSince, reportedAt }: { failingSince: Date; reportedAt: Date },
): Promise<boolean> {
  const windowBefore = (time: Date) =>
    sql`${time.toISOString()}::timestamptz - make_interval(mins => ${massOutage.windowMin})`;
  const [counts] = await tx
    .select({
      checked: sql<number>`count(*)::int`,
      failing: sql<number>`(count(*) filter (
        where ${cloudInstances.failure} = 'netz' and ${cloudInstances.failingSince} > ${windowBefore(failingSince)}))::int`,
    })
    .from(cloudInstances)
    .where(and(eq(cloudInstances.isActive, true), gt(cloudInstances.checkedAt, windowBefore(reportedAt))));
  return counts !== undefined && isMassOutage(counts);
}

/** Assigns the outages to this mail, so that no other mail reports them. */
async function claimNotices(tx: Tx, { userId, outageId }: Reader, isOneOfMany: boolean): Promise<void> {
  const openUnreached = tx
    .select({ id: cloudOutages.id })
    .from(cloudOutages)
    .where(and(isNull(cloudOutages.endedAt), eq(cloudOutages.failure, 'netz')));
  await tx
    .update(cloudOutageNotices)
    .set({ mailedWith: outageId })
    .where(
      and(
        eq(cloudOutageNotices.userId, userId),
        isNull(cloudOutageNotices.mailedWith),
        isOneOfMany
          ? sql`${cloudOutageNotices.outageId} in ${openUnreached}`
          : eq(cloudOutageNotices.outageId, outageId),
      ),
    );
}

/** Releases the outages this mail does not report after all. No mail will report them or their end. */
async function releaseOthers(tx: Tx, reader: Reader, reported: string[]): Promise<void> {
  await tx
    .update(cloudOutageNotices)
    .set({ mailedWith: null })
    .where(
      and(isInMail(reader), reported.length === 0 ? undefined : notInArray(cloudOutageNotices.outageId, reported)),
    );
}

const openOutages = (tx: Tx, reader: Reader) =>
  tx
    .select({
      id: cloudOutages.id,
      customerName: cloudInstances.customerName,
      statusUrl: cloudInstances.statusUrl,
      failure: cloudOutages.failure,
      failingSince: cloudOutages.failingSince,
    })
    .from(cloudOutageNotices)
    .innerJoin(cloudOutages, outageOfNotice)
    .innerJoin(cloudInstances, instanceOfOutage)
    .innerJoin(cloudSubscriptions, subscriptionOfNotice)
    .where(
      and(
        isInMail(reader),
        isNull(cloudOutages.endedAt),
        // Switched-off instances are not reported.
        eq(cloudInstances.isActive, true),
      ),
    )
    .orderBy(asc(cloudInstances.customerName), asc(cloudInstances.id));
