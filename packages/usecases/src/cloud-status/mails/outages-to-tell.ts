import { and, asc, eq, gt, isNull, notInArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';
import { areMailedTogether, together } from '@portal/domain/cloud-status/checks';
import { bellOfNotice, instanceOfOutage, outageOfNotice, settlingNotices } from '../notices.ts';

interface Reader {
  tenantId: string;
  userId: string;
  /** Whose mail is being written. */
  outageId: string;
}

/**
 * The outages this mail tells of: its own, or all that the person is still to be told of, where so many began together. None when
 * all are over, when the bell is off by now, or when another mail tells of them. What a mail tells is its own from here on, so a
 * second try tells the same, without what has ended meanwhile; that stays told by it where the first try may have arrived.
 */
export async function outagesToTell(tx: Tx, reader: Reader, { mayHaveArrived }: { mayHaveArrived: boolean }) {
  await settlingNotices(tx, reader.tenantId);
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
    const isOneOfMany = own.failure === 'netz' && (await beganTogether(tx, own));
    await claimNotices(tx, reader, isOneOfMany);
  }
  const outages = await openOutages(tx, reader);
  if (isFirstTry || !mayHaveArrived)
    await leaveOut(
      tx,
      reader,
      outages.map(({ id }) => id),
    );
  return outages;
}

const isInMail = ({ userId, outageId }: Reader) =>
  and(eq(cloudOutageNotices.userId, userId), eq(cloudOutageNotices.mailedWith, outageId));

/** Whether so many of the instances checked around that time are not reached any more since then. */
async function beganTogether(
  tx: Tx,
  { failingSince, reportedAt }: { failingSince: Date; reportedAt: Date },
): Promise<boolean> {
  const windowBefore = (time: Date) =>
    sql`${time.toISOString()}::timestamptz - make_interval(mins => ${together.windowMin})`;
  const [counts] = await tx
    .select({
      checked: sql<number>`count(*)::int`,
      failing: sql<number>`(count(*) filter (
        where ${cloudInstances.failure} = 'netz' and ${cloudInstances.failingSince} > ${windowBefore(failingSince)}))::int`,
    })
    .from(cloudInstances)
    .where(and(eq(cloudInstances.isActive, true), gt(cloudInstances.checkedAt, windowBefore(reportedAt))));
  return counts !== undefined && areMailedTogether(counts);
}

/** What this mail is to tell is no other one's. */
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

/** What this mail does not tell after all is told by none: its end is nobody's news either. */
async function leaveOut(tx: Tx, reader: Reader, told: string[]): Promise<void> {
  await tx
    .update(cloudOutageNotices)
    .set({ mailedWith: null })
    .where(and(isInMail(reader), told.length === 0 ? undefined : notInArray(cloudOutageNotices.outageId, told)));
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
    .innerJoin(cloudSubscriptions, bellOfNotice)
    .where(
      and(
        isInMail(reader),
        isNull(cloudOutages.endedAt),
        // Nobody watches over what is switched off.
        eq(cloudInstances.isActive, true),
      ),
    )
    .orderBy(asc(cloudInstances.customerName), asc(cloudInstances.id));
