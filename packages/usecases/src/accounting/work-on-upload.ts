import { busy, invalid, unavailable } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { consume, type RateLimit, retryAfter } from '@portal/platform/rate-limit';
import { resource } from '@portal/platform/resource';
import { openSharedSlots } from '@portal/platform/semaphore';
import { type Task, TaskError, type TaskLimits } from '@portal/platform/work-apart/task';

const perUser: RateLimit = { name: 'accounting uploads per user', max: 120, windowSec: MINUTE / SECOND };

/** Of every task on an upload; the longest preview of a hundred thousand lines has some 40 MB. */
export const taskLimits: TaskLimits = { timeoutMs: 20 * SECOND, maxMemoryMb: 400, maxOutputBytes: 64 * 1024 * 1024 };

/** At most as many as there are processes, and one for each user. */
const places = resource(() =>
  openSharedSlots({
    each: { slots: 1, queueLimit: 9 },
    all: { slots: 2, queueLimit: 20 },
    refusal: () => unavailable('Too many files are being read right now. Please try again in a few seconds.'),
  }),
);

/**
 * Works on an upload in a process apart. Throws what the task refuses, 400 `FILE_UNREADABLE` for an upload that ends its process, 429, and
 * 503 when too many others wait or the process was ended from outside.
 */
export const workOnUpload = <Input, Output>(
  ctx: UserContext,
  task: Task<Input, Output>,
  input: Input,
): Promise<Output> =>
  places(ctx)(ctx.actor.id, async () => {
    await ctx.tx(async (tx) => {
      if (await consume(tx, perUser, ctx.actor.id)) return;
      const waitSec = await retryAfter(tx, perUser, ctx.actor.id);
      throw busy('Too many files were sent. Please wait before you send another.', waitSec ?? 1);
    });
    try {
      return await ctx.workApart.run(task, input);
    } catch (error) {
      if (!(error instanceof TaskError) || error.fault === 'program') throw error;
      if (error.fault === 'outside')
        throw unavailable('Files cannot be read right now. Please try again in a few seconds.', error);
      throw invalid('FILE_UNREADABLE', 'This file takes too much time or memory to read.', { cause: error });
    }
  });
