import { sql } from 'drizzle-orm';
import { removeExpiredAuditEntries } from '@portal/db/schema/platform/audit';
import { rateWindows, runs } from '@portal/db/schema/platform/operations';
import { berlin, SECOND } from '@portal/domain/time';
import type { Area } from '../area.ts';
import { schedule } from '../jobs/schedules.ts';
import { removeExpired, sweepRuns } from './jobs.ts';

/** Keeps the runs of all areas going, and removes expired rows. */
export const operationsArea: Area = {
  name: 'operations',
  tags: { operations: 'Health, version, metrics and background work.' },
  jobs: [sweepRuns, removeExpired],
  schedules: [
    schedule(sweepRuns, {}, { everyMs: 20 * SECOND }),
    schedule(removeExpired, {}, { cron: '15 3 * * *', timeZone: berlin }),
  ],
  // One slot per job, and each job runs one at a time, so no job waits for another.
  concurrency: { upkeep: 7 },
  retention: [
    { what: 'runs', table: runs, isOver: sql`${runs.finishedAt} <= now() - interval '90 days'` },
    {
      what: 'audit entries',
      remove: async (tx) => Number((await tx.execute<{ removed: number }>(removeExpiredAuditEntries)).rows[0]?.removed),
    },
    { what: 'rate windows', table: rateWindows, isOver: sql`${rateWindows.expiresAt} <= now()` },
  ],
};
