import { violatedConstraint } from '@portal/db/database-error';
import { conflict, PortalError } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { consumeOrThrow, type RateLimit } from '@portal/platform/rate-limit';
import { addRun, joinRun } from '@portal/platform/runs/start';
import { fetchInvoices } from './jobs.ts';
import { storedMailbox } from './stored-mailbox.ts';

/** Each fetch signs in to the tenant's mail server, which locks an account after too many sign-ins. */
const perTenant: RateLimit = { name: 'fetches of invoices by hand per tenant', max: 1, windowSec: 10 };

/**
 * Starts a fetch now, even if the mailbox is switched off, or joins the run in progress. Throws 409 `MAILBOX_NOT_CONFIGURED`, and 429
 * `POLL_LOCKED` within ten seconds of the last manual fetch.
 */
export async function startFetch(ctx: UserContext): Promise<{ runId: string }> {
  const payload = { tenantId: ctx.tenantId };
  const by = { startedBy: ctx.actor.id };
  const start = () =>
    ctx.tx(async (tx) => {
      if (!(await storedMailbox(tx))) throw conflict('MAILBOX_NOT_CONFIGURED');
      await consumeOrThrow(
        tx,
        perTenant,
        ctx.tenantId,
        (retryAfterSec) =>
          new PortalError('POLL_LOCKED', 'The last fetch started a moment ago. Please wait a few seconds.', {
            retryAfterSec,
          }),
      );
      return (await joinRun(tx, fetchInvoices, payload, by)) ?? (await addRun(tx, fetchInvoices, payload, by));
    });
  const runId = await start().catch((error: unknown) => {
    // A scheduled fetch started in the meantime; the second attempt joins it.
    if (violatedConstraint(error) === 'runs_subject_unique') return start();
    throw error;
  });
  await ctx.enqueue(fetchInvoices, payload, { runId });
  return { runId };
}
