import { jobOutcomes } from '@portal/db/schema/platform/operations';
import { jobsOf } from '@portal/platform/area';
import type { UserContext } from '@portal/platform/context';
import type { QueueName } from '@portal/platform/jobs/job';
import { areas } from '../areas.ts';

export interface JobEntry {
  queue: QueueName;
  name: string;
  schedule: string | null;
  lastRunAt: Date | null;
  lastState: 'succeeded' | 'failed' | null;
  lastDurationMs: number | null;
  nextRunAt: Date | null;
  waiting: number;
  active: number;
  failed: number;
  lastFailure: { at: Date; reason: string } | null;
}

const idle = { schedule: null, nextRunAt: null, waiting: 0, active: 0, failed: 0, lastFailure: null };

/** Every kind of background job for operators: its schedule, the last outcome and the current counts. */
export async function listJobs(ctx: UserContext): Promise<JobEntry[]> {
  const [figures, outcomes] = await Promise.all([ctx.jobFigures(), ctx.read((db) => db.select().from(jobOutcomes))]);
  const lastOf = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
  return jobsOf(areas).map(({ queue, name }) => {
    const { lastRunAt = null, lastState = null, lastDurationMs = null } = lastOf.get(name) ?? {};
    return { ...idle, ...figures.get(name), queue, name, lastRunAt, lastState, lastDurationMs };
  });
}
