import { and, asc, eq, exists, inArray, lte, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { TenantScope, Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import { refundDailyQuota, type OverQuota, takeDailyQuota, today } from './daily-quota.ts';
import { usesRoute, type MailRoute } from './mail-route.ts';
import { type Attempt, mayHaveArrived, type OutboxMails } from './mail.ts';
import { storedSmtpConfig } from './stored-smtp-config.ts';

/** How long a claimed mail belongs to its worker: longer than rendering, sending and settling a mail can take. */
export const leaseSec = 60;

type Mail = typeof mails.$inferSelect;
type User = typeof users.$inferSelect;

export interface ClaimedMail extends Pick<
  Mail,
  'id' | 'tenantId' | 'kind' | 'key' | 'data' | 'createdAt' | 'interruptions'
> {
  /** Attempts so far, including this one but without those whose worker died. */
  tries: number;
  leaseId: string;
  /** The day whose quota this claim took; null if it took none. */
  countedOn: string | null;
  /** The receiving account as it is now; null if the mail names none. */
  account: Pick<
    User,
    'id' | 'role' | 'username' | 'displayName' | 'firstName' | 'email' | 'isActive' | 'ldapDn'
  > | null;
}

/** Which mails a claim may take, and the tenant's daily quota; mails are not counted if `dailyLimit` is null. */
export interface ClaimTerms {
  kinds: OutboxMails;
  route: MailRoute;
  /** The version of the tenant's own server that the caller has read; null for none. */
  ownServer: string | null;
  dailyLimit: number | null;
}

export interface Claim {
  /** Awaited mails first. */
  claimed: ClaimedMail[];
  /** Also claimed, but over the daily quota; settle as `quota`. */
  overQuota: OverQuota<ClaimedMail>[];
  /** The tenant's own server is not the one in the terms: nothing more can be claimed with them. */
  isOutdated: boolean;
}

const isDue = and(inArray(mails.state, ['queued', 'sending']), lte(mails.dueAt, sql`now()`));

/** Which mails a claim takes first. */
export type First = 'awaited' | 'others';

/**
 * Selects and locks due mails that no other transaction has locked, oldest due time first within each sort. The second sort is read and
 * locked only as far as the first leaves capacity, because PostgreSQL computes the rows of a `with` on demand.
 */
export function dueMails(
  tx: Tx,
  limit: number,
  { route, ownServer }: Pick<ClaimTerms, 'route' | 'ownServer'>,
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
      .select({
        id: mails.id,
        userId: mails.userId,
        countedBefore: sql<string | null>`${mails.countedOn}`.as('counted_before'),
      })
      .from(mails)
      .where(and(isDue, eq(mails.isAwaited, sort === 'awaited'), isTenantActive, usesRoute(tx, route, ownServer)))
      .orderBy(asc(mails.dueAt))
      .limit(limit)
      .for('update', { skipLocked: true });
  const preferred = tx.$with('preferred').as(ofSort(first));
  const rest = tx.$with('rest').as(ofSort(first === 'awaited' ? 'others' : 'awaited'));
  const due = tx.$with('due').as(unionAll(tx.select().from(preferred), tx.select().from(rest)).limit(limit));
  return { preferred, rest, due };
}

/**
 * Claims due mails for this worker, by the database's clock: the sort in `first` before the other, and oldest due time first within each
 * sort. Claims none while the tenant is inactive. Only this function decides the route, so no kind of mail can bypass the rule.
 */
export function claimMails(
  scope: TenantScope,
  limit: number,
  { kinds, route, ownServer, dailyLimit }: ClaimTerms,
  first: First = 'awaited',
): Promise<Claim> {
  const leaseId = newId();
  return scope.tx(async (tx) => {
    const { preferred, rest, due } = dueMails(tx, limit, { route, ownServer }, first);
    const taken = await tx
      .with(preferred, rest, due)
      .update(mails)
      .set({
        state: 'sending',
        leaseId,
        attempts: sql`${mails.attempts} + 1`,
        // Still `sending`: the previous worker died before it settled the mail.
        interruptions: sql`${mails.interruptions} + (${mails.state} = 'sending')::int`,
        dueAt: sql`now() + make_interval(secs => ${leaseSec})`,
        ...(dailyLimit !== null && { countedOn: today }),
      })
      .from(due)
      .leftJoin(users, eq(users.id, due.userId))
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
        account: {
          id: users.id,
          role: users.role,
          username: users.username,
          displayName: users.displayName,
          firstName: users.firstName,
          email: users.email,
          isActive: users.isActive,
          ldapDn: users.ldapDn,
        },
      });
    if (taken.length === 0) {
      const stored = await storedSmtpConfig(tx);
      return { claimed: [], overQuota: [], isOutdated: (stored?.version ?? null) !== ownServer };
    }
    const overQuota =
      dailyLimit === null
        ? []
        : await takeDailyQuota(
            tx,
            taken.filter(({ countedOn, countedBefore }) => countedOn !== countedBefore),
            { kinds, tenantId: scope.tenantId, limit: dailyLimit },
          );
    const reasons = new Map(overQuota.map(({ mail, ...reason }) => [mail.id, reason]));
    if (reasons.size > 0)
      await tx
        .update(mails)
        .set({ countedOn: null })
        .where(inArray(mails.id, [...reasons.keys()]));
    const claim: Claim = { claimed: [], overQuota: [], isOutdated: false };
    for (const { attempts, countedOn, countedBefore, isAwaited: _, userId: __, ...row } of byAwaited(taken)) {
      const reason = reasons.get(row.id);
      const isCounted = !reason && countedOn !== countedBefore;
      const mail = { ...row, tries: attempts - row.interruptions, leaseId, countedOn: isCounted ? countedOn : null };
      if (reason) claim.overQuota.push({ mail, ...reason });
      else claim.claimed.push(mail);
    }
    return claim;
  });
}

