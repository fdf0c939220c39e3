import { z } from 'zod';
import { MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

/**
 * Polls the servers of a tenant. A failing server changes its own status and does not fail the run. A job for each server would fill the
 * queue with jobs that only wait.
 */
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

/** Starts the runs that are due. */
export const startDuePolls = definePlatformJob({
  name: 'monitoring.start-due',
  queue: 'monitoring',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});
