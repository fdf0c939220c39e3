import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import { tenderDigest as template } from '@portal/mail/templates/tenders/digest';
import { defineMail } from '@portal/platform/outbox/mail';
import { digestRhythmOf } from '../match-state.ts';
import { alertContent, settleAlerts } from './alert.ts';

/** One for each account and day. */
export const digestKey = (day: string, userId: string): string => `tenders/digest/${day}/${userId}`;

/** Tenders a digest names; the others are in the portal. */
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
    // Whoever wants it once a week by now gets it then.
    const isPutOff = async ({ userId, data: { rhythm }, outcome }: (typeof attempts)[number]) =>
      outcome === 'dropped' && rhythm === 'daily' && (await digestRhythmOf(tx, userId)) === 'weekly';
    await settleAlerts(
      tx,
      await Promise.all(attempts.map(async (attempt) => ({ ...attempt, isPutOff: await isPutOff(attempt) }))),
    );
  },
});
