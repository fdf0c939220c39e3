import { busy, unavailable } from '@portal/domain/errors';
import { longestWaitMs } from '../answer-in-time.ts';
import type { UserContext } from '../context.ts';
import { callLimits } from '../limits.ts';
import { consumeOrThrow, type RateLimit } from '../rate-limit.ts';
import { resource } from '../resource.ts';
import { openSemaphore } from '../semaphore.ts';
import { type Task, TaskError } from './task.ts';

const inPlaceOf = resource(() => {
  const refusal = () => unavailable('Too many files are being read right now. Please try again in a few seconds.');
  const inPlace = openSemaphore({ ...callLimits.uploads, refusal });
  const inSlotOfAccount = openSemaphore({ ...callLimits.ownUploads, refusal });
  return <T>({ actor, tenantId }: UserContext, until: number, work: () => Promise<T>): Promise<T> =>
    inPlace(() => inSlotOfAccount(work, { key: actor.id, until }), { key: tenantId });
});

/**
 * Work on what a user sent in a process apart, one piece for each user at a time. Every call counts for the limit, also one that is refused.
 * Throws 429 beyond the limit and while the tenant has used more than its share of the processes, 503 when too many wait, of the account,
 * of its tenant or in all, or its turn has not come after 15 s, and a TaskError where the input itself ends the process.
 */
export async function runUploadTask<Input, Output>(
  ctx: UserContext,
  limit: RateLimit,
  task: Task<Input, Output>,
  input: Input,
): Promise<Output> {
  await ctx.tx((tx) =>
    consumeOrThrow(tx, limit, ctx.actor.id, (waitSec) =>
      busy('This was asked for too often. Please wait before you ask again.', waitSec),
    ),
  );
  const whose = { tenantId: ctx.tenantId, ownerId: ctx.actor.id };
  const checkBudget = () => {
    const waitSec = ctx.sandbox.secondsUntilBudget(whose);
    if (waitSec !== null)
      throw busy('Your organization has had many files worked on. Please wait before you ask again.', waitSec);
  };
  checkBudget();
  const until = performance.now() + longestWaitMs;
  return inPlaceOf(ctx)(ctx, until, async () => {
    // Those before it may have used what was left.
    checkBudget();
    try {
      return await ctx.sandbox.run(task, input, whose, until);
    } catch (error) {
      if (!(error instanceof TaskError) || error.fault !== 'outside') throw error;
      throw unavailable('Files cannot be processed right now. Please try again in a few seconds.', error);
    }
  });
}
