import { SECOND } from '@portal/domain/time';
import { handle } from '@portal/platform/jobs/handler';
import { schedule } from '@portal/platform/jobs/schedules';
import { queueDueMails } from '@portal/usecases/reminders/jobs';
import { queueDueReminderMails } from '@portal/usecases/reminders/queue-due-mails';

export const reminderHandlers = [
  handle(queueDueMails, (visit, _payload, { signal }) => queueDueReminderMails(visit, signal)),
];

export const reminderSchedules = [schedule(queueDueMails, {}, { everyMs: 5 * SECOND })];
