import { unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { BullQueue } from '../queues/backend.ts';
import type { Queues } from '../queues/queues.ts';
import { withTimeout } from '../timeout.ts';
import { queueNames, type QueueName } from './job.ts';
import { describeRhythm, Tick } from './schedules.ts';

/** What the queue knows about one kind of job. */
export interface JobFigures {
  queue: QueueName;
  name: string;
  schedule: string | null;
  nextRunAt: Date | null;
  waiting: number;
  active: number;
  failed: number;
}

/** Jobs looked at per queue and state; beyond that the figures say "at least". */
const looked = 1_000;
const timeoutMs = 5 * SECOND;

/** Figures by job name of all queues; throws 503 while the queue cannot be reached. */
export async function readJobFigures(queues: Queues): Promise<Map<string, JobFigures>> {
  try {
    const lists = await withTimeout(
      Promise.all(queueNames.map(async (name) => readQueue(name, await queues.queue(name)))),
      timeoutMs,
    );
    return new Map(lists.flat().map((figures) => [figures.name, figures]));
  } catch (cause) {
    throw unavailable('The job queue cannot be reached right now. Please try again in a few seconds.', cause);
  }
}

async function readQueue(name: QueueName, queue: BullQueue): Promise<JobFigures[]> {
  await queue.waitUntilReady();
  const [schedulers, waiting, active, failed] = await Promise.all([
    queue.getJobSchedulers(0, looked),
    // A job that waits for its next try is shown as waiting, too.
    queue.getJobs(['waiting', 'delayed'], 0, looked - 1),
    queue.getJobs(['active'], 0, looked - 1),
    queue.getJobs(['failed'], 0, looked - 1),
  ]);
  const figures = new Map<string, JobFigures>();
  const of = (job: string): JobFigures => {
    let known = figures.get(job);
    if (!known) {
      known = { queue: name, name: job, schedule: null, nextRunAt: null, waiting: 0, active: 0, failed: 0 };
      figures.set(job, known);
    }
    return known;
  };
  for (const [state, jobs] of Object.entries({ waiting, active, failed }) as [
    'waiting' | 'active' | 'failed',
    typeof waiting,
  ][]) {
    // What a schedule puts there is a wish for a job, not the job.
    for (const job of jobs) if (job.repeatJobKey === undefined) of(job.name)[state] += 1;
  }
  for (const scheduler of schedulers) {
    const wish = Tick.safeParse(scheduler.template?.data);
    if (!wish.success) continue;
    const job = of(wish.data.job);
    const rhythm = describeRhythm(scheduler);
    job.schedule = job.schedule === null ? rhythm : `${job.schedule}; ${rhythm}`;
    const next = scheduler.next === undefined ? null : new Date(scheduler.next);
    if (next && (!job.nextRunAt || next < job.nextRunAt)) job.nextRunAt = next;
  }
  return [...figures.values()];
}
