import { type Area, jobsOf } from '../area.ts';
import { type Handler, handle } from '../jobs/handler.ts';
import { removeExpiredRows } from '../retention.ts';
import { handOverIdleRuns } from '../runs/sweep.ts';
import { removeExpired, sweepRuns } from './jobs.ts';

export function operationsHandlers(areas: readonly Area[]): Handler[] {
  const jobs = jobsOf(areas);
  const retentions = areas.flatMap(({ retention = [] }) => retention);
  return [
    handle(sweepRuns, (ctx) => handOverIdleRuns(ctx, jobs)),
    handle(removeExpired, (ctx, _payload, { signal }) => removeExpiredRows(ctx, retentions, signal)),
  ];
}
