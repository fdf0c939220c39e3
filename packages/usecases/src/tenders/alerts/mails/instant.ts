import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import { instantTenders as template } from '@portal/mail/templates/tenders/instant';
import { defineMail } from '@portal/platform/outbox/mail';
import { checkModuleAccess } from '../../../modules/module-access.ts';
import { alertContent, settleAlert } from './alert.ts';

/** Tenders it names; the others are in the portal. */
const mostRows = 20;

export const instantMail = defineMail({
  kind: 'tenders/instant',
  template,
  data: z.object({ alertId: Id }),
  isAwaited: false,
  retryAfterSec: [30, 120],
  async prepare(ctx, { recipient }, { alertId }) {
    await checkModuleAccess({ ...ctx, actor: recipient }, { module: 'tender-radar', level: 'USE' });
    return alertContent(ctx, recipient, { alertId, kind: 'instant', rhythm: null, mostRows });
  },
  async remember(tx, { userId, data: { alertId }, outcome, mayHaveArrived }) {
    await settleAlert(tx, { alertId, userId, outcome, mayHaveArrived, isPutOff: false });
  },
});
