import { type Handler, handle } from '@portal/platform/jobs/handler';
import { queueDueMails } from './jobs.ts';
import { queueDueReminderMails } from './queue-due-mails.ts';

export const reminderHandlers: Handler[] = [
  handle(queueDueMails, (ctx, _payload, { signal }) => queueDueReminderMails(ctx, signal)),
];
