import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';
import { queueMails } from '@portal/platform/outbox/queue-mail';
import { cloudRecoveredMail } from './mails/recovered.ts';
import { lockNotices } from './notices.ts';

/** Queues recovery mails for the users notified of these outages. */
export async function queueRecoveryMails(
  tx: Tx,
  tenantId: string,
  notified: { outageId: string; userId: string }[],
): Promise<void> {
  if (notified.length === 0) return;
  await queueMails(
    tx,
    cloudRecoveredMail,
    notified.map(({ outageId, userId }) => ({
      tenantId,
      key: `cloud-status/recovered/${outageId}/${userId}`,
      userId,
      data: { outageId },
    })),
  );
}

/** Records that the mail of this outage has, or may have, notified a user. Queues recovery mails for outages that have already ended. */
export async function markNotified(
  tx: Tx,
  { tenantId, userId, outageId }: { tenantId: string; userId: string; outageId: string },
): Promise<void> {
  await lockNotices(tx, tenantId);
  const notified = await tx
    .update(cloudOutageNotices)
    .set({ sentAt: sql`now()` })
    .where(
      and(
        eq(cloudOutageNotices.userId, userId),
        eq(cloudOutageNotices.mailedWith, outageId),
        isNull(cloudOutageNotices.sentAt),
      ),
    )
    .returning({ outageId: cloudOutageNotices.outageId });
  if (notified.length === 0) return;
  const ended = await tx
    .select({ outageId: cloudOutages.id })
    .from(cloudOutages)
    .where(
      and(
        inArray(
          cloudOutages.id,
          notified.map((notice) => notice.outageId),
        ),
        isNotNull(cloudOutages.endedAt),
      ),
    );
  await queueRecoveryMails(
    tx,
    tenantId,
    ended.map((outage) => ({ ...outage, userId })),
  );
}
