import { sweepFiles } from '@portal/platform/files/jobs';
import { sweepOrphanFiles } from '@portal/platform/files/sweep-orphans';
import { handle } from '@portal/platform/jobs/handler';
import { schedule } from '@portal/platform/jobs/schedules';

export const fileHandlers = [
  handle(sweepFiles, async (visit, _payload, { signal }) => {
    await sweepOrphanFiles(visit, visit.files, signal);
  }),
];

export const fileSchedules = [schedule(sweepFiles, {}, { cron: '45 3 * * *', timeZone: 'Europe/Berlin' })];
