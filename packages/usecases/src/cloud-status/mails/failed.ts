import { z } from 'zod';
import { FailureClass } from '@portal/domain/failure-class';
import { Id } from '@portal/domain/ids';
import { mailTime } from '@portal/mail/mail-time';
import { cloudFailed as template } from '@portal/mail/templates/cloud-status/failed';
import { defineMail } from '@portal/platform/outbox/mail';
import { checkModuleAccess } from '../../modules/module-access.ts';
import { markNotified } from '../mark-notified.ts';
import { outageThread } from './outage-thread.ts';
import { outagesToMail } from './outages-to-mail.ts';

export const cloudFailedMail = defineMail({
  kind: 'cloud-status/failed',
  template,
  data: z.object({ outageId: Id }),
  isAwaited: true,
  retryAfterSec: [30, 120],
  async prepare(ctx, { recipient, mayHaveArrived }, { outageId }) {
    await checkModuleAccess({ ...ctx, actor: recipient }, { module: 'cloud-status', level: 'USE' });
    const { tenantId } = ctx;
    const reader = { tenantId, userId: recipient.id, outageId };
    const outages = await ctx.tx((tx) => outagesToMail(tx, reader, { mayHaveArrived }));
    if (outages.length === 0) return null;
    return {
      tenantName: recipient.tenantName,
      serviceUrl: ctx.config.http.publicUrl,
      displayName: recipient.displayName,
      thread: outageThread(ctx, outageId),
      outages: outages.map(({ customerName, statusUrl, failure, failingSince }) => ({
        customerName,
        address: statusUrl,
        failure: FailureClass.parse(failure),
        since: mailTime(failingSince),
      })),
    };
  },
  async remember(tx, attempts) {
    for (const { tenantId, userId, data, outcome, mayHaveArrived } of attempts) {
      // A user who may have read that a cloud is down must also read that it is back: an extra recovery mail does no harm.
      const isNotified = outcome === 'sent' || (mayHaveArrived && outcome !== 'postponed');
      if (isNotified) await markNotified(tx, { tenantId, userId, outageId: data.outageId });
    }
  },
});
