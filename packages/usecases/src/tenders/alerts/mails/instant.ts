import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import { instantTenders as template } from '@portal/mail/templates/tenders/instant';
import { defineMail } from '@portal/platform/outbox/mail';
import { alertContent, settleAlerts } from './alert.ts';

/** Tenders listed in the mail; the portal shows the others. */
const maxRows = 20;

export const instantMail = defineMail({
  kind: 'tenders/instant',
  template,
  data: z.object({ alertId: Id }),
  isAwaited: false,
  retryAfterSec: [30, 120],
  prepare(ctx, { recipient }, { alertId }) {
    return alertContent(ctx, recipient, { alertId, kind: 'instant', rhythm: null, maxRows });
  },
  async remember(tx, attempts) {
    await settleAlerts(
      tx,
      attempts.map((attempt) => ({ ...attempt, isDeferred: false })),
    );
  },
});
