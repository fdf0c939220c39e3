import { violatedConstraint } from '@portal/db/database-error';
import { PortalError } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { addOperation, joinOperation } from '@portal/platform/operations/start';
import { consume, type RateLimit, retryAfter } from '@portal/platform/rate-limit';
import { pollServers } from './jobs.ts';

const perTenant: RateLimit = { name: 'look at servers per tenant', max: 1, windowSec: 10 };

/** Looks at the tenant's servers now, or joins the run that is under way. Throws 429 `POLL_LOCKED` within ten seconds of the last time. */
export async function startPoll(ctx: UserContext): Promise<{ runId: string }> {
  const payload = { tenantId: ctx.tenantId };
  const by = { startedBy: ctx.actor.id };
  const start = () =>
    ctx.tx(async (tx) => {
      if (!(await consume(tx, perTenant, ctx.tenantId))) {
        const retryAfterSec = (await retryAfter(tx, perTenant, ctx.tenantId)) ?? 1;
        throw new PortalError('POLL_LOCKED', undefined, { retryAfterSec });
      }
      return (await joinOperation(tx, pollServers, payload, by)) ?? (await addOperation(tx, pollServers, payload, by));
    });
  const runId = await start().catch((error: unknown) => {
    // A run that was due began in between; now there is one to join.
    if (violatedConstraint(error) === 'runs_subject_unique') return start();
    throw error;
  });
  await ctx.enqueue(pollServers, payload, { runId });
  return { runId };
}
