import { busy, unavailable } from '@portal/domain/errors';
import { longestWaitMs } from '../answer-in-time.ts';
import type { UserContext } from '../context.ts';
import { callLimits } from '../limits.ts';
import { consumeOrThrow, type RateLimit } from '../rate-limit.ts';
import { resource } from '../resource.ts';
import { openSemaphore } from '../semaphore.ts';
import { type Task, TaskError } from './task.ts';

const uploadSlots = resource(() => {
  const refusal = () => unavailable('Too many files are being read right now. Please try again in a few seconds.');
  const inSlotOfTenant = openSemaphore({ ...callLimits.uploads, refusal });
  const inSlotOfAccount = openSemaphore({ ...callLimits.ownUploads, refusal });
  return <T>({ actor, tenantId }: UserContext, until: number, work: () => Promise<T>): Promise<T> =>
    inSlotOfTenant(() => inSlotOfAccount(work, { key: actor.id, until }), { key: tenantId });
});

/**
 * Runs a task on a user's upload in a sandbox process, one task per user at a time. All calls count for the limit, including refused ones.
 * Throws 429 above the limit and while the tenant has exceeded its time budget; 503 if too many tasks wait (of the account, of its tenant
 * or in total) or the turn has not come after 15 s; and a TaskError if the input ends the process.
 */
export async function runUploadTask<Input, Output>(
  ctx: UserContext,
  limit: RateLimit,
  task: Task<Input, Output>,
  input: Input,
): Promise<Output> {
  await ctx.tx((tx) =>
    consumeOrThrow(tx, limit, ctx.actor.id, (waitSec) =>
      busy('You have tried this too often. Please wait before you try again.', waitSec),
    ),
  );
  const owner = { tenantId: ctx.tenantId, ownerId: ctx.actor.id };
  const checkBudget = () => {
    const waitSec = ctx.sandbox.secondsUntilBudget(owner);
    if (waitSec !== null)
      throw busy('Your organization has processed many files recently. Please wait before you try again.', waitSec);
  };
  checkBudget();
  const until = performance.now() + longestWaitMs;
  return uploadSlots(ctx)(ctx, until, async () => {
    // Earlier tasks may have used up the budget meanwhile.
    checkBudget();
    try {
      return await ctx.sandbox.run(task, input, owner, until);
    } catch (error) {
      if (!(error instanceof TaskError) || error.fault !== 'outside') throw error;
      throw unavailable('Files cannot be processed right now. Please try again in a few seconds.', error);
    }
  });
}
