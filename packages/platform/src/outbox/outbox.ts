import { and, asc, eq, exists, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import { giveDailyQuotaBack, type HeldBack, takeDailyQuota, today } from './daily-quota.ts';
import type { OutboxMails } from './mail.ts';
import { storedSmtpConfig } from './stored-smtp-config.ts';
import { leavesBy, type WayOut } from './way-out.ts';

/** How long a claimed mail belongs to its worker. Longer than rendering, sending and settling one can take. */
export const leaseSec = 60;

type Mail = typeof mails.$inferSelect;
type User = typeof users.$inferSelect;

export interface ClaimedMail extends Pick<Mail, 'id' | 'kind' | 'key' | 'data' | 'createdAt' | 'interruptions'> {
  /** Tries so far, this one included and those left out whose worker died. */
  tries: number;
  leaseId: string;
  /** The day whose room this claim took for it; null when it took none. */
  countedOn: string | null;
  /** The account it goes to as it stands now; null when the mail names none. */
  account: Pick<User, 'id' | 'username' | 'displayName' | 'firstName' | 'email' | 'isActive' | 'ldapDn'> | null;
}

/** Which mails a claim may take, and what room of the tenant's day they take; none is counted where `dailyLimit` is null. */
export interface ClaimTerms {
  kinds: OutboxMails;
  way: WayOut;
  /** The version of the tenant's own server that the caller knows, null for none. */
  ownServer: string | null;
  dailyLimit: number | null;
}

export interface Claim {
  claimed: ClaimedMail[];
  /** Ended in the claim itself, because their day has no room for them. */
  heldBack: HeldBack<{ id: string; kind: string }>[];
  /** The tenant's own server is another one than the caller knows: nothing more can be claimed on these terms. */
  isOutdated: boolean;
}

const isDue = and(inArray(mails.state, ['queued', 'sending']), lte(mails.dueAt, sql`now()`));

const accountsOfMails = prepared<{ userIds: string[] }>()('accounts_of_mails', (db) =>
  db
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
    .where(sql`${users.id} = any(${sql.placeholder('userIds')}::uuid[])`),
);

/**
 * Takes the mails that have been due longest for this worker alone, by the database's clock. None while the tenant is inactive.
 * By which way each leaves is decided here and nowhere else, so no kind of mail can miss it.
 */
export function claimMails(
  scope: TenantScope,
  limit: number,
  { kinds, way, ownServer, dailyLimit }: ClaimTerms,
): Promise<Claim> {
  const leaseId = newId();
  return scope.tx(async (tx) => {
    const isTenantActive = exists(
      tx
        .select({ one: sql`1` })
        .from(tenants)
        .where(and(eq(tenants.id, mails.tenantId), eq(tenants.isActive, true))),
    );
    const due = tx.$with('due').as(
      tx
        .select({ id: mails.id, countedBefore: sql<string | null>`${mails.countedOn}`.as('counted_before') })
        .from(mails)
        .where(and(isDue, isTenantActive, leavesBy(tx, way, ownServer)))
        .orderBy(asc(mails.dueAt))
        .limit(limit)
        .for('update', { skipLocked: true }),
    );
    const taken = await tx
      .with(due)
      .update(mails)
      .set({
        state: 'sending',
        leaseId,
        attempts: sql`${mails.attempts} + 1`,
        // Still in sending: the worker that had it before did not live to settle it.
        interruptions: sql`${mails.interruptions} + (${mails.state} = 'sending')::int`,
        dueAt: sql`now() + make_interval(secs => ${leaseSec})`,
        ...(dailyLimit !== null && { countedOn: today }),
      })
      .from(due)
      .where(eq(mails.id, due.id))
      .returning({
        id: mails.id,
        kind: mails.kind,
        key: mails.key,
        data: mails.data,
        createdAt: mails.createdAt,
        attempts: mails.attempts,
        interruptions: mails.interruptions,
        userId: mails.userId,
        countedOn: mails.countedOn,
        countedBefore: due.countedBefore,
      });
    if (taken.length === 0) {
      const stored = await storedSmtpConfig(tx);
      return { claimed: [], heldBack: [], isOutdated: (stored?.version ?? null) !== ownServer };
    }
    const userIds = taken.flatMap(({ userId }) => userId ?? []);
    const asking =
      dailyLimit === null ? [] : taken.filter(({ countedOn, countedBefore }) => countedOn !== countedBefore);
    const [accounts, heldBack] = await Promise.all([
      userIds.length === 0 ? [] : tx.run(accountsOfMails, { userIds }),
      asking.length === 0 || dailyLimit === null
        ? []
        : takeDailyQuota(tx, asking, { kinds, tenantId: scope.tenantId, limit: dailyLimit }),
    ]);
    const claimed = taken.map(({ attempts, userId, countedOn, countedBefore, ...mail }) => ({
      ...mail,
      tries: attempts - mail.interruptions,
      leaseId,
      countedOn: countedOn === countedBefore ? null : countedOn,
      account: accounts.find((account) => account.id === userId) ?? null,
    }));
    await Promise.all(
      heldBack.map(({ mail: { id }, failure, message }) =>
        tx.run(settle, { id, leaseId, state: 'quota', failure, message, afterSec: null, isUncounted: true }),
      ),
    );
    const isHeldBack = new Set(heldBack.map(({ mail }) => mail.id));
    return { claimed: claimed.filter(({ id }) => !isHeldBack.has(id)), heldBack, isOutdated: false };
  });
}

/**
 * How a try ended. `postponed` is tried again after the pause; everything else is the mail's end.
 * `remember` is done in the same transaction. One that was not even handed to the mail server is not counted.
 */
export type Settlement = { remember?: (tx: Tx) => Promise<void>; isUntried?: boolean } & (
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
  state: Mail['state'];
  failure: string | null;
  message: string | null;
  afterSec: number | null;
  isUncounted: boolean;
}>()('settle_mail', (db) =>
  db
    .update(mails)
    .set({
      leaseId: null,
      state: placeholder.state,
      failure: placeholder.failure,
      failureMessage: placeholder.message,
      dueAt: sql`coalesce(now() + make_interval(secs => ${placeholder.afterSec}), ${mails.dueAt})`,
      countedOn: sql`case when not ${sql.placeholder('isUncounted')}::boolean then ${mails.countedOn} end`,
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
  ended: { mail: Pick<ClaimedMail, 'id' | 'leaseId' | 'account' | 'countedOn'>; settlement: Settlement }[],
): Promise<Set<string>> =>
  scope.tx(async (tx) => {
    await tx.run(holdAccounts, { userIds: ended.flatMap(({ mail }) => mail.account?.id ?? []) });
    const rows = await Promise.all(
      ended.map(({ mail, settlement }) =>
        tx.run(settle, {
          id: mail.id,
          leaseId: mail.leaseId,
          state: settlement.outcome === 'postponed' ? 'queued' : settlement.outcome,
          failure: settlement.outcome === 'sent' ? null : settlement.failure,
          message: settlement.outcome === 'sent' ? null : settlement.message,
          afterSec: settlement.outcome === 'postponed' ? settlement.afterSec : null,
          isUncounted: isUncounted(mail, settlement),
        }),
      ),
    );
    const ours = new Set(rows.flat().map(({ id }) => id));
    const written = ended.filter(({ mail }) => ours.has(mail.id));
    await Promise.all(written.map(async ({ settlement }) => settlement.remember?.(tx)));
    // Last, as everywhere: whoever holds the row of the day waits for no other.
    await giveDailyQuotaBack(
      tx,
      written.flatMap(({ mail, settlement }) => (isUncounted(mail, settlement) ? (mail.countedOn ?? []) : [])),
    );
    return ours;
  });

/** What an earlier try had counted stays counted. */
const isUncounted = ({ countedOn }: Pick<ClaimedMail, 'countedOn'>, { isUntried }: Settlement): boolean =>
  isUntried === true && countedOn !== null;

/** Gives claimed mails back untried: as they were, but due now. Those whose lease ran out stay with whoever has them. */
export async function returnMails(
  scope: TenantScope,
  claimed: Pick<ClaimedMail, 'id' | 'leaseId' | 'countedOn'>[],
): Promise<void> {
  if (claimed.length === 0) return;
  const newlyCounted = claimed.flatMap(({ id, countedOn }) => (countedOn === null ? [] : id));
  const [ids, leaseIds] = [claimed.map(({ id }) => id), claimed.map(({ leaseId }) => leaseId)];
  const isOurs = and(inArray(mails.id, ids), inArray(mails.leaseId, leaseIds));
  await scope.tx(async (tx) => {
    const { free, isFree } = freeMails(tx, isOurs);
    const returned = await tx
      .with(free)
      .update(mails)
      .set({
        state: 'queued',
        leaseId: null,
        attempts: sql`${mails.attempts} - 1`,
        dueAt: sql`now()`,
        countedOn:
          newlyCounted.length === 0
            ? mails.countedOn
            : sql`case when ${inArray(mails.id, newlyCounted)} then null else ${mails.countedOn} end`,
      })
      .where(isFree)
      .returning({ id: mails.id });
    const ours = new Set(returned.map(({ id }) => id));
    await giveDailyQuotaBack(
      tx,
      claimed.flatMap(({ id, countedOn }) => (ours.has(id) ? (countedOn ?? []) : [])),
    );
  });
}

/** Lets everything that is due on this way and not under way wait, without counting a try: the way is closed for all of them. */
export async function postponeDueMails(
  scope: TenantScope,
  afterSec: number,
  { way, ownServer }: Pick<ClaimTerms, 'way' | 'ownServer'>,
): Promise<void> {
  await scope.tx(async (tx) => {
    const isWaiting = and(eq(mails.state, 'queued'), lte(mails.dueAt, sql`now()`), leavesBy(tx, way, ownServer));
    const { free, isFree } = freeMails(tx, isWaiting);
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
