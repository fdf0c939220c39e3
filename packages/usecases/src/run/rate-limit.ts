import { createHash } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { rateWindows } from '@portal/db/schema/operations';

/** At most `max` counted events per subject in any `windowSec` seconds, by the database's clock. */
export interface RateLimit {
  name: string;
  max: number;
  windowSec: number;
}

const keyOf = (limit: RateLimit, subject: string): Buffer =>
  createHash('sha256').update(`${limit.name}\0${subject}`).digest();

const windowSec = sql`${sql.placeholder('windowSec')}::int`;
const max = sql`${sql.placeholder('max')}::int`;
const recentHits = sql`(select coalesce(array_agg(hit order by hit), '{}') from unnest(${rateWindows.hits}) hit where hit > now() - make_interval(secs => ${windowSec}))`;

const untilOldestPasses = sql<number>`ceil(extract(epoch from (${recentHits})[1] + make_interval(secs => ${windowSec}) - now()))::int`;

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
      set: { hits: sql`${recentHits} || now()`, expiresAt: sql`now() + make_interval(secs => ${windowSec})` },
      setWhere: sql`cardinality(${recentHits}) < ${max}`,
    })
    .returning({ one: sql`1` }),
);

const untilRoom = prepared<{ key: Buffer; max: number; windowSec: number }>()('rate_until_room', (db) =>
  db
    .select({ waitSec: untilOldestPasses })
    .from(rateWindows)
    .where(sql`${rateWindows.key} = ${sql.placeholder('key')} and cardinality(${recentHits}) >= ${max}`),
);

const forget = prepared<{ key: Buffer }>()('rate_forget', (db) =>
  db
    .delete(rateWindows)
    .where(eq(rateWindows.key, sql.placeholder('key')))
    .returning({ one: sql`1` }),
);

/** Counts one event and says whether there was room for it; at the limit nothing is counted. Exact under concurrency. */
export async function takeHit(tx: Tx, limit: RateLimit, subject: string): Promise<boolean> {
  const counted = await tx.run(countHit, { key: keyOf(limit, subject), max: limit.max, windowSec: limit.windowSec });
  return counted.length > 0;
}

/** Seconds until there is room again, or null when there is room now. */
export async function secondsUntilRoom(tx: Tx, limit: RateLimit, subject: string): Promise<number | null> {
  const [row] = await tx.run(untilRoom, { key: keyOf(limit, subject), max: limit.max, windowSec: limit.windowSec });
  return row ? Math.max(1, row.waitSec) : null;
}

const untilRoomForBoth = prepared<{
  first: Buffer;
  firstMax: number;
  second: Buffer;
  secondMax: number;
  windowSec: number;
}>()('rate_until_room_for_both', (db) =>
  db
    .select({ waitSec: untilOldestPasses })
    .from(rateWindows)
    .where(
      sql`(${rateWindows.key} = ${sql.placeholder('first')} and cardinality(${recentHits}) >= ${sql.placeholder('firstMax')}::int)
        or (${rateWindows.key} = ${sql.placeholder('second')} and cardinality(${recentHits}) >= ${sql.placeholder('secondMax')}::int)`,
    ),
);

/** The same for two limits over one window that must both have room, in one statement. */
export async function secondsUntilRoomForBoth(
  tx: Tx,
  [limit, subject]: [RateLimit, string],
  [other, otherSubject]: [RateLimit, string],
): Promise<number | null> {
  const rows = await tx.run(untilRoomForBoth, {
    first: keyOf(limit, subject),
    firstMax: limit.max,
    second: keyOf(other, otherSubject),
    secondMax: other.max,
    windowSec: limit.windowSec,
  });
  return rows.length === 0 ? null : Math.max(1, ...rows.map(({ waitSec }) => waitSec));
}

/** Forgets what was counted for a subject. */
export async function clearHits(tx: Tx, limit: RateLimit, subject: string): Promise<void> {
  await tx.run(forget, { key: keyOf(limit, subject) });
}
