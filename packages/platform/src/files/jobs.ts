import { z } from 'zod';
import { HOUR, MINUTE } from '@portal/domain/time';
import { definePlatformJob } from '../jobs/job.ts';

/** The nightly removal of files that no row points at. */
export const sweepFiles = definePlatformJob({
  name: 'files.sweep',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 3,
  backoffMs: 5 * MINUTE,
  key: () => 'all',
  timeoutMs: 2 * HOUR,
});
