import { z } from 'zod';
import { MINUTE, SECOND } from '@portal/domain/time';
import { defineTenantJob } from '@portal/platform/jobs/job';

/** Carries out a run that searches for the icon of one favorite. */
export const discoverIcon = defineTenantJob({
  name: 'favorites.discover-icon',
  queue: 'icons',
  payload: z.object({ tenantId: z.uuid(), favoriteId: z.uuid() }),
  attempts: 2,
  backoffMs: 10 * SECOND,
  key: ({ favoriteId }) => favoriteId,
  timeoutMs: MINUTE,
});
