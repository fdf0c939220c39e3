import { hash } from 'node:crypto';
import { eq, type SQL, sql, type SQLWrapper } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { valuesOf } from '@portal/db/row-of';
import { rateWindows } from '@portal/db/schema/platform/operations';
import { countedAddress } from './counted-address.ts';

/**
 * At most `max` counted events per subject in any `windowSec` seconds, by the database's clock. Stored in the database, so that the count
 * holds across processes and restarts, and without Redis. A limit on every request would need Redis, or the proxy in front.
 */
export interface RateLimit {
  name: string;
  max: number;
  windowSec: number;
}

/** A subject is one name, or several separated by NUL; addresses among them count as their network, for all limits. */
const keyOf = (limit: RateLimit, subject: string): Buffer =>
  hash('sha256', [limit.name, ...subject.split('\0').map(countedAddress)].join('\0'), 'buffer');

const windowSec = sql`${sql.placeholder('windowSec')}::int`;
const max = sql`${sql.placeholder('max')}::int`;
const recentHits = sql`(select coalesce(array_agg(hit order by hit), '{}') from unnest(${rateWindows.hits}) hit where hit > now() - make_interval(secs => ${windowSec}))`;

/** Each hit needs a unique time to be identified: a simultaneous hit counts as one millisecond later. */
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

const position = sql`array_position(${rateWindows.hits}, ${sql.placeholder('at')}::timestamptz(3))`;
const removeHit = prepared<{ key: Buffer; at: string }>()('rate_remove_hit', (db) =>
  db
    .update(rateWindows)
    .set({ hits: sql`${rateWindows.hits}[:${position} - 1] || ${rateWindows.hits}[${position} + 1:]` })
    .where(sql`${rateWindows.key} = ${sql.placeholder('key')} and ${position} is not null`)
    .returning({ one: sql`1` }),
);

/**
 * When a limit of `maxHits` allows another hit; in the past or null if it does now. Hits are stored in order, so the hit that must expire
 * is found by its index: every sign-in needs this twice, and filtering the recent hits, as counting does, would cost more than the rest of
 * the statement.
 */
const freeAt = (maxHits: SQL) =>
  sql`${rateWindows.hits}[cardinality(${rateWindows.hits}) - ${maxHits} + 1] + make_interval(secs => ${windowSec})`;
const secondsUntil = (at: SQL) => sql`ceil(extract(epoch from ${at} - now()))::int`;

const secondsUntilFree = prepared<{ key: Buffer; max: number; windowSec: number }>()('rate_until_room', (db) =>
  db
    // A transaction that waited for another’s hit began before that hit, so by its own clock the wait could exceed the window.
    .select({ waitSec: sql<number>`least(${secondsUntil(freeAt(max))}, ${windowSec})` })
    .from(rateWindows)
    .where(sql`${rateWindows.key} = ${sql.placeholder('key')} and ${freeAt(max)} > now()`),
);

const deleteHits = prepared<{ key: Buffer }>()('rate_forget', (db) =>
  db
    .delete(rateWindows)
    .where(eq(rateWindows.key, sql.placeholder('key')))
    .returning({ one: sql`1` }),
);

/** Counts one event; returns false, and counts nothing, at the limit. Exact under concurrency. */
export async function consume(tx: Tx, limit: RateLimit, subject: string): Promise<boolean> {
  return (await takeHit(tx, limit, subject)) !== null;
}

/** Like `consume`, but at the limit throws `refusal` with the seconds until another event is allowed. */
export async function consumeOrThrow(
  tx: Tx,
  limit: RateLimit,
  subject: string,
  refusal: (waitSec: number) => Error,
): Promise<void> {
  if (await consume(tx, limit, subject)) return;
  // The limit may allow another event by now.
  throw refusal((await retryAfter(tx, limit, subject)) ?? 1);
}

/** One counted event. */
export interface Hit {
  key: Buffer;
  at: string;
}

/** Like `consume`, for events that may turn out not to count: returns the hit for `giveBack`, or null at the limit. */
export async function takeHit(tx: Tx, limit: RateLimit, subject: string): Promise<Hit | null> {
  const key = keyOf(limit, subject);
  const [counted] = await tx.run(countHit, { key, max: limit.max, windowSec: limit.windowSec });
  return counted ? { key, at: counted.at } : null;
}

