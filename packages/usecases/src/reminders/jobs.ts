import { z } from 'zod';
import { MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob } from '@portal/platform/jobs/job';

/** Queues the mails of due reminders in the outbox. */
export const queueDueMails = definePlatformJob({
  name: 'reminders.queue-due-mails',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: 5 * MINUTE,
});