const byAwaited = <Row extends { isAwaited: boolean }>(rows: Row[]): Row[] =>
  rows.toSorted((a, b) => Number(b.isAwaited) - Number(a.isAwaited));

/** How a claim of a mail ended. */
export interface Settlement {
  /** `postponed`: another attempt follows. `returned`: not attempted, as before the claim. All others end the mail. */
  outcome: 'sent' | 'postponed' | 'returned' | 'skipped' | 'not_configured' | 'quota' | 'failed';
  failure?: string;
  message?: string;
  /** Seconds until a postponed or returned mail is due again. */
  afterSec?: number;
  /** The mail was not handed to the mail server, and is not counted. */
  isUntried?: boolean;
}

export interface Ended {
  mail: Pick<
    ClaimedMail,
    'id' | 'leaseId' | 'tenantId' | 'kind' | 'data' | 'tries' | 'interruptions' | 'account' | 'countedOn'
  >;
  settlement: Settlement;
}

/**
 * Settles claimed mails and records their attempts with `remember`, in one transaction. Skips mails whose lease expired, because another
 * worker may have claimed them. Returns the ids of the settled mails.
 */
export const settleMails = (scope: TenantScope, kinds: OutboxMails, ended: Ended[]): Promise<Set<string>> =>
  scope.tx(async (tx) => {
    // Same lock order as the deletion of an account: the account's row before the rows of its mails.
    await tx
      .select({ id: users.id })
      .from(users)
      .where(
        inArray(
          users.id,
          ended.flatMap(({ mail }) => mail.account?.id ?? []),
        ),
      )
      .orderBy(asc(users.id))
      .for('key share');
    const rows = ended.map(({ mail: { id, leaseId, countedOn }, settlement }) => ({
      ...settlement,
      id,
      leaseId,
      state: settlement.afterSec === undefined ? settlement.outcome : 'queued',
      isReturned: settlement.outcome === 'returned',
      refundsQuota: refundsQuota({ countedOn }, settlement),
    }));
    const settled = await tx
      .update(mails)
      .set({
        leaseId: null,
        state: sql`ended.state`,
        attempts: sql`${mails.attempts} - ended."isReturned"::int`,
        failure: sql`case when ended."isReturned" then ${mails.failure} else ended.failure end`,
        failureMessage: sql`case when ended."isReturned" then ${mails.failureMessage} else ended.message end`,
        dueAt: sql`coalesce(now() + make_interval(secs => ended."afterSec"), ${mails.dueAt})`,
        countedOn: sql`case when not ended."refundsQuota" then ${mails.countedOn} end`,
        settledAt: sql`case when ended."afterSec" is null then now() end`,
      })
      .from(
        sql`json_to_recordset(${JSON.stringify(rows)}::json) ended (id uuid, "leaseId" uuid, state mail_state, failure text,
          message text, "afterSec" int, "isReturned" boolean, "refundsQuota" boolean)`,
      )
      .where(and(eq(mails.id, sql`ended.id`), eq(mails.leaseId, sql`ended."leaseId"`)))
      .returning({ id: mails.id });
    const ours = new Set(settled.map(({ id }) => id));
    const written = ended.filter(({ mail }) => ours.has(mail.id));
    await remember(tx, kinds, written);
    // Last, as everywhere: a transaction that has locked the row of the day takes no further locks.
    await refundDailyQuota(
      tx,
      written.flatMap(({ mail, settlement }) => (refundsQuota(mail, settlement) ? (mail.countedOn ?? []) : [])),
    );
    return ours;
  });

