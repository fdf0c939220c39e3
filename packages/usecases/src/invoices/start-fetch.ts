import { conflict } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { addRun, conflictWithUnfinished } from '@portal/platform/runs/start';
import { fetchInvoices } from './jobs.ts';
import { storedMailbox } from './stored-mailbox.ts';

/**
 * Fetches invoices now, also from a mailbox that is switched off. Throws 409 `MAILBOX_NOT_CONFIGURED` and, while a fetch is under way,
 * 409 `FETCH_RUNNING`.
 */
export async function startFetch(ctx: UserContext): Promise<{ runId: string }> {
  const payload = { tenantId: ctx.tenantId };
  const runId = await ctx
    .tx(async (tx) => {
      if (!(await storedMailbox(tx))) throw conflict('MAILBOX_NOT_CONFIGURED');
      return addRun(tx, fetchInvoices, payload, { startedBy: ctx.actor.id });
    })
    .catch(conflictWithUnfinished('FETCH_RUNNING'));
  await ctx.enqueue(fetchInvoices, payload, { runId });
  return { runId };
}
