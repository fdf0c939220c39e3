import { z } from 'zod';
import { MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';

/** Finds the tenants with due checks. */
export const startDueChecks = definePlatformJob({
  name: 'cloud-status.start-due',
  queue: 'cloud-status',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});

/**
 * Checks the due clouds of a tenant. The next sweep, a minute later, finds the rest. One job checks them all, so that their results share
 * commits; with a job for each cloud, the commits would limit how many clouds there can be.
 */
export const checkDueInstances = defineTenantJob({
  name: 'cloud-status.check-due',
  queue: 'cloud-status',
  payload: z.object({ tenantId: z.uuid() }),
  attempts: 1,
  backoffMs: SECOND,
  key: ({ tenantId }) => tenantId,
  timeoutMs: 2 * MINUTE,
});

/** Checks all active clouds of a tenant once, as a run. */
export const checkAllInstances = defineTenantJob({
  name: 'cloud-status.check-all',
  queue: 'cloud-status',
  payload: z.object({ tenantId: z.uuid() }),
  attempts: 3,
  backoffMs: 5 * SECOND,
  key: ({ tenantId }) => tenantId,
  runsAlone: true,
  timeoutMs: 30 * MINUTE,
});