/**
 * Whether this claim's quota is returned. Quota of earlier attempts stays counted: a failing mail server uses up quota rather than
 * letting more mails out.
 */
const refundsQuota = ({ countedOn }: Pick<ClaimedMail, 'countedOn'>, { outcome, isUntried }: Settlement): boolean =>
  (isUntried === true || outcome === 'returned') && countedOn !== null;

/** Passes each kind its attempts at once, except for mails whose row cannot be read. */
async function remember(tx: Tx, kinds: OutboxMails, ended: Ended[]): Promise<void> {
  for (const [name, ofKind] of Map.groupBy(ended, ({ mail }) => mail.kind)) {
    const kind = kinds.get(name);
    const attempts = ofKind.flatMap(({ mail, settlement }): Attempt<unknown>[] => {
      const { tenantId, tries, account } = mail;
      const row = kind?.data.safeParse(mail.data);
      const outcome = attemptOutcome(settlement);
      if (!account || !row?.success || outcome === null) return [];
      return [{ tenantId, userId: account.id, data: row.data, tries, outcome, mayHaveArrived: mayHaveArrived(mail) }];
    });
    if (attempts.length > 0) await kind?.remember?.(tx, attempts);
  }
}

function attemptOutcome({ outcome, isUntried }: Settlement): Attempt<unknown>['outcome'] | null {
  if (outcome === 'returned') return null;
  if (outcome === 'skipped') return 'dropped';
  if (outcome === 'not_configured' || outcome === 'quota') return 'withheld';
  return outcome === 'failed' && isUntried ? 'withheld' : outcome;
}

/** Rows per statement: a tenant may have any number of waiting mails. */
const postponeBatch = 5_000;

/** Postpones all due mails of a failed route without counting an attempt; mails that are being sent are left alone. */
export async function postponeDueMails(
  scope: TenantScope,
  afterSec: number,
  { route, ownServer }: Pick<ClaimTerms, 'route' | 'ownServer'>,
): Promise<void> {
  for (let postponed = postponeBatch; postponed === postponeBatch;)
    postponed = await scope.tx(async (tx) => {
      const isWaiting = and(eq(mails.state, 'queued'), lte(mails.dueAt, sql`now()`), usesRoute(tx, route, ownServer));
      // Skips locked mails: waiting for several locks could deadlock with the deletion of an account.
      const free = tx
        .$with('free')
        .as(
          tx
            .select({ id: mails.id })
            .from(mails)
            .where(isWaiting)
            .limit(postponeBatch)
            .for('update', { skipLocked: true }),
        );
      const { rowCount } = await tx
        .with(free)
        .update(mails)
        .set({ dueAt: sql`now() + make_interval(secs => ${afterSec})` })
        .where(inArray(mails.id, tx.select({ id: free.id }).from(free)));
      return rowCount ?? 0;
    });
}
