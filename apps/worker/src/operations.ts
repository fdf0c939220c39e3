import { SECOND } from '@portal/domain/time';
import { handle } from '@portal/platform/jobs/handler';
import { schedule } from '@portal/platform/jobs/schedules';
import { removeExpired, sweepRuns } from '@portal/platform/operations/jobs';
import { handOverIdleRuns } from '@portal/platform/operations/sweep';
import { removeExpiredRows } from '@portal/platform/retention';

export const operationsHandlers = [
  handle(sweepRuns, (visit) => handOverIdleRuns(visit)),
  handle(removeExpired, async (visit, _payload, { signal }) => {
    await removeExpiredRows(visit, signal);
  }),
];

export const operationsSchedules = [
  schedule(sweepRuns, {}, { everyMs: 20 * SECOND }),
  schedule(removeExpired, {}, { cron: '15 3 * * *', timeZone: 'Europe/Berlin' }),
];
