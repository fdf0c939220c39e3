import { z } from 'zod';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

/** Brings a tenant's accounts and groups in line with its directory. A failure is told at once: the next time comes by itself. */
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

/** Begins the synchronizations whose time has come. */
export const startDueSyncs = definePlatformJob({
  name: 'directory.start-due',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});
