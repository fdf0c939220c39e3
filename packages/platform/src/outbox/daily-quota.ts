import { eq, sql } from 'drizzle-orm';
import type { Reader, Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
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

const takeQuota = prepared<{ id: string; tenantId: string; count: number }>()('mail_day_take', (db) =>
  db
    .insert(mailDays)
    .values({
      id: sql.placeholder('id'),
      tenantId: sql.placeholder('tenantId'),
      day: today,
      counted: sql.placeholder('count'),
    })
    .onConflictDoUpdate({
      target: [mailDays.tenantId, mailDays.day],
      set: { counted: sql`${mailDays.counted} + excluded.counted` },
    })
    .returning({ day: mailDays.day, counted: mailDays.counted, limitReachedAt: mailDays.limitReachedAt }),
);

const giveQuotaBack = prepared<{ day: string; count: number }>()('mail_day_give_back', (db) =>
  db
    .update(mailDays)
    .set({ counted: sql`greatest(${mailDays.counted} - ${sql.placeholder('count')}::int, 0)` })
    .where(eq(mailDays.day, sql.placeholder('day')))
    .returning({ id: mailDays.id }),
);

const countedToday = prepared<{ userIds: string[] }>()('mails_counted_today', (db) =>
  db
    .select({ userId: mails.userId, kind: mails.kind, count: sql<number>`count(*)::int`.as('count') })
    .from(mails)
    .where(sql`${mails.userId} = any(${sql.placeholder('userIds')}::uuid[]) and ${mails.countedOn} = ${today}`)
    .groupBy(mails.userId, mails.kind),
);

const noteHeldBack = prepared<{ count: number; isLimitReached: boolean }>()('mail_day_held_back', (db) =>
  db
    .update(mailDays)
    .set({
      counted: sql`${mailDays.counted} - ${sql.placeholder('count')}::int`,
      heldBack: sql`${mailDays.heldBack} + ${sql.placeholder('count')}::int`,
      limitReachedAt: sql`case when ${sql.placeholder('isLimitReached')}::boolean then coalesce(${mailDays.limitReachedAt}, now()) else ${mailDays.limitReachedAt} end`,
    })
    .where(eq(mailDays.day, today))
    .returning({ id: mailDays.id }),
);

interface Asking {
  id: string;
  kind: string;
  userId: string | null;
}

export interface HeldBack<Mail> {
  mail: Mail;
  failure: 'tenant_limit' | 'account_limit';
  message: string;
}

/**
 * Takes room of the tenant's day for mails that this transaction has marked as counted today, and answers those there is none
 * for. The row of the day is held until the commit, so whoever else asks for the same tenant counts after us.
 */
export async function takeDailyQuota<Mail extends Asking>(
  tx: Tx,
  asking: Mail[],
  { kinds, tenantId, limit }: { kinds: OutboxMails; tenantId: string; limit: number },
): Promise<HeldBack<Mail>[]> {
  const [[day], counts] = await Promise.all([
    tx.run(takeQuota, { id: newId(), tenantId, count: asking.length }),
    // Sent behind it, and so begun with the row held: it sees what was counted before us, and our own marks.
    tx.run(countedToday, { userIds: [...new Set(asking.flatMap(({ userId }) => userId ?? []))] }),
  ]);
  if (!day) throw new Error('counting mails of a day returned no row');
  const perAccount = new Map(counts.map(({ userId, kind, count }) => [`${userId} ${kind}`, count]));
  for (const { userId, kind } of asking) {
    const key = `${userId} ${kind}`;
    const marked = perAccount.get(key);
    if (marked !== undefined) perAccount.set(key, marked - 1);
  }
  let counted = day.counted - asking.length;
  const heldBack: HeldBack<Mail>[] = [];
  for (const mail of asking) {
    // One that this release does not know comes last.
    const { isAwaited, maxADay } = kinds.get(mail.kind) ?? { isAwaited: false };
    const key = `${mail.userId} ${mail.kind}`;
    const before = perAccount.get(key) ?? 0;
    const isReserved = isAwaited && before < reservedPerAccount;
    if (maxADay !== undefined && before >= maxADay) {
      heldBack.push({ mail, failure: 'account_limit', message: accountLimitReached(maxADay) });
    } else if (counted >= (isReserved ? limit : unreserved(limit))) {
      heldBack.push({ mail, failure: 'tenant_limit', message: tenantLimitReached(limit) });
    } else {
      counted += 1;
      perAccount.set(key, before + 1);
    }
  }
  if (heldBack.length === 0) return heldBack;
  const isLimitReached = heldBack.some(({ failure }) => failure === 'tenant_limit');
  await tx.run(noteHeldBack, { count: heldBack.length, isLimitReached });
  if (isLimitReached && day.limitReachedAt === null) {
    await recordAudit(tx, { ip: null }, { action: 'mails.daily_limit', tenantId, summary: tenantLimitReached(limit) });
  }
  return heldBack;
}

/**
 * Takes room for one mail that goes out beside the outbox and that nobody has to get; exact once it answers, with the day it was
 * counted on. Throws 409 `LIMIT_REACHED` when there is none.
 */
export async function takeQuotaForOne(ctx: TenantContext): Promise<string> {
  const limit = ctx.config.mailDailyPerTenant;
  const { tenantId } = ctx;
  const day = await ctx.tx(async (tx) => {
    const [taken] = await tx.run(takeQuota, { id: newId(), tenantId, count: 1 });
    if (!taken) throw new Error('counting mails of a day returned no row');
    if (taken.counted <= unreserved(limit)) return taken.day;
    await tx.run(noteHeldBack, { count: 1, isLimitReached: false });
    return null;
  });
  if (day === null) throw conflict('LIMIT_REACHED', tenantLimitReached(limit));
  return day;
}

/** Gives back what mails had taken that were not tried after all, by the day they were counted on. */
export async function giveDailyQuotaBack(tx: Tx, countedOn: string[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const day of countedOn) counts.set(day, (counts.get(day) ?? 0) + 1);
  for (const [day, count] of [...counts].toSorted()) await tx.run(giveQuotaBack, { day, count });
}

/** What the tenant at work has sent over the service's own server today, and what was held back. */
export async function mailsOfToday(db: Pick<Reader, 'select'>): Promise<{ sent: number; heldBack: number }> {
  const [day] = await db
    .select({ sent: mailDays.counted, heldBack: mailDays.heldBack })
    .from(mailDays)
    .where(eq(mailDays.day, today));
  return day ?? { sent: 0, heldBack: 0 };
}

const tenantLimitReached = (limit: number): string =>
  `Today's ${limit} mails of this tenant over the service's own mail server are used up, or kept for mails people wait for. Set up an own mail server in the mail settings, or ask the operator for a higher limit.`;
const accountLimitReached = (limit: number): string =>
  `This account has had its ${limit} mails of this kind over the service's own mail server today. Wait until tomorrow, or set up an own mail server in the mail settings.`;
