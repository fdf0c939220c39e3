import { and, asc, eq, exists, inArray, lte, type SQL, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { TenantScope, Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import { giveDailyQuotaBack, type HeldBack, takeDailyQuota, today } from './daily-quota.ts';
import type { OutboxMails } from './mail.ts';
import { rememberAll, type Remembered } from './remembering.ts';
import { storedSmtpConfig } from './stored-smtp-config.ts';
import { leavesBy, type WayOut } from './way-out.ts';

/** How long a claimed mail belongs to its worker. Longer than rendering, sending and settling one can take. */
export const leaseSec = 60;

type Mail = typeof mails.$inferSelect;
type User = typeof users.$inferSelect;

export interface ClaimedMail extends Pick<
  Mail,
  'id' | 'tenantId' | 'kind' | 'key' | 'data' | 'createdAt' | 'interruptions'
> {
  /** Tries so far, this one included and those left out whose worker died. */
  tries: number;
  leaseId: string;
  /** The day whose room this claim took for it; null when it took none. */
  countedOn: string | null;
  /** The account it goes to as it stands now; null when the mail names none. */
  account: Pick<
    User,
    'id' | 'role' | 'username' | 'displayName' | 'firstName' | 'email' | 'isActive' | 'ldapDn'
  > | null;
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
  /** Those people wait for come first. */
  claimed: ClaimedMail[];
  /** Claimed as well, but their day has no room for them: to be settled as that. */
  heldBack: HeldBack<ClaimedMail>[];
  /** The tenant's own server is another one than the caller knows: nothing more can be claimed on these terms. */
  isOutdated: boolean;
}

const isDue = and(inArray(mails.state, ['queued', 'sending']), lte(mails.dueAt, sql`now()`));

const accountsOfMails = prepared<{ userIds: string[] }>()('accounts_of_mails', (db) =>
  db
    .select({
      id: users.id,
      role: users.role,
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

/** Which mails a claim takes before the others. */
export type First = 'awaited' | 'others';

/**
 * Due mails that nobody holds, of each sort those due longest first, and held for this transaction. The other sort is read, and so held,
 * only as far as the first leaves room: rows of a `with` are made when they are asked for.
 */
export function dueMails(
  tx: Tx,
  limit: number,
  { way, ownServer }: Pick<ClaimTerms, 'way' | 'ownServer'>,
  first: First,
) {
  const isTenantActive = exists(
    tx
      .select({ one: sql`1` })
      .from(tenants)
      .where(and(eq(tenants.id, mails.tenantId), eq(tenants.isActive, true))),
  );
  const ofSort = (sort: First) =>
    tx
      .select({ id: mails.id, countedBefore: sql<string | null>`${mails.countedOn}`.as('counted_before') })
      .from(mails)
      .where(and(isDue, eq(mails.isAwaited, sort === 'awaited'), isTenantActive, leavesBy(tx, way, ownServer)))
      .orderBy(asc(mails.dueAt))
      .limit(limit)
      .for('update', { skipLocked: true });
  const preferred = tx.$with('preferred').as(ofSort(first));
  const rest = tx.$with('rest').as(ofSort(first === 'awaited' ? 'others' : 'awaited'));
  const due = tx.$with('due').as(unionAll(tx.select().from(preferred), tx.select().from(rest)).limit(limit));
  return { preferred, rest, due };
}

/**
 * Takes due mails for this worker alone, by the database's clock: those people wait for, or the others, first, and of each sort those due
 * longest. None while the tenant is inactive. By which way each leaves is decided here and nowhere else, so no kind of mail can miss it.
 */
export function claimMails(
  scope: TenantScope,
  limit: number,
  { kinds, way, ownServer, dailyLimit }: ClaimTerms,
  first: First = 'awaited',
): Promise<Claim> {
  const leaseId = newId();
  return scope.tx(async (tx) => {
    const { preferred, rest, due } = dueMails(tx, limit, { way, ownServer }, first);
    const taken = await tx
      .with(preferred, rest, due)
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
        tenantId: mails.tenantId,
        kind: mails.kind,
        key: mails.key,
        data: mails.data,
        createdAt: mails.createdAt,
        isAwaited: mails.isAwaited,
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
    const why = new Map(heldBack.map(({ mail, ...reason }) => [mail.id, reason]));
    if (why.size > 0)
      await tx
        .update(mails)
        .set({ countedOn: null })
        .where(inArray(mails.id, [...why.keys()]));
    const claim: Claim = { claimed: [], heldBack: [], isOutdated: false };
    for (const { attempts, userId, countedOn, countedBefore, isAwaited: _, ...row } of byAwaited(taken)) {
      const reason = why.get(row.id);
      const mail = {
        ...row,
        tries: attempts - row.interruptions,
        leaseId,
        countedOn: reason || countedOn === countedBefore ? null : countedOn,
        account: accounts.find((account) => account.id === userId) ?? null,
      };
      if (reason) claim.heldBack.push({ mail, ...reason });
      else claim.claimed.push(mail);
    }
    return claim;
  });
}

const byAwaited = <Row extends { isAwaited: boolean }>(rows: Row[]): Row[] =>
  rows.toSorted((a, b) => Number(b.isAwaited) - Number(a.isAwaited));

/**
 * How a try ended. `postponed` is tried again after the pause; everything else is the mail's end.
 * What is `remembered` is so in the same transaction. One that was not even handed to the mail server is not counted.
 */
export type Settlement = { remembered?: Remembered | undefined; isUntried?: boolean } & (
  | { outcome: 'sent' }
  | { outcome: 'skipped' | 'not_configured' | 'quota' | 'failed'; failure: string; message: string }
  | { outcome: 'postponed'; failure: string; message: string; afterSec: number }
);

const list = (name: keyof Ended & string, type: 'uuid' | 'text' | 'int' | 'boolean') =>
  sql`${sql.placeholder(name)}::${sql.raw(type)}[]`;

/** One place in each list for every mail. */
interface Ended extends Record<string, unknown[]> {
  ids: string[];
  leaseIds: string[];
  states: Mail['state'][];
  failures: (string | null)[];
  messages: (string | null)[];
  /** Seconds until the next try; without any it is the mail’s end. */
  afterSec: (number | null)[];
  areUncounted: boolean[];
}

const settle = prepared<Ended>()('settle_mails', (db) =>
  db
    .update(mails)
    .set({
      leaseId: null,
      state: sql`ended.state::mail_state`,
      failure: sql`ended.failure`,
      failureMessage: sql`ended.message`,
      dueAt: sql`coalesce(now() + make_interval(secs => ended.after_sec), ${mails.dueAt})`,
      countedOn: sql`case when not ended.is_uncounted then ${mails.countedOn} end`,
      settledAt: sql`case when ended.after_sec is null then now() end`,
    })
    .from(
      sql`unnest(${list('ids', 'uuid')}, ${list('leaseIds', 'uuid')}, ${list('states', 'text')}, ${list('failures', 'text')},
        ${list('messages', 'text')}, ${list('afterSec', 'int')}, ${list('areUncounted', 'boolean')})
        ended (id, lease_id, state, failure, message, after_sec, is_uncounted)`,
    )
    .where(and(eq(mails.id, sql`ended.id`), eq(mails.leaseId, sql`ended.lease_id`)))
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
    const failures = ended.map(({ settlement }) => (settlement.outcome === 'sent' ? null : settlement));
    // Sent one behind the other: the second waits until the first has what it holds.
    const accountsHeld = tx.run(holdAccounts, { userIds: ended.flatMap(({ mail }) => mail.account?.id ?? []) });
    const settled = tx.run(settle, {
      ids: ended.map(({ mail }) => mail.id),
      leaseIds: ended.map(({ mail }) => mail.leaseId),
      states: ended.map(({ settlement: { outcome } }) => (outcome === 'postponed' ? 'queued' : outcome)),
      failures: failures.map((failed) => failed?.failure ?? null),
      messages: failures.map((failed) => failed?.message ?? null),
      afterSec: failures.map((failed) => (failed?.outcome === 'postponed' ? failed.afterSec : null)),
      areUncounted: ended.map(({ mail, settlement }) => isUncounted(mail, settlement)),
    });
    const [rows] = await Promise.all([settled, accountsHeld]);
    const ours = new Set(rows.map(({ id }) => id));
    const written = ended.filter(({ mail }) => ours.has(mail.id));
    await rememberAll(
      tx,
      written.flatMap(({ settlement }) => settlement.remembered ?? []),
    );
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

/** Rows of one statement: a tenant may have any number of mails waiting. */
const mailsAtOnce = 5_000;

/** Lets everything that is due on this way and not under way wait, without counting a try: the way is closed for all of them. */
export async function postponeDueMails(
  scope: TenantScope,
  afterSec: number,
  { way, ownServer }: Pick<ClaimTerms, 'way' | 'ownServer'>,
): Promise<void> {
  for (let postponed = mailsAtOnce; postponed === mailsAtOnce;)
    postponed = await scope.tx(async (tx) => {
      const isWaiting = and(eq(mails.state, 'queued'), lte(mails.dueAt, sql`now()`), leavesBy(tx, way, ownServer));
      const { free, isFree } = freeMails(tx, isWaiting);
      const { rowCount } = await tx
        .with(free)
        .update(mails)
        .set({ dueAt: sql`now() + make_interval(secs => ${afterSec})` })
        .where(isFree);
      return rowCount ?? 0;
    });
}

/** Mails nobody else holds at the moment: waiting for several one after the other could deadlock with an account's deletion. */
function freeMails(tx: Tx, condition: SQL | undefined) {
  const free = tx
    .$with('free')
    .as(
      tx.select({ id: mails.id }).from(mails).where(condition).limit(mailsAtOnce).for('update', { skipLocked: true }),
    );
  return { free, isFree: inArray(mails.id, tx.select({ id: free.id }).from(free)) };
}
