import { berlin } from '@portal/domain/time';
import type { Area } from '../area.ts';
import { schedule } from '../jobs/schedules.ts';
import { sweepFiles } from './jobs.ts';

/** The nightly search for files that no row of an area names. */
export const filesArea: Area = {
  name: 'files',
  jobs: [sweepFiles],
  schedules: [schedule(sweepFiles, {}, { cron: '45 3 * * *', timeZone: berlin })],
};
