import type { Tx } from '@portal/db/open';
import type { Attempt, OutboxMails } from './mail.ts';
import { type ClaimedMail, mayHaveArrived } from './outbox.ts';

/** What the kind of a mail remembers of how this try ends, for the transaction that settles it. Nothing where its row cannot be read. */
export const remembering =
  (
    kinds: OutboxMails,
    {
      tenantId,
      kind,
      data,
      tries,
      account,
      interruptions,
    }: Pick<ClaimedMail, 'tenantId' | 'kind' | 'data' | 'tries' | 'account' | 'interruptions'>,
    outcome: Attempt<unknown>['outcome'],
  ) =>
  async (tx: Tx): Promise<void> => {
    const known = kinds.get(kind);
    const row = known?.data.safeParse(data);
    if (account && row?.success)
      await known?.remember?.(tx, {
        tenantId,
        userId: account.id,
        data: row.data,
        tries,
        outcome,
        mayHaveArrived: mayHaveArrived({ interruptions }),
      });
  };
