import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import { tenderDigest as template } from '@portal/mail/templates/tenders/digest';
import { defineMail } from '@portal/platform/outbox/mail';
import { digestRhythmOf } from '../match-state.ts';
import { alertContent, settleAlerts } from './alert.ts';

/** One digest per account and day. */
export const digestKey = (day: string, userId: string): string => `tenders/digest/${day}/${userId}`;

/** Tenders and changes listed in a digest; the portal shows the others. */
const maxRows = 50;

export const digestMail = defineMail({
  kind: 'tenders/digest',
  template,
  data: z.object({ alertId: Id, rhythm: z.enum(['daily', 'weekly']) }),
  isAwaited: false,
  prepare(ctx, { recipient }, { alertId, rhythm }) {
    return alertContent(ctx, recipient, { alertId, kind: 'digest', rhythm, maxRows });
  },
  async remember(tx, attempts) {
    // The account has switched to weekly digests: the next one reports the list.
    const isDeferred = async ({ userId, data: { rhythm }, outcome }: (typeof attempts)[number]) =>
      outcome === 'dropped' && rhythm === 'daily' && (await digestRhythmOf(tx, userId)) === 'weekly';
    await settleAlerts(
      tx,
      await Promise.all(attempts.map(async (attempt) => ({ ...attempt, isDeferred: await isDeferred(attempt) }))),
    );
  },
});
