import { and, eq, isNotNull } from 'drizzle-orm';
import { z } from 'zod';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';
import { Id } from '@portal/domain/ids';
import { mailDuration } from '@portal/mail/mail-duration';
import { mailTime } from '@portal/mail/mail-time';
import { cloudRecovered as template } from '@portal/mail/templates/cloud-status/recovered';
import type { TenantContext } from '@portal/platform/context';
import { defineMail } from '@portal/platform/outbox/mail';
import { checkModuleAccess } from '../../modules/module-access.ts';
import { subscriptionOfNotice, instanceOfOutage } from '../notices.ts';
import { outageThread } from './outage-thread.ts';

export const cloudRecoveredMail = defineMail({
  kind: 'cloud-status/recovered',
  template,
  data: z.object({ outageId: Id }),
  isAwaited: true,
  retryAfterSec: [30, 120],
  async prepare(ctx, { recipient }, { outageId }) {
    await checkModuleAccess({ ...ctx, actor: recipient }, { module: 'cloud-status', level: 'USE' });
    const outage = await endedOutage(ctx, { userId: recipient.id, outageId });
    if (!outage?.endedAt) return null;
    const { customerName, statusUrl, failingSince, endedAt, mailedWith } = outage;
    return {
      tenantName: recipient.tenantName,
      serviceUrl: ctx.config.http.publicUrl,
      displayName: recipient.displayName,
      thread: outageThread(ctx, mailedWith ?? outageId),
      customerName,
      address: statusUrl,
      from: mailTime(failingSince),
      to: mailTime(endedAt),
      duration: mailDuration(endedAt.getTime() - failingSince.getTime()),
    };
  },
});

/** An outage this user was notified of and is still subscribed to. */
async function endedOutage(ctx: TenantContext, { userId, outageId }: { userId: string; outageId: string }) {
  const [outage] = await ctx.read((db) =>
    db
      .select({
        customerName: cloudInstances.customerName,
        statusUrl: cloudInstances.statusUrl,
        failingSince: cloudOutages.failingSince,
        endedAt: cloudOutages.endedAt,
        mailedWith: cloudOutageNotices.mailedWith,
      })
      .from(cloudOutages)
      .innerJoin(
        cloudOutageNotices,
        and(
          eq(cloudOutageNotices.tenantId, cloudOutages.tenantId),
          eq(cloudOutageNotices.outageId, cloudOutages.id),
          eq(cloudOutageNotices.userId, userId),
        ),
      )
      .innerJoin(cloudInstances, instanceOfOutage)
      .innerJoin(cloudSubscriptions, subscriptionOfNotice)
      .where(and(eq(cloudOutages.id, outageId), isNotNull(cloudOutageNotices.sentAt))),
  );
  return outage;
}
