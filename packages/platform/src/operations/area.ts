import { sql } from 'drizzle-orm';
import { removeExpiredAuditEntries } from '@portal/db/schema/platform/audit';
import { rateWindows, runs } from '@portal/db/schema/platform/operations';
import { berlin, SECOND } from '@portal/domain/time';
import type { Area } from '../area.ts';
import { schedule } from '../jobs/schedules.ts';
import { removeExpired, sweepRuns } from './jobs.ts';

/** What keeps the work of all areas going, and removes what they keep for a time only. */
export const operationsArea: Area = {
  name: 'operations',
  tags: { operations: 'Health, version, figures, and the work going on in the background.' },
  jobs: [sweepRuns, removeExpired],
  schedules: [
    schedule(sweepRuns, {}, { everyMs: 20 * SECOND }),
    schedule(removeExpired, {}, { cron: '15 3 * * *', timeZone: berlin }),
  ],
  // As many as there are jobs in it, each of which runs one at a time: none waits for another.
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
