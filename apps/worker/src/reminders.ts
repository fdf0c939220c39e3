import { SECOND } from '@portal/domain/time';
import { queueDueMails } from '@portal/usecases/reminders/jobs';
import { queueDueReminderMails } from '@portal/usecases/reminders/queue-due-mails';
import { handle } from '@portal/usecases/run/handler';
import { schedule } from '@portal/usecases/run/schedules';

export const reminderHandlers = [
  handle(queueDueMails, (visit, _payload, { signal }) => queueDueReminderMails(visit, signal)),
];

export const reminderSchedules = [schedule(queueDueMails, {}, { everyMs: 5 * SECOND })];
