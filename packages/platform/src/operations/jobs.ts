import { z } from 'zod';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import { definePlatformJob } from '../jobs/job.ts';

/** Enqueues abandoned runs again. */
export const sweepRuns = definePlatformJob({
  name: 'operations.sweep-runs',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: SECOND,
  key: () => 'all',
  timeoutMs: MINUTE,
});

/** Removes expired rows, every night. */
export const removeExpired = definePlatformJob({
  name: 'operations.remove-expired',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 3,
  backoffMs: 5 * MINUTE,
  key: () => 'all',
  timeoutMs: 2 * HOUR,
});
