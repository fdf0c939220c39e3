import { hash } from 'node:crypto';
import { eq, type SQL, sql, type SQLWrapper } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { valuesOf } from '@portal/db/row-of';
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

/** Limits over one window that must all have room, as statements name them. */
export interface AllLimits extends Record<string, unknown> {
  keys: Buffer[];
  maxes: number[];
  windowSec: number;
  /** Lifts the last of them while it is counted. */
  known: Buffer;
  knownSec: number;
}

/** The last limit is lifted where something was counted for `known`. */
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

/** Part of a statement with the parameters of `allLimits`: one row with the seconds until there is room, null where there is. */
export const remainingOfAll = (db: Pick<Tx, 'select'>) =>
  db
    .select({ waitSec: sql<number | null>`max(${secondsUntil(freeAtAsked)})`.as('wait_sec') })
    .from(rateWindows)
    .innerJoin(asked, sql`asked.key = ${rateWindows.key}`)
    .where(sql`${freeAtAsked} > now() and not (${isLifted})`);

/** Part of a statement with the parameters of `allLimits`: forgets what was counted for the first, if `cause` has a row. */
export const clearedFirst = (db: Pick<Tx, 'delete'>, cause: SQLWrapper) =>
  db
    .delete(rateWindows)
    .where(sql`${rateWindows.key} = (${keys})[1] and exists (select from ${cause})`)
    .returning({ key: rateWindows.key });

/** Part of a statement with the parameters of `allLimits`: counts `known`, once a day at most, if `cause` has a row. */
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

const untilRoomForAll = prepared<AllLimits>()('rate_until_room_for_all', remainingOfAll);

/** Seconds until all have room again, or null when they have it now. */
export async function retryAfterOfAll(tx: Pick<Tx, 'run'>, limits: AllLimits): Promise<number | null> {
  const [row] = await tx.run(untilRoomForAll, limits);
  return row?.waitSec ?? null;
}

/** Forgets what was counted for a subject. */
export async function clearHits(tx: Tx, limit: RateLimit, subject: string): Promise<void> {
  await tx.run(forget, { key: keyOf(limit, subject) });
}
