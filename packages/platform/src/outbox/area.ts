import { sql } from 'drizzle-orm';
import { mailDays, mails } from '@portal/db/schema/platform/mails';
import { SECOND } from '@portal/domain/time';
import { type Area, mailsOf } from '../area.ts';
import { handle } from '../jobs/handler.ts';
import { schedule } from '../jobs/schedules.ts';
import { auditActions } from './daily-quota.ts';
import { endUnsentMails } from './end-unsent-mails.ts';
import { deliverMails, sweepMails } from './jobs.ts';

/** The outbox, for the mails of these areas. */
export function outboxArea(areas: readonly Area[]): Area {
  const kinds = mailsOf(areas);
  return {
    name: 'mails',
    jobs: [
      handle(deliverMails, async (ctx, _payload, { signal }) => {
        const { deliverDueMails } = await import('./deliver-due-mails.ts');
        await deliverDueMails(ctx, { kinds, signal });
      }),
      handle(sweepMails, async (ctx, _payload, { signal }) => {
        const { nudgeDueTenants } = await import('./nudge-due-tenants.ts');
        await nudgeDueTenants(ctx, signal);
      }),
    ],
    schedules: [schedule(sweepMails, {}, { everyMs: 10 * SECOND })],
    auditActions,
    untold: [{ what: 'mails', settle: endUnsentMails }],
    retention: [
      { what: 'mails', table: mails, isOver: sql`${mails.settledAt} <= now() - interval '30 days'` },
      {
        what: 'mail days',
        table: mailDays,
        isOver: sql`${mailDays.day} <= (now() - interval '30 days')::date`,
      },
    ],
  };
}
