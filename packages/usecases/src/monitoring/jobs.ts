import { z } from 'zod';
import { MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

/** Looks at the servers of a tenant. What one of them does is its status and no failure of the run. */
export const pollServers = defineTenantJob({
  name: 'monitoring.poll',
  queue: 'monitoring',
  payload: z.object({ tenantId: z.uuid() }),
  attempts: 1,
  backoffMs: SECOND,
  key: ({ tenantId }) => tenantId,
  runsAlone: true,
  timeoutMs: 15 * MINUTE,
});

/** Begins the runs whose time has come. */
export const startDuePolls = definePlatformJob({
  name: 'monitoring.start-due',
  queue: 'monitoring',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});
