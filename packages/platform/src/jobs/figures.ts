import { unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { Queues } from '../queues/queues.ts';
import { withTimeout } from '../timeout.ts';
import { queueNames, type QueueName } from './job.ts';
import { describeRhythm, Tick } from './schedules.ts';

/** Figures of one kind of job. */
export interface JobFigures {
  queue: QueueName;
  name: string;
  schedule: string | null;
  nextRunAt: Date | null;
  waiting: number;
  active: number;
  failed: number;
  /** The newest of the failed jobs that the queue keeps. */
  lastFailure: { at: Date; reason: string } | null;
}

/** Failed jobs that are looked through for the newest of each kind. */
const maxFailed = 100;
const maxReason = 500;

const timeoutMs = 5 * SECOND;
/** Maximum age of the figures: repeated and concurrent calls make the queues count only once. */
const freshMs = 2 * SECOND;
const maxSchedules = 1_000;

/** Figures of all queues by job name; throws 503 while the queue cannot be reached. */
export function openJobFigures(queues: Queues): () => Promise<Map<string, JobFigures>> {
  let latest: { at: number; figures: Promise<Map<string, JobFigures>> } | undefined;
  return async () => {
    if (!latest || performance.now() - latest.at > freshMs) {
      const reading = { at: performance.now(), figures: readFigures(queues) };
      latest = reading;
      reading.figures.catch(() => {
        if (latest === reading) latest = undefined;
      });
    }
    try {
      return await withTimeout(latest.figures, timeoutMs);
    } catch (cause) {
      throw unavailable('The job queue cannot be reached right now. Please try again in a few seconds.', cause);
    }
  };
}

async function readFigures(queues: Queues): Promise<Map<string, JobFigures>> {
  const figures = new Map<string, JobFigures>();
  const figuresOf = (queue: QueueName, name: string): JobFigures => {
    let known = figures.get(name);
    if (!known) {
      known = { queue, name, schedule: null, nextRunAt: null, waiting: 0, active: 0, failed: 0, lastFailure: null };
      figures.set(name, known);
    }
    return known;
  };
  const [tallies] = await Promise.all([
    queues.tally(),
    Promise.all(
      queueNames.map(async (name) => {
        const queue = await queues.queue(name);
        for (const scheduler of await queue.getJobSchedulers(0, maxSchedules)) {
          const tick = Tick.safeParse(scheduler.template?.data);
          if (!tick.success) continue;
          const job = figuresOf(name, tick.data.job);
          const rhythm = describeRhythm(scheduler);
          job.schedule = job.schedule === null ? rhythm : `${job.schedule}; ${rhythm}`;
          const next = scheduler.next === undefined ? null : new Date(scheduler.next);
          if (next && (!job.nextRunAt || next < job.nextRunAt)) job.nextRunAt = next;
        }
        for (const { name: kind, failedReason, finishedOn } of await queue.getFailed(0, maxFailed - 1)) {
          if (!failedReason || finishedOn === undefined) continue;
          const job = figuresOf(name, kind);
          const at = new Date(finishedOn);
          if (!job.lastFailure || at > job.lastFailure.at)
            job.lastFailure = { at, reason: failedReason.slice(0, maxReason) };
        }
      }),
    ),
  ]);
  for (const { queue, name, state, count } of tallies) figuresOf(queue, name)[state] += count;
  return figures;
}
