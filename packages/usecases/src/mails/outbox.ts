import { and, asc, eq, exists, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { mails } from '@portal/db/schema/mails';
import { tenants } from '@portal/db/schema/tenants';
import { users } from '@portal/db/schema/users';
import { newId } from '@portal/domain/ids';

/** How long a claimed mail belongs to its worker. Longer than rendering, sending and settling one can take. */
export const leaseSec = 60;

export interface ClaimedMail {
  id: string;
  kind: string;
  key: string;
  data: unknown;
  createdAt: Date;
  /** Tries so far, this one included and those left out whose worker died. */
  tries: number;
  interruptions: number;
  leaseId: string;
  /** The account it goes to as it stands now; null when the mail names none. */
  account: {
    id: string;
    username: string;
    displayName: string | null;
    firstName: string | null;
    email: string | null;
    isActive: boolean;
    ldapDn: string | null;
  } | null;
}

const isDue = and(inArray(mails.state, ['queued', 'sending']), lte(mails.dueAt, sql`now()`));

/** Takes the mails that have been due longest for this worker alone, by the database's clock. None while the tenant is inactive. */
export function claimMails(scope: TenantScope, limit: number): Promise<ClaimedMail[]> {
  const leaseId = newId();
  return scope.tx(async (tx) => {
    const isTenantActive = exists(
      tx
        .select({ one: sql`1` })
        .from(tenants)
        .where(and(eq(tenants.id, mails.tenantId), eq(tenants.isActive, true))),
    );
    const due = tx
      .$with('due')
      .as(
        tx
          .select({ id: mails.id })
          .from(mails)
          .where(and(isDue, isTenantActive))
          .orderBy(asc(mails.dueAt))
          .limit(limit)
          .for('update', { skipLocked: true }),
      );
    const claimed = await tx
      .with(due)
      .update(mails)
      .set({
        state: 'sending',
        leaseId,
        attempts: sql`${mails.attempts} + 1`,
        // Still in sending: the worker that had it before did not live to settle it.
        interruptions: sql`${mails.interruptions} + (${mails.state} = 'sending')::int`,
        dueAt: sql`now() + make_interval(secs => ${leaseSec})`,
      })
      .where(inArray(mails.id, tx.select({ id: due.id }).from(due)))
      .returning();
    const userIds = claimed.flatMap(({ userId }) => userId ?? []);
    const accounts =
      userIds.length === 0
        ? []
        : await tx
            .select({
              id: users.id,
              username: users.username,
              displayName: users.displayName,
              firstName: users.firstName,
              email: users.email,
              isActive: users.isActive,
              ldapDn: users.ldapDn,
            })
            .from(users)
            .where(inArray(users.id, userIds));
    return claimed.map(({ id, kind, key, data, createdAt, attempts, interruptions, userId }) => ({
      id,
      kind,
      key,
      data,
      createdAt,
      tries: attempts - interruptions,
      interruptions,
      leaseId,
      account: accounts.find((account) => account.id === userId) ?? null,
    }));
  });
}

/**
 * How a try ended. `postponed` is tried again after the pause; everything else is the mail's end.
 * `remember` is done in the same transaction.
 */
export type Settlement = { remember?: (tx: Tx) => Promise<void> } & (
  | { outcome: 'sent' }
  | { outcome: 'skipped' | 'not_configured' | 'failed'; failure: string; message: string }
  | { outcome: 'postponed'; failure: string; message: string; afterSec: number }
);

const placeholder = {
  state: sql`${sql.placeholder('state')}::mail_state`,
  failure: sql`${sql.placeholder('failure')}::text`,
  message: sql`${sql.placeholder('message')}::text`,
  afterSec: sql`${sql.placeholder('afterSec')}::int`,
};

// Without a pause it is the mail's end.
const settle = prepared<{
  id: string;
  leaseId: string;
  state: (typeof mails.$inferSelect)['state'];
  failure: string | null;
  message: string | null;
  afterSec: number | null;
}>()('settle_mail', (db) =>
  db
    .update(mails)
    .set({
      leaseId: null,
      state: placeholder.state,
      failure: placeholder.failure,
      failureMessage: placeholder.message,
      dueAt: sql`coalesce(now() + make_interval(secs => ${placeholder.afterSec}), ${mails.dueAt})`,
      settledAt: sql`case when ${placeholder.afterSec} is null then now() end`,
    })
    .where(and(eq(mails.id, sql.placeholder('id')), eq(mails.leaseId, sql.placeholder('leaseId'))))
    .returning({ id: mails.id }),
);

// Whoever deletes an account holds its row before that of its mails, so settlements ask in the same order.
const holdAccounts = prepared<{ userIds: string[] }>()('hold_accounts_of_mails', (db) =>
  db
    .select({ id: users.id })
    .from(users)
    .where(sql`${users.id} = any(${sql.placeholder('userIds')}::uuid[])`)
    .orderBy(asc(users.id))
    .for('key share'),
);

/**
 * Writes how tries ended, in one transaction: all of it or nothing. A mail whose lease ran out is another worker's and left
 * alone; answers the ids of those that were not.
 */
export const settleMails = (
  scope: TenantScope,
  ended: { mail: Pick<ClaimedMail, 'id' | 'leaseId' | 'account'>; settlement: Settlement }[],
): Promise<Set<string>> =>
  scope.tx(async (tx) => {
    await tx.run(holdAccounts, { userIds: ended.flatMap(({ mail }) => mail.account?.id ?? []) });
    const rows = await Promise.all(
      ended.map(({ mail: { id, leaseId }, settlement }) =>
        tx.run(settle, {
          id,
          leaseId,
          state: settlement.outcome === 'postponed' ? 'queued' : settlement.outcome,
          failure: settlement.outcome === 'sent' ? null : settlement.failure,
          message: settlement.outcome === 'sent' ? null : settlement.message,
          afterSec: settlement.outcome === 'postponed' ? settlement.afterSec : null,
        }),
      ),
    );
    const ours = new Set(rows.flat().map(({ id }) => id));
    const written = ended.filter(({ mail }) => ours.has(mail.id));
    await Promise.all(written.map(async ({ settlement }) => settlement.remember?.(tx)));
    return ours;
  });

/** Gives claimed mails back untried: as they were, but due now. Those whose lease ran out stay with whoever has them. */
export async function returnMails(scope: TenantScope, claimed: Pick<ClaimedMail, 'id' | 'leaseId'>[]): Promise<void> {
  if (claimed.length === 0) return;
  const isOurs = and(
    inArray(
      mails.id,
      claimed.map(({ id }) => id),
    ),
    inArray(
      mails.leaseId,
      claimed.map(({ leaseId }) => leaseId),
    ),
  );
  await scope.tx(async (tx) => {
    const { free, isFree } = freeMails(tx, isOurs);
    await tx
      .with(free)
      .update(mails)
      .set({ state: 'queued', leaseId: null, attempts: sql`${mails.attempts} - 1`, dueAt: sql`now()` })
      .where(isFree);
  });
}

/** Lets everything that is due and not under way wait, without counting a try: the way out is closed for all of them. */
export async function postponeDueMails(scope: TenantScope, afterSec: number): Promise<void> {
  await scope.tx(async (tx) => {
    const { free, isFree } = freeMails(tx, and(eq(mails.state, 'queued'), lte(mails.dueAt, sql`now()`)));
    await tx
      .with(free)
      .update(mails)
      .set({ dueAt: sql`now() + make_interval(secs => ${afterSec})` })
      .where(isFree);
  });
}

/** Mails nobody else holds at the moment: waiting for several one after the other could deadlock with an account's deletion. */
function freeMails(tx: Tx, condition: SQL | undefined) {
  const free = tx
    .$with('free')
    .as(tx.select({ id: mails.id }).from(mails).where(condition).for('update', { skipLocked: true }));
  return { free, isFree: inArray(mails.id, tx.select({ id: free.id }).from(free)) };
}
