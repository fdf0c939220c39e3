import { z } from 'zod';
import { fetchMs } from '@portal/domain/invoices/limits';
import { MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

/** Fetches a tenant's invoices. A failure is told at once: the next time comes by itself. */
export const fetchInvoices = defineTenantJob({
  name: 'invoices.fetch',
  queue: 'invoices',
  payload: z.object({ tenantId: z.uuid() }),
  attempts: 1,
  backoffMs: SECOND,
  key: ({ tenantId }) => tenantId,
  runsAlone: true,
  // It ends by itself before, but for the mail it is at.
  timeoutMs: fetchMs + MINUTE,
});

/** Begins the fetches whose time has come. */
export const startDueFetches = definePlatformJob({
  name: 'invoices.start-due',
  queue: 'invoices',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});
