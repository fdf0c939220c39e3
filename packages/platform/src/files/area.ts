import { berlin } from '@portal/domain/time';
import type { Area } from '../area.ts';
import { schedule } from '../jobs/schedules.ts';
import { sweepFiles } from './jobs.ts';

/** The nightly sweep for files that no row names. */
export const filesArea: Area = {
  name: 'files',
  jobs: [sweepFiles],
  schedules: [schedule(sweepFiles, {}, { cron: '45 3 * * *', timeZone: berlin })],
};
