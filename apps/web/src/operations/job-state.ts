import type { Job } from '@portal/client/interface';
import type { StatusKind } from '../ui/status.tsx';

export type JobState = 'failed' | 'overdue' | 'failedBefore' | 'active' | 'waiting' | 'never' | 'fine';

// A worker that is busy starts a job some seconds late.
const lateMs = 60_000;

/** What an operator should know first about a kind of job. */
export function jobState(job: Job, nowMs: number): JobState {
  if (job.lastState === 'failed') return 'failed';
  if (isLate(job, nowMs)) return 'overdue';
  if (job.failed > 0) return 'failedBefore';
  if (job.active > 0) return 'active';
  if (job.waiting > 0) return 'waiting';
  return job.lastRunAt === null ? 'never' : 'fine';
}

export const kindOf: Readonly<Record<JobState, StatusKind>> = {
  failed: 'error',
  overdue: 'warning',
  failedBefore: 'warning',
  active: 'info',
  waiting: 'info',
  never: 'unknown',
  fine: 'ok',
};

export const isProblem = (state: JobState): boolean => kindOf[state] === 'error' || kindOf[state] === 'warning';

/** Whether workers take work: not if all that should start every few seconds is late. Unknown if nothing should. */
export function workerState(jobs: readonly Job[], nowMs: number): 'working' | 'standing' | 'unknown' {
  const frequent = jobs.filter(({ schedule }) => schedule?.startsWith('every '));
  if (frequent.length === 0) return 'unknown';
  return frequent.every((job) => isLate(job, nowMs)) ? 'standing' : 'working';
}

const isLate = ({ nextRunAt }: Job, nowMs: number): boolean =>
  nextRunAt !== null && Date.parse(nextRunAt) < nowMs - lateMs;

export interface QueueFigures {
  queue: string;
  waiting: number;
  active: number;
  failed: number;
}

/** The figures of each queue, in the order of the jobs. */
export function queuesOf(jobs: readonly Job[]): QueueFigures[] {
  return [...Map.groupBy(jobs, ({ queue }) => queue)].map(([queue, members]) => {
    const sum = (key: 'waiting' | 'active' | 'failed') => members.reduce((total, job) => total + job[key], 0);
    return { queue, waiting: sum('waiting'), active: sum('active'), failed: sum('failed') };
  });
}
