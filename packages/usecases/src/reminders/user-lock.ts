import { sql, type SQL } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { reminders } from '@portal/db/schema/reminders';
import type { UserContext } from '@portal/platform/context';

// The time at which a row is read, after any wait for a lock; `now()` would be the start of the transaction.
const clock = sql`clock_timestamp()`;
const dueTime = (time?: Date): SQL => (time ? sql`${time.toISOString()}::timestamptz` : sql`${reminders.dueAt}`);

/** Whether the reminder's due time, or `time`, has come by the database's clock. */
export const hasCome = (time?: Date): SQL<boolean> => sql<boolean>`${dueTime(time)} <= ${clock}`;
export const liesAhead = (time?: Date): SQL<boolean> => sql<boolean>`${dueTime(time)} > ${clock}`;

/**
 * Changes a user's reminders under an exclusive lock per user, held until the commit. The check whether a due time has come runs under
 * the lock, so a change that saw it in the future ends before a later lock holder can see it due. Three things follow: an edit that won
 * leaves no mail and no notice of the old due time, because both are read under the shared lock; a `now` returned under the shared lock
 * is never later than a due time that is not committed yet; and the limit on open reminders holds for concurrent calls. Row locks alone
 * would leave a gap between the comparison of the times and the lock.
 */
export const changeReminders = <T>(ctx: UserContext, work: (tx: Tx, now: Date) => Promise<T>): Promise<T> =>
  ctx.tx(async (tx) => work(tx, await timeAfter(tx, sql`pg_advisory_xact_lock(${lockKeyOf(ctx.actor.id)})`)));

/** Reads under the shared lock, which excludes changes of the caller's reminders. `now` is the database's, in whole milliseconds. */
export const withSharedLock = <T>(ctx: UserContext, work: (tx: Tx, now: Date) => Promise<T>): Promise<T> =>
  ctx.tx(async (tx) => work(tx, await timeAfter(tx, sql`pg_advisory_xact_lock_shared(${lockKeyOf(ctx.actor.id)})`)));

/** Takes the shared lock of each user who is not changing a reminder, until the transaction ends; returns these users. */
export async function lockIdleUsers(tx: Tx, userIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.execute<{ id: string }>(
    sql`select id from unnest(${sql.param(userIds)}::text[]) as id where pg_try_advisory_xact_lock_shared(${lockKeyOf(sql`id`)})`,
  );
  return new Set(rows.map(({ id }) => id));
}

const lockKeyOf = (userId: string | SQL): SQL => sql`${advisoryLocks.remindersOfUser}, hashtext(${userId})`;

/** Waits for the lock and reads the clock afterwards: the materialized CTE yields its row only with the lock. */
async function timeAfter(tx: Tx, lock: SQL): Promise<Date> {
  const { rows } = await tx.execute<{ ms: string }>(
    sql`with turn as materialized (select ${lock}) select floor(extract(epoch from ${clock}) * 1000) as ms from turn`,
  );
  return new Date(Number(rows[0]?.ms));
}
