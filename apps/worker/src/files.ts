import { sweepFiles } from '@portal/usecases/files/jobs';
import { sweepOrphanFiles } from '@portal/usecases/files/sweep-orphans';
import { handle } from '@portal/usecases/run/handler';
import { schedule } from '@portal/usecases/run/schedules';

export const fileHandlers = [
  handle(sweepFiles, async (visit, _payload, { signal }) => {
    await sweepOrphanFiles(visit, visit.files, signal);
  }),
];

export const fileSchedules = [schedule(sweepFiles, {}, { cron: '45 3 * * *', timeZone: 'Europe/Berlin' })];
