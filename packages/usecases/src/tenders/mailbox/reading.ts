import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { mailboxSource } from '@portal/domain/tenders/sources';
import type { TenantContext } from '@portal/platform/context';
import type { StoredMailbox } from './stored-mailbox.ts';

/** A reading under way: whose, and of which mailbox as it was when it began. */
export interface Reading {
  ctx: TenantContext;
  mailbox: StoredMailbox & { claim: string };
  /** The mailbox was never read to its end: nobody is told at once of what it brings. Its source has no success, as that of a new feed. */
  isFirst: boolean;
}

/** The mailbox was changed or deleted, or somebody else reads it now: nothing of this reading counts any more. */
export class ReadingOvertakenError extends Error {
  constructor() {
    super('The mailbox was changed while it was read.');
    this.name = 'ReadingOvertakenError';
  }
}

/** Takes an account's mailbox to be read, from whoever reads it still; null where there is none, or it is not to be read. */
export async function claimMailbox(ctx: TenantContext, userId: string): Promise<Reading | null> {
  const claim = newId();
  return ctx.acrossTenants('a mailbox is read', async (tx) => {
    const [mailbox] = await tx
      .update(tenderMailboxes)
      .set({ claim })
      .where(
        and(
          eq(tenderMailboxes.tenantId, ctx.tenantId),
          eq(tenderMailboxes.userId, userId),
          // Null while it is switched off or left alone.
          isNotNull(tenderMailboxes.nextFetchAt),
        ),
      )
      .returning();
    if (!mailbox) return null;
    const [source] = await tx
      .update(tenderSources)
      .set({ lastRunAt: sql`now()` })
      .where(eq(tenderSources.key, mailboxSource(userId)))
      .returning({ lastSuccessAt: tenderSources.lastSuccessAt });
    return { ctx, mailbox: { ...mailbox, claim }, isFirst: !source?.lastSuccessAt };
  });
}

/** A transaction that writes only while this reading is the one that counts. Throws a ReadingOvertakenError. */
export const whileCounting = <T>(
  { ctx, mailbox }: Reading,
  work: (tx: Tx) => Promise<T>,
  why = 'what a mailbox brought is kept',
): Promise<T> =>
  ctx.acrossTenants(why, async (tx) => {
    const held = await tx
      .select({ id: tenderMailboxes.id })
      .from(tenderMailboxes)
      .where(and(eq(tenderMailboxes.id, mailbox.id), eq(tenderMailboxes.claim, mailbox.claim)))
      .for('update');
    if (held.length === 0) throw new ReadingOvertakenError();
    return work(tx);
  });
