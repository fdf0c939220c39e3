import { and, eq, inArray, notInArray, type SQL, sql } from 'drizzle-orm';
import type { Reader, Tx } from '@portal/db/open';
import { mailDays, mails } from '@portal/db/schema/platform/mails';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { auditLog } from '../audit.ts';
import type { TenantContext } from '../context.ts';
import type { OutboxMails } from './mail.ts';

export const { auditActions, recordAudit } = auditLog('mails.daily_limit');

/** Of a tenant's day, this share is kept for mails people wait for. */
const reservedShare = 10;
/** Mails of one kind to one account that may use that share: nobody can use it up alone. */
const reservedPerAccount = 20;

/** The day whose room a mail takes, by the database's clock. */
export const today = sql<string>`(now() at time zone 'Europe/Berlin')::date`;

/** What a tenant may send in a day of mails nobody waits for. */
const unreserved = (limit: number): number => limit - Math.floor(limit / reservedShare);

/** Counts so many mails. The row of the day is held until the commit, so whoever else asks for the same tenant counts after us. */
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

/** Gives back what mails had taken that end because there is no room. */
const noteHeldBack = (tx: Tx, count: number, more: { limitReachedAt?: SQL } = {}) =>
  tx
    .update(mailDays)
    .set({ counted: sql`${mailDays.counted} - ${count}`, overQuota: sql`${mailDays.overQuota} + ${count}`, ...more })
    .where(eq(mailDays.day, today));

interface Asking {
  id: string;
  kind: string;
  userId: string | null;
}

export interface OverQuota<Mail> {
  mail: Mail;
  failure: 'tenant_limit' | 'account_limit';
  message: string;
}

/** Takes room of the tenant's day for mails that this transaction has marked as counted today, and answers those there is none for. */
export async function takeDailyQuota<Mail extends Asking>(
  tx: Tx,
  asking: Mail[],
  { kinds, tenantId, limit }: { kinds: OutboxMails; tenantId: string; limit: number },
): Promise<OverQuota<Mail>[]> {
  if (asking.length === 0) return [];
  const day = await take(tx, tenantId, asking.length);
  const isCountedBefore = and(
    inArray(
      mails.userId,
      asking.flatMap(({ userId }) => userId ?? []),
    ),
    eq(mails.countedOn, today),
    notInArray(
      mails.id,
      asking.map(({ id }) => id),
    ),
  );
  const counts = await tx
    .select({ account: sql<string>`${mails.userId} || ' ' || ${mails.kind}`, count: sql<number>`count(*)::int` })
    .from(mails)
    .where(isCountedBefore)
    .groupBy(mails.userId, mails.kind);
  const perAccount = new Map(counts.map(({ account, count }) => [account, count]));
  let counted = day.counted - asking.length;
  const overQuota: OverQuota<Mail>[] = [];
  for (const mail of asking) {
    // One that this release does not know comes last.
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
  await noteHeldBack(tx, overQuota.length, isLimitReached ? { limitReachedAt } : {});
  if (isLimitReached && day.limitReachedAt === null) {
    await recordAudit(tx, { ip: null }, { action: 'mails.daily_limit', tenantId, summary: tenantLimitReached(limit) });
  }
  return overQuota;
}

/**
 * Takes room for one mail that goes out beside the outbox and that nobody has to get; exact once it answers, with the day it was
 * counted on. Throws 409 `LIMIT_REACHED` when there is none.
 */
export async function takeQuotaForOne(ctx: TenantContext): Promise<string> {
  const limit = ctx.config.mailDailyPerTenant;
  const day = await ctx.tx(async (tx) => {
    const { day, counted } = await take(tx, ctx.tenantId, 1);
    if (counted <= unreserved(limit)) return day;
    await noteHeldBack(tx, 1);
    return null;
  });
  if (day === null) throw conflict('LIMIT_REACHED', tenantLimitReached(limit));
  return day;
}

/** Gives back what mails had taken that were not tried after all, by the day they were counted on. */
export async function giveDailyQuotaBack(tx: Tx, countedOn: string[]): Promise<void> {
  for (const day of [...new Set(countedOn)].toSorted()) {
    const count = countedOn.filter((other) => other === day).length;
    await tx
      .update(mailDays)
      .set({ counted: sql`greatest(${mailDays.counted} - ${count}, 0)` })
      .where(eq(mailDays.day, day));
  }
}

/** What the tenant at work has sent over the service's own server today, and what was held back. */
export async function mailsOfToday(db: Pick<Reader, 'select'>): Promise<{ sent: number; overQuota: number }> {
  const [day] = await db
    .select({ sent: mailDays.counted, overQuota: mailDays.overQuota })
    .from(mailDays)
    .where(eq(mailDays.day, today));
  return day ?? { sent: 0, overQuota: 0 };
}

const tenantLimitReached = (limit: number): string =>
  `Today's ${limit} mails of this tenant over the service's own mail server are used up, or kept for mails people wait for. Set up an own mail server in the mail settings, or ask the operator for a higher limit.`;
const accountLimitReached = (limit: number): string =>
  `This account has had its ${limit} mails of this kind over the service's own mail server today. Wait until tomorrow, or set up an own mail server in the mail settings.`;
