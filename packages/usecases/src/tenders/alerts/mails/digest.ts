import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import { tenderDigest as template } from '@portal/mail/templates/tenders/digest';
import { defineMail } from '@portal/platform/outbox/mail';
import { checkModuleAccess } from '../../../modules/module-access.ts';
import { digestRhythmOf } from '../owed.ts';
import { alertContent, settleAlert } from './alert.ts';

/** One for each account and day. */
export const digestKey = (day: string, userId: string): string => `tenders/digest/${day}/${userId}`;

/** Tenders a digest names; the others are in the portal. */
const mostRows = 50;

export const digestMail = defineMail({
  kind: 'tenders/digest',
  template,
  data: z.object({ alertId: Id, rhythm: z.enum(['daily', 'weekly']) }),
  isAwaited: false,
  async prepare(ctx, { recipient }, { alertId, rhythm }) {
    await checkModuleAccess({ ...ctx, actor: recipient }, { module: 'tender-radar', level: 'USE' });
    return alertContent(ctx, recipient, { alertId, kind: 'digest', rhythm, mostRows });
  },
  async remember(tx, { userId, data: { alertId, rhythm }, outcome, mayHaveArrived }) {
    // Whoever wants it once a week by now gets it then.
    const isPutOff = outcome === 'dropped' && rhythm === 'daily' && (await digestRhythmOf(tx, userId)) === 'weekly';
    await settleAlert(tx, { alertId, userId, outcome, mayHaveArrived, isPutOff });
  },
});
