import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { tenants } from '@portal/db/schema/tenants';
import { tenderChangeNotices, tenderMatches } from '@portal/db/schema/tenders/matches';
import { savedSearches, tenderPreferences } from '@portal/db/schema/tenders/saved-searches';
import type { DigestRhythm } from '@portal/domain/tenders/saved-searches';
import type { Walked } from '@portal/platform/retention';

/** Matches written or removed at once. */
const batch = 5_000;
/** What nobody was told of within so many days is nobody’s news any more. */
const maxDays = 14;

const storedRhythm = prepared<{ userId: string }>()('tender_digest_rhythm', (db) =>
  db
    .select({ digest: tenderPreferences.digest })
    .from(tenderPreferences)
    .where(eq(tenderPreferences.userId, sql.placeholder('userId'))),
);

/** How often the account wants a digest. */
export async function digestRhythmOf({ run }: Pick<Tx, 'run'>, userId: string): Promise<DigestRhythm> {
  const [preference] = await run(storedRhythm, { userId });
  return preference?.digest ?? 'daily';
}

/** What a mail was to tell waits for the next digest, where the account wants any. */
export async function returnToPending(tx: Tx, userId: string, matches: SQL | undefined): Promise<void> {
  const isOff = (await digestRhythmOf(tx, userId)) === 'off';
  await tx
    .update(tenderMatches)
    .set({ kind: 'digest', alertId: null, ...(isOff && { notifiedAt: sql`now()` }) })
    .where(matches);
}

/** No digest owes the account anything any more. */
export async function dismissDigest(tx: Tx, userId: string): Promise<void> {
  const own = tx.select({ id: savedSearches.id }).from(savedSearches).where(eq(savedSearches.userId, userId));
  await tx
    .update(tenderMatches)
    .set({ notifiedAt: sql`now()` })
    .where(
      and(inArray(tenderMatches.searchId, own), eq(tenderMatches.kind, 'digest'), isNull(tenderMatches.notifiedAt)),
    );
  await tx
    .update(tenderChangeNotices)
    .set({ notifiedAt: sql`now()` })
    .where(and(eq(tenderChangeNotices.userId, userId), isNull(tenderChangeNotices.notifiedAt)));
}

/**
 * Nothing is owed to tenants at rest, nor what has become too old while mails could not be sent. So many rows at a time: says how many,
 * 0 when there are none left.
 */
export async function dismissStale(tx: Tx): Promise<number> {
  const resting = tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.isActive, false));
  const tooOld = sql`now() - make_interval(days => ${maxDays})`;
  let forgotten = 0;
  for (const [table, isTooOld] of [
    // Each kind by name, as the index begins with it.
    [tenderMatches, and(inArray(tenderMatches.kind, ['digest', 'instant']), lt(tenderMatches.matchedAt, tooOld))],
    [tenderChangeNotices, lt(tenderChangeNotices.noticedAt, tooOld)],
  ] as const)
    // Apart, as the indexes have them.
    for (const condition of [
      and(isNull(table.alertId), isTooOld),
      and(isNull(table.alertId), inArray(table.tenantId, resting)),
      and(isNotNull(table.alertId), inArray(table.tenantId, resting)),
    ]) {
      const stale = tx
        .select({ row: sql`${table}.ctid` })
        .from(table)
        .where(and(isNull(table.notifiedAt), condition))
        .limit(batch);
      const { rowCount } = await tx
        .update(table)
        .set({ notifiedAt: sql`now()` })
        .where(sql`${table}.ctid = any(array(${stale}))`);
      forgotten += rowCount ?? 0;
    }
  return forgotten;
}

/** Matches a search keeps: the newest. */
export const maxMatches = 10_000;
/** Searches whose matches are counted at once. */
const searchesAtOnce = 100;

/** What the next searches have found beyond what each keeps, so many matches at a time. */
export async function removeSurplusMatches(tx: Tx, after: string, most = maxMatches): Promise<Walked> {
  const searches = await tx
    .select({ id: savedSearches.id })
    .from(savedSearches)
    .where(gt(savedSearches.id, after))
    .orderBy(asc(savedSearches.id))
    .limit(searchesAtOnce);
  const { rowCount } = await tx.execute(sql`
    delete from ${tenderMatches} m using (
      select x.search_id, x.tender_id from unnest(${sql.param(searches.map(({ id }) => id))}::uuid[]) busy (id)
      cross join lateral (
        select x.search_id, x.tender_id from ${tenderMatches} x where x.search_id = busy.id
        order by x.matched_at desc, x.tender_id desc offset ${most}) x
      where (select count(*) from ${tenderMatches} counted where counted.search_id = busy.id) > ${most}
      limit ${batch}) old
    where m.search_id = old.search_id and m.tender_id = old.tender_id`);
  const removed = rowCount ?? 0;
  // A whole batch: there may be more of these searches.
  return { removed, after: removed === batch ? after : (searches.at(-1)?.id ?? null) };
}
