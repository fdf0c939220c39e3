import { berlin } from '@portal/domain/time';
import type { Area } from '../area.ts';
import { handle } from '../jobs/handler.ts';
import { schedule } from '../jobs/schedules.ts';
import { sweepFiles } from './jobs.ts';

/** The nightly search for files that no row of these areas names. */
export function filesArea(areas: readonly Area[]): Area {
  const owners = areas.flatMap(({ files = [] }) => files);
  return {
    name: 'files',
    jobs: [
      handle(sweepFiles, async (ctx, _payload, { signal }) => {
        const { sweepOrphanFiles } = await import('./sweep-orphans.ts');
        await sweepOrphanFiles(ctx, owners, signal);
      }),
    ],
    schedules: [schedule(sweepFiles, {}, { cron: '45 3 * * *', timeZone: berlin })],
  };
}
