import { isDeepStrictEqual } from 'node:util';
import type { JobSchedulerJson, RepeatOptions } from 'bullmq';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Database } from '@portal/db/open';
import { DAY, HOUR, MINUTE, SECOND } from '@portal/domain/time';
import type { Log } from '../log.ts';
import type { BullQueue } from '../queues/backend.ts';
import { isConnectionTrouble } from '../queues/outage.ts';
import type { Queues } from '../queues/queues.ts';
import { withTimeout, TimeoutError } from '../timeout.ts';
import { type AnyJob, type PayloadOf, queueNames } from './job.ts';

/** When a schedule fires: at an interval, or by cron expression in a time zone. */
export type Rhythm = { everyMs: number } | { cron: string; timeZone: string };

export interface Schedule {
  job: AnyJob;
  /** Encoded for the queue. */
  payload: unknown;
  rhythm: Rhythm;
}

/** A job that starts on a schedule, once across all workers each time. Times missed while no worker ran are made up for once. */
export const schedule = <Job extends AnyJob>(job: Job, payload: PayloadOf<Job>, rhythm: Rhythm): Schedule => ({
  job,
  payload: z.encode(job.payload, payload),
  rhythm,
});

/** A schedule enqueues this request for a job instead of the job itself, so that the rule "one at a time" applies to it too. */
export const Tick = z.object({ job: z.string(), payload: z.unknown() });

export const scheduleId = ({ job, payload }: Schedule): string => `${job.name}/${job.key(job.payload.parse(payload))}`;

const tickOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: SECOND },
  removeOnComplete: true,
  removeOnFail: { count: 20 },
};

/**
 * Sets the queue's schedules to those of this release, now and every `everyMs`. That restores them in an emptied Redis and removes those of
 * older releases. Unchanged schedules keep their next time.
 */
export function keepSchedules(
  { queues, database }: { queues: Queues; database: Database },
  schedules: Schedule[],
  { log, everyMs }: { log: Log; everyMs: number },
): { stop(): Promise<void> } {
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  async function ensure(): Promise<void> {
    try {
      await unlessAnotherWorkerDoes(database, async () => {
        for (const name of queueNames) {
          if (isStopping) return;
          const wanted = schedules.filter(({ job }) => job.queue === name);
          await withTimeout(ensureQueue(await queues.queue(name), wanted), ensureQueueMs);
        }
      });
    } catch (error) {
      // The outage has been logged already; the next round comes soon.
      if (!isConnectionTrouble(error) && !(error instanceof TimeoutError))
        log.error({ err: error }, 'the schedules could not be set');
    } finally {
      if (!isStopping) timer = setTimeout(next, everyMs);
    }
  }
  let round = Promise.resolve();
  const next = () => {
    round = ensure();
  };
  next();
  return {
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      await round;
    },
  };
}

const ensureQueueMs = 5 * SECOND;

/**
 * If two workers found a schedule missing, both would set it, and it would fire a second time at once. A worker does nothing while
 * another one sets the schedules.
 */
async function unlessAnotherWorkerDoes(database: Database, work: () => Promise<void>): Promise<void> {
  await database.acrossTenants('one worker at a time sets the schedules', async (tx) => {
    const { rows } = await tx.execute<{ isFree: boolean }>(
      sql`select pg_try_advisory_xact_lock(${advisoryLocks.schedules}) as "isFree"`,
    );
    if (rows[0]?.isFree) await work();
  });
}

async function ensureQueue(queue: BullQueue, schedules: Schedule[]): Promise<void> {
  await withTimeout(queue.waitUntilReady(), 2 * SECOND);
  const found = new Map((await queue.getJobSchedulers(0, -1)).map((scheduler) => [scheduler.key, scheduler]));
  for (const wanted of schedules) {
    const id = scheduleId(wanted);
    const known = found.get(id);
    found.delete(id);
    // An upsert would keep a next time that lies in the future
    if (known && isFromLaterClock(known, wanted)) await queue.removeJobScheduler(id);
    else if (known && isSame(known, wanted) && !(await hasLostNextJob(queue, id, known))) continue;
    await queue.upsertJobScheduler(id, repeatOf(wanted.rhythm), {
      name: `${wanted.job.name}.tick`,
      data: tickOf(wanted),
      opts: tickOptions,
    });
  }
  for (const id of found.keys()) await queue.removeJobScheduler(id);
}

const tickOf = ({ job, payload }: Schedule): z.infer<typeof Tick> => ({ job: job.name, payload });

const repeatOf = (rhythm: Rhythm): Omit<RepeatOptions, 'key'> =>
  'everyMs' in rhythm ? { every: rhythm.everyMs } : { pattern: rhythm.cron, tz: rhythm.timeZone };

// An upsert would move an overdue time to the next one, so unchanged schedules are left alone.
const isSame = (known: JobSchedulerJson, wanted: Schedule): boolean => {
  const { every, pattern, tz } = repeatOf(wanted.rhythm);
  return (
    known.every === every &&
    known.pattern === pattern &&
    known.tz === tz &&
    isDeepStrictEqual(known.template?.data, tickOf(wanted))
  );
};

/** Workers whose clocks differ by less than this leave each other's times alone. */
const clocksDifferMs = 2 * MINUTE;

/**
 * Whether the clock was set back after the next time was computed: the schedule would otherwise pause for as long as the clock was
 * ahead. Two daily times are 25 hours apart at most.
 */
const isFromLaterClock = ({ next = 0 }: JobSchedulerJson, { rhythm }: Schedule): boolean =>
  next > Date.now() + ('everyMs' in rhythm ? rhythm.everyMs : DAY + HOUR) + clocksDifferMs;

const surelyPickedUpMs = 30 * SECOND;

/** If a worker dies at the wrong moment, a schedule can lose its next job; it would never fire again. */
const hasLostNextJob = async (queue: BullQueue, id: string, known: JobSchedulerJson): Promise<boolean> =>
  known.next !== undefined &&
  known.next < Date.now() - surelyPickedUpMs &&
  (await queue.getJob(`repeat:${id}:${known.next}`)) === undefined;

/** For people: `every 10 s`, `15 3 * * * (Europe/Berlin)`. */
export const describeRhythm = ({
  every,
  pattern,
  tz,
}: {
  every?: number;
  pattern?: string;
  tz?: string;
}): string | null => {
  if (every !== undefined) return `every ${every / SECOND} s`;
  return pattern === undefined ? null : `${pattern} (${tz ?? 'UTC'})`;
};
