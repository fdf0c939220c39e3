import { sql, type SQL } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { reminders } from '@portal/db/schema/reminders';
import type { UserContext } from '@portal/platform/context';

// The clock as it is when a row is looked at, after any wait for a lock; `now()` would be the transaction's beginning.
const clock = sql`clock_timestamp()`;
const dueTime = (time?: Date): SQL => (time ? sql`${time.toISOString()}::timestamptz` : sql`${reminders.dueAt}`);

/** Whether the reminder's due time, or the time given, has come, by the database's clock. */
export const hasCome = (time?: Date): SQL<boolean> => sql<boolean>`${dueTime(time)} <= ${clock}`;
export const liesAhead = (time?: Date): SQL<boolean> => sql<boolean>`${dueTime(time)} > ${clock}`;

/**
 * Changes of one user's reminders take turns, each until its commit. Whether a due time has come is asked within the turn, so
 * a change that saw it ahead is over before anybody in a later turn can see it come. Three things follow: an edit that won
 * leaves no mail and no notice behind (what both are made of is read between turns), a time told between turns is never
 * later than a due time not yet committed, and the bound on open reminders holds for calls side by side.
 */
export const changeReminders = <T>(ctx: UserContext, work: (tx: Tx, now: Date) => Promise<T>): Promise<T> =>
  ctx.tx(async (tx) => work(tx, await timeAfter(tx, sql`pg_advisory_xact_lock(${turnOf(ctx.actor.id)})`)));

/** Reads while no change of the caller's reminders is under way. `now` is the database's, in whole milliseconds. */
export const betweenTurns = <T>(ctx: UserContext, work: (tx: Tx, now: Date) => Promise<T>): Promise<T> =>
  ctx.tx(async (tx) => work(tx, await timeAfter(tx, sql`pg_advisory_xact_lock_shared(${turnOf(ctx.actor.id)})`)));

/** Those of the users who change nothing at the moment; until the end of the transaction none of them will. */
export async function usersBetweenTurns(tx: Tx, userIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.execute<{ id: string }>(
    sql`select id from unnest(${sql.param(userIds)}::text[]) as id where pg_try_advisory_xact_lock_shared(${turnOf(sql`id`)})`,
  );
  return new Set(rows.map(({ id }) => id));
}

const turnOf = (userId: string | SQL): SQL => sql`${advisoryLocks.remindersOfUser}, hashtext(${userId})`;

/** Waits for the lock and only then looks at the clock: the row it stands beside comes with the lock. */
async function timeAfter(tx: Tx, lock: SQL): Promise<Date> {
  const { rows } = await tx.execute<{ ms: string }>(
    sql`with turn as materialized (select ${lock}) select floor(extract(epoch from ${clock}) * 1000) as ms from turn`,
  );
  return new Date(Number(rows[0]?.ms));
}
