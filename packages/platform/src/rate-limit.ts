import { hash } from 'node:crypto';
import { eq, type SQL, sql, type SQLWrapper } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { rateWindows } from '@portal/db/schema/platform/operations';
import { countedAddress } from './counted-address.ts';

/** At most `max` counted events per subject in any `windowSec` seconds, by the database's clock. */
export interface RateLimit {
  name: string;
  max: number;
  windowSec: number;
}

/** A subject is one name or several with NUL between them; an address among them counts as its network, for every limit alike. */
const keyOf = (limit: RateLimit, subject: string): Buffer =>
  hash('sha256', [limit.name, ...subject.split('\0').map(countedAddress)].join('\0'), 'buffer');

const windowSec = sql`${sql.placeholder('windowSec')}::int`;
const max = sql`${sql.placeholder('max')}::int`;
const recentHits = sql`(select coalesce(array_agg(hit order by hit), '{}') from unnest(${rateWindows.hits}) hit where hit > now() - make_interval(secs => ${windowSec}))`;

/** Each hit has a time of its own, so that it can be told from all others: one that comes with another one counts as a moment later. */
const nextHit = sql`greatest(now(), ${rateWindows.hits}[cardinality(${rateWindows.hits})] + interval '1 millisecond')`;

const countHit = prepared<{ key: Buffer; max: number; windowSec: number }>()('rate_count_hit', (db) =>
  db
    .insert(rateWindows)
    .values({
      key: sql.placeholder('key'),
      hits: sql`array[now()]`,
      expiresAt: sql`now() + make_interval(secs => ${windowSec})`,
    })
    .onConflictDoUpdate({
      target: rateWindows.key,
      set: { hits: sql`${recentHits} || ${nextHit}`, expiresAt: sql`now() + make_interval(secs => ${windowSec})` },
      setWhere: sql`cardinality(${recentHits}) < ${max}`,
    })
    .returning({ at: sql<string>`${rateWindows.hits}[cardinality(${rateWindows.hits})]::text` }),
);

const place = sql`array_position(${rateWindows.hits}, ${sql.placeholder('at')}::timestamptz(3))`;
const removeHit = prepared<{ key: Buffer; at: string }>()('rate_remove_hit', (db) =>
  db
    .update(rateWindows)
    .set({ hits: sql`${rateWindows.hits}[:${place} - 1] || ${rateWindows.hits}[${place} + 1:]` })
    .where(sql`${rateWindows.key} = ${sql.placeholder('key')} and ${place} is not null`)
    .returning({ one: sql`1` }),
);

/**
 * When there is room again for a limit of `most`; past or null while there is. Hits are stored in order, so the one that must pass is found by its place: every sign-in asks this twice, and picking out the recent ones,
 * as counting does, would cost more than the rest of the statement.
 */
const freeAt = (most: SQL) =>
  sql`${rateWindows.hits}[cardinality(${rateWindows.hits}) - ${most} + 1] + make_interval(secs => ${windowSec})`;
const secondsUntil = (at: SQL) => sql`ceil(extract(epoch from ${at} - now()))::int`;

const untilRoom = prepared<{ key: Buffer; max: number; windowSec: number }>()('rate_until_room', (db) =>
  db
    // Whoever waited for another one’s hit began before it, and by that time would wait for longer than the window.
    .select({ waitSec: sql<number>`least(${secondsUntil(freeAt(max))}, ${windowSec})` })
    .from(rateWindows)
    .where(sql`${rateWindows.key} = ${sql.placeholder('key')} and ${freeAt(max)} > now()`),
);

const forget = prepared<{ key: Buffer }>()('rate_forget', (db) =>
  db
    .delete(rateWindows)
    .where(eq(rateWindows.key, sql.placeholder('key')))
    .returning({ one: sql`1` }),
);

/** Counts one event and says whether there was room for it; at the limit nothing is counted. Exact under concurrency. */
export async function consume(tx: Tx, limit: RateLimit, subject: string): Promise<boolean> {
  return (await takeHit(tx, limit, subject)) !== null;
}

/** As `consume`; at the limit it throws what `refusal` makes of the seconds until there is room again. */
export async function consumeOrThrow(
  tx: Tx,
  limit: RateLimit,
  subject: string,
  refusal: (waitSec: number) => Error,
): Promise<void> {
  if (await consume(tx, limit, subject)) return;
  // There may be room again by now.
  throw refusal((await retryAfter(tx, limit, subject)) ?? 1);
}

