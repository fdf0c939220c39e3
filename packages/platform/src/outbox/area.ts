import { sql } from 'drizzle-orm';
import { mailDays, mails } from '@portal/db/schema/platform/mails';
import { SECOND } from '@portal/domain/time';
import type { Area } from '../area.ts';
import { schedule } from '../jobs/schedules.ts';
import { auditActions } from './daily-quota.ts';
import { endUnsentMails } from './end-unsent-mails.ts';
import { deliverMails, sweepMails } from './jobs.ts';

/** The outbox, for the mails of all areas. */
export const outboxArea: Area = {
  name: 'mails',
  jobs: [deliverMails, sweepMails],
  schedules: [schedule(sweepMails, {}, { everyMs: 10 * SECOND })],
  auditActions,
  cancelAfterRestore: [{ what: 'mails', cancel: endUnsentMails }],
  retention: [
    { what: 'mails', table: mails, isOver: sql`${mails.settledAt} <= now() - interval '30 days'` },
    {
      what: 'mail days',
      table: mailDays,
      isOver: sql`${mailDays.day} <= (now() - interval '30 days')::date`,
    },
  ],
};
