import { z } from 'zod';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

/** Brings a tenant's accounts and groups in line with its directory. Never retries, because the schedule starts the next run anyway. */
export const syncDirectory = defineTenantJob({
  name: 'directory.sync',
  queue: 'directory',
  payload: z.object({ tenantId: z.uuid(), force: z.boolean() }),
  attempts: 1,
  backoffMs: SECOND,
  key: ({ tenantId }) => tenantId,
  runsAlone: true,
  timeoutMs: HOUR,
});

/** Starts the synchronizations that are due. */
export const startDueSyncs = definePlatformJob({
  name: 'directory.start-due',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});
