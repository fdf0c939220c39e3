import { and, eq } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { invoiceMailboxes } from '@portal/db/schema/invoices';
import type { TenantContext } from '@portal/platform/context';
import { holdRun, type RunAtWork } from '@portal/platform/runs/state';
import type { StoredMailbox } from '../stored-mailbox.ts';

/** A fetch in progress: its context, its run, and the mailbox settings it began with. */
export interface Fetching {
  ctx: TenantContext;
  run: RunAtWork;
  mailbox: StoredMailbox;
  /** The UIDVALIDITY of the open folder. */
  uidValidity: string;
}

/** The mailbox was changed or deleted, or another worker has taken over the run. This fetch must write nothing more. */
export class FetchOvertakenError extends Error {
  constructor() {
    super('The mailbox was changed while it was being read.');
    this.name = 'FetchOvertakenError';
  }
}

/** A transaction that writes only while this fetch is the current one. Throws a FetchOvertakenError. */
export const whileCurrent = <T>(
  { ctx, run, mailbox }: Pick<Fetching, 'ctx' | 'run' | 'mailbox'>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> =>
  ctx.tx(async (tx) => {
    if (!(await holdRun(tx, run))) throw new FetchOvertakenError();
    const unchanged = await tx
      .select({ id: invoiceMailboxes.id })
      .from(invoiceMailboxes)
      .where(and(eq(invoiceMailboxes.id, mailbox.id), eq(invoiceMailboxes.revision, mailbox.revision)))
      .for('share');
    if (unchanged.length === 0) throw new FetchOvertakenError();
    return work(tx);
  });
