import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { mailboxSource } from '@portal/domain/tenders/sources';
import type { TenantContext } from '@portal/platform/context';
import { endedItsReaders } from '../../mailboxes/ended-readers.ts';
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

/**
 * Takes an account's mailbox to be read, from whoever reads it still; null where there is none, or it is not to be read. A claim that is
 * still there is of a reading that never came to its end, most likely because what the server sent ended the process. The first time that
 * is noted as a failure; when it happens again right after, the mailbox rests.
 */
export async function claimMailbox(ctx: TenantContext, userId: string): Promise<Reading | null> {
  const claim = newId();
  return ctx.acrossTenants('a mailbox is read', async (tx) => {
    const [before] = await tx
      .select()
      .from(tenderMailboxes)
      .where(and(eq(tenderMailboxes.tenantId, ctx.tenantId), eq(tenderMailboxes.userId, userId)))
      .for('update');
    const isBroken = before !== undefined && before.claim !== null && before.nextFetchAt !== null;
    if (isBroken && before.lastError === 'protocol') {
      await rest(tx, before);
      return null;
    }
    const [mailbox] = await tx
      .update(tenderMailboxes)
      .set({ claim, ...(isBroken && { lastError: 'protocol' as const }) })
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

async function rest(tx: Tx, mailbox: StoredMailbox): Promise<void> {
  const failure = endedItsReaders(mailbox);
  await tx
    .update(tenderMailboxes)
    .set({ claim: null, lastError: failure.kind, nextFetchAt: sql`now() + interval '1 hour'` })
    .where(eq(tenderMailboxes.id, mailbox.id));
  await tx
    .update(tenderSources)
    .set({ lastRunAt: sql`now()`, failures: sql`${tenderSources.failures} + 1`, error: failure.message })
    .where(eq(tenderSources.key, mailboxSource(mailbox.userId)));
}

/** A reading that is stopped from outside, as when the worker ends, is none that its server has broken. */
export const giveBack = ({ ctx, mailbox }: Reading): Promise<unknown> =>
  ctx.acrossTenants('a mailbox is not read any more', (tx) =>
    tx
      .update(tenderMailboxes)
      .set({ claim: null, lastError: mailbox.lastError })
      .where(and(eq(tenderMailboxes.id, mailbox.id), eq(tenderMailboxes.claim, mailbox.claim))),
  );

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
