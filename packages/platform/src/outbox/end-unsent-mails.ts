import { inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { mails } from '@portal/db/schema/platform/mails';

const batch = 5_000;

/** Ends queued mails without sending them. */
export async function endUnsentMails(tx: Tx): Promise<number> {
  const unsent = tx
    .select({ id: mails.id })
    .from(mails)
    .where(inArray(mails.state, ['queued', 'sending']))
    .limit(batch);
  const { rowCount } = await tx
    .update(mails)
    .set({
      state: 'skipped',
      leaseId: null,
      failure: 'restored',
      failureMessage: 'The mail was queued in a restored backup and may already have been sent.',
      settledAt: sql`now()`,
    })
    .where(inArray(mails.id, unsent));
  return rowCount ?? 0;
}