/** One event that was counted. */
export interface Hit {
  key: Buffer;
  at: string;
}

/** As `consume`, for what may turn out not to count: null at the limit, else what `giveBack` takes. */
export async function takeHit(tx: Tx, limit: RateLimit, subject: string): Promise<Hit | null> {
  const key = keyOf(limit, subject);
  const [counted] = await tx.run(countHit, { key, max: limit.max, windowSec: limit.windowSec });
  return counted ? { key, at: counted.at } : null;
}

/** Makes room again for one event that was counted and did not come to anything; a second time changes nothing. */
export async function giveBack(tx: Tx, { key, at }: Hit): Promise<void> {
  await tx.run(removeHit, { key, at });
}

/** Seconds until there is room again, or null when there is room now. */
export async function retryAfter(tx: Tx, limit: RateLimit, subject: string): Promise<number | null> {
  const [row] = await tx.run(untilRoom, { key: keyOf(limit, subject), max: limit.max, windowSec: limit.windowSec });
  return row?.waitSec ?? null;
}

/** Limits over one window that must all have room, as statements name them. The third is told apart: it may be lifted. */
export interface AllLimits extends Record<string, unknown> {
  first: Buffer;
  firstMax: number;
  second: Buffer;
  secondMax: number;
  third: Buffer;
  thirdMax: number;
  windowSec: number;
}

export const allLimits = (
  [limit, subject]: [RateLimit, string],
  [other, otherSubject]: [RateLimit, string],
  [third, thirdSubject]: [RateLimit, string],
): AllLimits => ({
  first: keyOf(limit, subject),
  firstMax: limit.max,
  second: keyOf(other, otherSubject),
  secondMax: other.max,
  third: keyOf(third, thirdSubject),
  thirdMax: third.max,
  windowSec: limit.windowSec,
});

// More than any window holds, so there is always room.
const noLimit = 2 ** 31 - 1;

/** The same limits without the third. */
export const withoutThird = (limits: AllLimits): AllLimits => ({ ...limits, thirdMax: noLimit });

const [first, second, third] = [sql.placeholder('first'), sql.placeholder('second'), sql.placeholder('third')];
const maxOfEach = sql`case ${rateWindows.key} when ${first} then ${sql.placeholder('firstMax')}::int when ${second} then ${sql.placeholder('secondMax')}::int else ${sql.placeholder('thirdMax')}::int end`;
const waitSec = sql<number | null>`max(${secondsUntil(freeAt(maxOfEach))})`;

/** Part of a statement with the parameters of `allLimits`: one row with the seconds until there is room, null where there is. */
export const remainingOfAll = (db: Pick<Tx, 'select'>) =>
  db
    .select({
      waitSec: sql<number | null>`${waitSec} filter (where ${rateWindows.key} <> ${third})`.as('wait_sec'),
      thirdWaitSec: sql<number | null>`${waitSec} filter (where ${rateWindows.key} = ${third})`.as('third_wait_sec'),
    })
    .from(rateWindows)
    .where(sql`${rateWindows.key} in (${first}, ${second}, ${third}) and ${freeAt(maxOfEach)} > now()`);

/** Part of a statement with the parameters of `allLimits`: forgets what was counted for the first, if `cause` has a row. */
export const clearedFirst = (db: Pick<Tx, 'delete'>, cause: SQLWrapper) =>
  db
    .delete(rateWindows)
    .where(sql`${rateWindows.key} = ${sql.placeholder('first')} and exists (select from ${cause})`)
    .returning({ key: rateWindows.key });

const untilRoomForAll = prepared<AllLimits>()('rate_until_room_for_all', remainingOfAll);

/** Seconds until all have room again, or null when they have it now. */
export async function retryAfterOfAll(tx: Pick<Tx, 'run'>, limits: AllLimits): Promise<number | null> {
  const [row] = await tx.run(untilRoomForAll, limits);
  return row?.waitSec ?? row?.thirdWaitSec ?? null;
}

/** Forgets what was counted for a subject. */
export async function clearHits(tx: Tx, limit: RateLimit, subject: string): Promise<void> {
  await tx.run(forget, { key: keyOf(limit, subject) });
}
