import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import { tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { mailboxSource } from '@portal/domain/tenders/sources';
import type { TenantContext } from '@portal/platform/context';
import { endedItsReaders } from '../../mailboxes/ended-readers.ts';
import type { StoredMailbox } from './stored-mailbox.ts';

/** A running read of a mailbox, with its settings from the start of the read. */
export interface Reading {
  ctx: TenantContext;
  mailbox: StoredMailbox & { claim: string };
  /** The mailbox has never been read completely (its source has no success yet): no mail reports its tenders. */
  isFirst: boolean;
}

/** The mailbox was changed or deleted, or another worker reads it now: this reading can write nothing more. */
export class ReadingOvertakenError extends Error {
  constructor() {
    super('The mailbox was changed while it was read.');
    this.name = 'ReadingOvertakenError';
  }
}

/**
 * Claims an account's mailbox, also from a worker that still reads it; null if there is none or it must not be read now. An existing claim
 * belongs to a reading that never ended, most likely because an answer of the server crashed the process. The first time, that is stored
 * as a failure; if it happens again right after, the mailbox is not read for an hour.
 *
 * A reading is no run: thousands of mailboxes are read every ten minutes and no user watches one, so rows of runs would only pile up.
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
      await pauseForAnHour(tx, before);
      return null;
    }
    const [mailbox] = await tx
      .update(tenderMailboxes)
      .set({ claim, ...(isBroken && { lastError: 'protocol' as const }) })
      .where(
        and(
          eq(tenderMailboxes.tenantId, ctx.tenantId),
          eq(tenderMailboxes.userId, userId),
          // Null while the mailbox is switched off or paused.
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

async function pauseForAnHour(tx: Tx, mailbox: StoredMailbox): Promise<void> {
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

/** Releases the claim of a reading that was stopped, for example when the worker ends; it must not count as broken by its server. */
export const releaseClaim = ({ ctx, mailbox }: Reading): Promise<unknown> =>
  ctx.acrossTenants('a mailbox is not read any more', (tx) =>
    tx
      .update(tenderMailboxes)
      .set({ claim: null, lastError: mailbox.lastError })
      .where(and(eq(tenderMailboxes.id, mailbox.id), eq(tenderMailboxes.claim, mailbox.claim))),
  );

/** Runs a transaction that holds the claim of this reading. Throws a ReadingOvertakenError if the reading has lost it. */
export const withClaim = <T>(
  { ctx, mailbox }: Reading,
  work: (tx: Tx) => Promise<T>,
  why = 'the results of a mailbox are stored',
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
