import { SECOND } from '@portal/domain/time';
import { removeExpired, sweepRuns } from '@portal/usecases/operations/jobs';
import { removeExpiredRows } from '@portal/usecases/operations/remove-expired';
import { handOverIdleRuns } from '@portal/usecases/operations/sweep-runs';
import { handle } from '@portal/usecases/run/handler';
import { schedule } from '@portal/usecases/run/schedules';

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
