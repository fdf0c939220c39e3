import { z } from 'zod';
import { fetchMs } from '@portal/domain/invoices/limits';
import { MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

/** Fetches a tenant's invoices. A failure is reported at once, because the next scheduled fetch is the retry. */
export const fetchInvoices = defineTenantJob({
  name: 'invoices.fetch',
  queue: 'invoices',
  payload: z.object({ tenantId: z.uuid() }),
  attempts: 1,
  backoffMs: SECOND,
  key: ({ tenantId }) => tenantId,
  runsAlone: true,
  // A fetch ends itself after `fetchMs`; the mail in progress may take longer.
  timeoutMs: fetchMs + MINUTE,
});

/** Starts the fetches that are due. */
export const startDueFetches = definePlatformJob({
  name: 'invoices.start-due',
  queue: 'invoices',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});