/** Removes a hit whose event did not count after all; repeating it changes nothing. */
export async function giveBack(tx: Tx, { key, at }: Hit): Promise<void> {
  await tx.run(removeHit, { key, at });
}

/** Seconds until another event is allowed; null if it is allowed now. */
export async function retryAfter(tx: Tx, limit: RateLimit, subject: string): Promise<number | null> {
  const [row] = await tx.run(secondsUntilFree, {
    key: keyOf(limit, subject),
    max: limit.max,
    windowSec: limit.windowSec,
  });
  return row?.waitSec ?? null;
}

/** Several limits with the same window, as statement parameters; all must allow the event. */
export interface AllLimits extends Record<string, unknown> {
  keys: Buffer[];
  maxes: number[];
  windowSec: number;
  /** While this key is counted, the last limit does not apply. */
  known: Buffer;
  knownSec: number;
}

/** The last limit does not apply while a hit for `known` is counted. */
export const allLimits = (limits: [RateLimit, string][], known: [RateLimit, string]): AllLimits => ({
  keys: limits.map((each) => keyOf(...each)),
  maxes: limits.map(([limit]) => limit.max),
  windowSec: limits[0]?.[0].windowSec ?? 0,
  known: keyOf(...known),
  knownSec: known[0].windowSec,
});

const keys = sql`${sql.placeholder('keys')}::bytea[]`;
const known = sql`${sql.placeholder('known')}::bytea`;
const knownUntil = sql<Date>`now() + make_interval(secs => ${sql.placeholder('knownSec')}::int)`;
const asked = sql`unnest(${keys}, ${sql.placeholder('maxes')}::int[]) with ordinality as asked(key, max, place)`;
const freeAtAsked = freeAt(sql`asked.max`);
const isLifted = sql`asked.place = cardinality(${keys}) and exists (select from ${rateWindows} mark where mark.key = ${known} and mark.expires_at > now())`;

/** Part of a statement with the parameters of `allLimits`: one row with the seconds until all limits allow the event, or null. */
export const secondsUntilAllFree = (db: Pick<Tx, 'select'>) =>
  db
    .select({ waitSec: sql<number | null>`max(${secondsUntil(freeAtAsked)})`.as('wait_sec') })
    .from(rateWindows)
    .innerJoin(asked, sql`asked.key = ${rateWindows.key}`)
    .where(sql`${freeAtAsked} > now() and not (${isLifted})`);

/** Part of a statement with the parameters of `allLimits`: deletes the hits of the first limit if `cause` has a row. */
export const clearedFirst = (db: Pick<Tx, 'delete'>, cause: SQLWrapper) =>
  db
    .delete(rateWindows)
    .where(sql`${rateWindows.key} = (${keys})[1] and exists (select from ${cause})`)
    .returning({ key: rateWindows.key });

/** Part of a statement with the parameters of `allLimits`: counts `known`, at most once a day, if `cause` has a row. */
export const countedKnown = (db: Pick<Tx, 'insert'>, cause: SQLWrapper) =>
  db
    .insert(rateWindows)
    .select(
      sql`select ${valuesOf(rateWindows, { key: known, hits: sql`array[now()]`, expiresAt: knownUntil })} from ${cause}`,
    )
    .onConflictDoUpdate({
      target: rateWindows.key,
      set: { hits: sql`array[now()]`, expiresAt: knownUntil },
      setWhere: sql`${rateWindows.expiresAt} < ${knownUntil} - interval '1 day'`,
    })
    .returning({ key: rateWindows.key });

const waitForAll = prepared<AllLimits>()('rate_until_room_for_all', secondsUntilAllFree);

/** Seconds until all limits allow the event; null if they do now. */
export async function retryAfterOfAll(tx: Pick<Tx, 'run'>, limits: AllLimits): Promise<number | null> {
  const [row] = await tx.run(waitForAll, limits);
  return row?.waitSec ?? null;
}

/** Deletes the hits of a subject. */
export async function clearHits(tx: Tx, limit: RateLimit, subject: string): Promise<void> {
  await tx.run(deleteHits, { key: keyOf(limit, subject) });
}
