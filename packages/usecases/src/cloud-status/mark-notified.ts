import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';
import { queueMails } from '@portal/platform/outbox/queue-mail';
import { cloudRecoveredMail } from './mails/recovered.ts';
import { settlingNotices } from './notices.ts';

/** Promises those who were told of outages that they have ended. */
export async function queueRecoveryMails(
  tx: Tx,
  tenantId: string,
  told: { outageId: string; userId: string }[],
): Promise<void> {
  if (told.length === 0) return;
  await queueMails(
    tx,
    cloudRecoveredMail,
    told.map(({ outageId, userId }) => ({
      tenantId,
      key: `cloud-status/recovered/${outageId}/${userId}`,
      userId,
      data: { outageId },
    })),
  );
}

/** Notes that a person has been told, or may have been, with the mail of this outage; of what has ended meanwhile the end is promised as well. */
export async function markNotified(
  tx: Tx,
  { tenantId, userId, outageId }: { tenantId: string; userId: string; outageId: string },
): Promise<void> {
  await settlingNotices(tx, tenantId);
  const told = await tx
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
  if (told.length === 0) return;
  const over = await tx
    .select({ outageId: cloudOutages.id })
    .from(cloudOutages)
    .where(
      and(
        inArray(
          cloudOutages.id,
          told.map((notice) => notice.outageId),
        ),
        isNotNull(cloudOutages.endedAt),
      ),
    );
  await queueRecoveryMails(
    tx,
    tenantId,
    over.map((ended) => ({ ...ended, userId })),
  );
}
