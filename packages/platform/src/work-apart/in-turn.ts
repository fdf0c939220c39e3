import { busy, unavailable } from '@portal/domain/errors';
import type { UserContext } from '../context.ts';
import { consumeOrThrow, type RateLimit } from '../rate-limit.ts';
import { resource } from '../resource.ts';
import { openSemaphore, openSharedSlots } from '../semaphore.ts';
import { type Task, TaskError } from './task.ts';

/** All that are at work or wait, each with its files in memory; one user has at most ten of these places. */
const maxUnderWay = 22;

const places = resource(() => {
  const refusal = () => unavailable('Too many files are being read right now. Please try again in a few seconds.');
  const inPlace = openSemaphore({ slots: maxUnderWay, queueLimit: 0, refusal });
  const inSlot = openSharedSlots({
    each: { slots: 1, queueLimit: 9 },
    // As many as there are processes, so that pictures never wait behind more than what these are at.
    all: { slots: 2, queueLimit: maxUnderWay },
    refusal,
  });
  return <T>(userId: string, work: () => Promise<T>): Promise<T> => inPlace(() => inSlot(userId, work));
});

/**
 * Work on what a user sent in a process apart, one for each user at a time. A user who asks for too much is refused before anything is counted
 * (503), then by the limit (429). Throws a TaskError where the input itself ends the process.
 */
export const inTurn = <Input, Output>(
  ctx: UserContext,
  limit: RateLimit,
  task: Task<Input, Output>,
  input: Input,
): Promise<Output> =>
  places(ctx)(ctx.actor.id, async () => {
    await ctx.tx((tx) =>
      consumeOrThrow(tx, limit, ctx.actor.id, (waitSec) =>
        busy('This was asked for too often. Please wait before you ask again.', waitSec),
      ),
    );
    try {
      return await ctx.workApart.run(task, input);
    } catch (error) {
      if (!(error instanceof TaskError) || error.fault !== 'outside') throw error;
      throw unavailable('Files cannot be processed right now. Please try again in a few seconds.', error);
    }
  });
