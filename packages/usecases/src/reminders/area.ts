import { sql } from 'drizzle-orm';
import { reminders as rows, snoozedReminders } from '@portal/db/schema/reminders';
import { SECOND } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { schedule } from '@portal/platform/jobs/schedules';
import { queueDueMails } from './jobs.ts';
import { reminderDueMail } from './mails/due.ts';
import { skipDueMails } from './skip-due-mails.ts';

export const reminders: Area = {
  name: 'reminders',
  tags: { reminders: 'Personal reminders, in the portal and by mail.' },
  jobs: [queueDueMails],
  schedules: [schedule(queueDueMails, {}, { everyMs: 5 * SECOND })],
  mails: [reminderDueMail],
  cancelAfterRestore: [{ what: 'reminders', cancel: skipDueMails }],
  retention: [
    {
      what: 'done reminders',
      table: rows,
      isOver: sql`${rows.doneAt} <= now() - interval '30 days'`,
    },
    {
      what: 'reminder notices',
      table: snoozedReminders,
      isOver: sql`${snoozedReminders.dueAt} <= now() - interval '14 days'`,
    },
  ],
};
