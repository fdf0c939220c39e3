import { z } from 'zod';
import { HOUR, MINUTE } from '@portal/domain/time';
import { definePlatformJob } from '../jobs/job.ts';

/** Removes files that no row names, every night. */
export const sweepFiles = definePlatformJob({
  name: 'files.sweep',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 3,
  backoffMs: 5 * MINUTE,
  key: () => 'all',
  timeoutMs: 2 * HOUR,
});
