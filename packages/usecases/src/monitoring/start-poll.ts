import { violatedConstraint } from '@portal/db/database-error';
import { PortalError } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { consumeOrThrow, type RateLimit } from '@portal/platform/rate-limit';
import { addRun, joinRun } from '@portal/platform/runs/start';
import { pollServers } from './jobs.ts';

const perTenant: RateLimit = { name: 'look at servers per tenant', max: 1, windowSec: 10 };

/** Polls the tenant's servers now, or joins the run under way. Throws 429 `POLL_LOCKED` within ten seconds of the last call. */
export async function startPoll(ctx: UserContext): Promise<{ runId: string }> {
  const payload = { tenantId: ctx.tenantId };
  const by = { startedBy: ctx.actor.id };
  const start = () =>
    ctx.tx(async (tx) => {
      await consumeOrThrow(
        tx,
        perTenant,
        ctx.tenantId,
        (retryAfterSec) => new PortalError('POLL_LOCKED', undefined, { retryAfterSec }),
      );
      return (await joinRun(tx, pollServers, payload, by)) ?? (await addRun(tx, pollServers, payload, by));
    });
  const runId = await start().catch((error: unknown) => {
    // A due run began in between; join it.
    if (violatedConstraint(error) === 'runs_subject_unique') return start();
    throw error;
  });
  await ctx.enqueue(pollServers, payload, { runId });
  return { runId };
}
