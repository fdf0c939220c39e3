import { and, eq, inArray, notInArray, type SQL, sql } from 'drizzle-orm';
import type { Reader, Tx } from '@portal/db/open';
import { mailDays, mails } from '@portal/db/schema/platform/mails';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { auditLog } from '../audit.ts';
import type { TenantContext } from '../context.ts';
import type { OutboxMails } from './mail.ts';

export const { auditActions, recordAudit } = auditLog('mails.daily_limit');

/** One tenth of a tenant's daily quota is reserved for mails that people wait for. */
const reservedShare = 10;
/** Mails of one kind to one account that may use the reserved share, so that one account cannot use it up. */
const reservedPerAccount = 20;

/** The current day of the quota (Berlin time), by the database's clock. */
export const today = sql<string>`(now() at time zone 'Europe/Berlin')::date`;

/** The part of the daily quota for mails that no one waits for. */
const unreserved = (limit: number): number => limit - Math.floor(limit / reservedShare);

/** Counts mails. Locks the row of the day until the commit, so that concurrent transactions of the tenant count after this one. */
async function take(tx: Tx, tenantId: string, count: number) {
  const [day] = await tx
    .insert(mailDays)
    .values({ id: newId(), tenantId, day: today, counted: count })
    .onConflictDoUpdate({
      target: [mailDays.tenantId, mailDays.day],
      set: { counted: sql`${mailDays.counted} + excluded.counted` },
    })
    .returning({ day: mailDays.day, counted: mailDays.counted, limitReachedAt: mailDays.limitReachedAt });
  if (!day) throw new Error('counting mails of a day returned no row');
  return day;
}

/** Moves mails that exceed the quota from `counted` to `overQuota`. */
const recordOverQuota = (tx: Tx, count: number, more: { limitReachedAt?: SQL } = {}) =>
  tx
    .update(mailDays)
    .set({ counted: sql`${mailDays.counted} - ${count}`, overQuota: sql`${mailDays.overQuota} + ${count}`, ...more })
    .where(eq(mailDays.day, today));

interface QuotaRequest {
  id: string;
  kind: string;
  userId: string | null;
}

export interface OverQuota<Mail> {
  mail: Mail;
  failure: 'tenant_limit' | 'account_limit';
  message: string;
}

/** Takes quota for mails that this transaction has marked as counted today; returns the mails that exceed it. */
export async function takeDailyQuota<Mail extends QuotaRequest>(
  tx: Tx,
  requested: Mail[],
  { kinds, tenantId, limit }: { kinds: OutboxMails; tenantId: string; limit: number },
): Promise<OverQuota<Mail>[]> {
  if (requested.length === 0) return [];
  const day = await take(tx, tenantId, requested.length);
  const isCountedBefore = and(
    inArray(
      mails.userId,
      requested.flatMap(({ userId }) => userId ?? []),
    ),
    eq(mails.countedOn, today),
    notInArray(
      mails.id,
      requested.map(({ id }) => id),
    ),
  );
  const counts = await tx
    .select({ account: sql<string>`${mails.userId} || ' ' || ${mails.kind}`, count: sql<number>`count(*)::int` })
    .from(mails)
    .where(isCountedBefore)
    .groupBy(mails.userId, mails.kind);
  const perAccount = new Map(counts.map(({ account, count }) => [account, count]));
  let counted = day.counted - requested.length;
  const overQuota: OverQuota<Mail>[] = [];
  for (const mail of requested) {
    // Kinds that this release does not know count as not awaited.
    const { isAwaited, maxADay } = kinds.get(mail.kind) ?? { isAwaited: false };
    const key = `${mail.userId} ${mail.kind}`;
    const before = perAccount.get(key) ?? 0;
    const isReserved = isAwaited && before < reservedPerAccount;
    if (maxADay !== undefined && before >= maxADay) {
      overQuota.push({ mail, failure: 'account_limit', message: accountLimitReached(maxADay) });
    } else if (counted >= (isReserved ? limit : unreserved(limit))) {
      overQuota.push({ mail, failure: 'tenant_limit', message: tenantLimitReached(limit) });
    } else {
      counted += 1;
      perAccount.set(key, before + 1);
    }
  }
  if (overQuota.length === 0) return overQuota;
  const isLimitReached = overQuota.some(({ failure }) => failure === 'tenant_limit');
  const limitReachedAt = sql`coalesce(${mailDays.limitReachedAt}, now())`;
  await recordOverQuota(tx, overQuota.length, isLimitReached ? { limitReachedAt } : {});
  if (isLimitReached && day.limitReachedAt === null) {
    await recordAudit(tx, { ip: null }, { action: 'mails.daily_limit', tenantId, summary: tenantLimitReached(limit) });
  }
  return overQuota;
}

/**
 * Takes quota for one mail that bypasses the outbox and uses no reserved share. Returns the day that it was counted on. Throws 409
 * `LIMIT_REACHED` if the quota is used up.
 */
export async function takeQuotaForOne(ctx: TenantContext): Promise<string> {
  const limit = ctx.config.mailDailyPerTenant;
  const day = await ctx.tx(async (tx) => {
    const { day, counted } = await take(tx, ctx.tenantId, 1);
    if (counted <= unreserved(limit)) return day;
    await recordOverQuota(tx, 1);
    return null;
  });
  if (day === null) throw conflict('LIMIT_REACHED', tenantLimitReached(limit));
  return day;
}

/** Returns the quota of mails that were not attempted after all, given the days they were counted on. */
export async function refundDailyQuota(tx: Tx, countedOn: string[]): Promise<void> {
  for (const day of [...new Set(countedOn)].toSorted()) {
    const count = countedOn.filter((other) => other === day).length;
    await tx
      .update(mailDays)
      .set({ counted: sql`greatest(${mailDays.counted} - ${count}, 0)` })
      .where(eq(mailDays.day, day));
  }
}

/** How many mails the current tenant sent over the service's mail server today, and how many exceeded the quota. */
export async function mailsOfToday(db: Pick<Reader, 'select'>): Promise<{ sent: number; overQuota: number }> {
  const [day] = await db
    .select({ sent: mailDays.counted, overQuota: mailDays.overQuota })
    .from(mailDays)
    .where(eq(mailDays.day, today));
  return day ?? { sent: 0, overQuota: 0 };
}

const tenantLimitReached = (limit: number): string =>
  `This organization may send ${limit} mails a day over the service's mail server. They are used up for today, or the rest is reserved for mails that people wait for. Set up your own mail server in the mail settings, or ask the operator for a higher limit.`;
const accountLimitReached = (limit: number): string =>
  `This account has already received its ${limit} mails of this kind for today over the service's mail server. Wait until tomorrow, or set up your own mail server in the mail settings.`;
