import { z } from 'zod';
import { MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '../jobs/job.ts';

/** Sends the due mails of one tenant's outbox. */
export const deliverMails = defineTenantJob({
  name: 'mails.deliver',
  queue: 'mail',
  payload: z.object({ tenantId: z.uuid() }),
  attempts: 5,
  backoffMs: 2 * SECOND,
  key: ({ tenantId }) => tenantId,
  timeoutMs: 15 * MINUTE,
});

/** Finds tenants with due mails whose nudge was lost. */
export const sweepMails = definePlatformJob({
  name: 'mails.sweep',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});
