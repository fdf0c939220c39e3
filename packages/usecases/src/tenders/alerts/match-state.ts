/**
 * The states of a tender match and of a tender change notice.
 *
 * | State       | `notified_at` | `alert_id` | `is_told` | Meaning                                                  |
 * | ----------- | ------------- | ---------- | --------- | -------------------------------------------------------- |
 * | `pending`   | null          | null       | false     | waits for an alert mail                                  |
 * | `queued`    | null          | set        | false     | is in the list of one queued alert mail                  |
 * | `sent`      | set           | any        | true      | a mail server accepted the mail, or may have accepted it |
 * | `dismissed` | set           | any        | false     | no mail will report it                                   |
 *
 * A row is unsent while it is `pending` or `queued`; `sent` and `dismissed` are final. A change notice has no `is_told`: its two final
 * states look alike.
 *
 * Transitions:
 * - new → `pending`: `matchNewTenders`.
 * - new → `dismissed`: `matchNewTenders`, if the account wants no mail for it or the source is read for the first time;
 *   `createSavedSearch` and `updateSavedSearch`, for matches of the last 30 days.
 * - `pending` → `queued`: `startDueTenderAlerts`.
 * - `queued` → `sent` or `dismissed`: `settleAlerts`.
 * - unsent → `pending`: `returnToPending` moves matches to the next digest. `settleAlerts` calls it after a mail that could not be sent or
 *   a daily digest of an account that now wants a weekly one; `endAlerts` and `updateSavedSearch` call it when instant alerts are switched
 *   off. If the account wants no digest, the matches become `dismissed` instead.
 * - unsent → `dismissed`: `dismissDigest` (digest switched off), `dismissStale` (too old, or the tenant is inactive), `dismissUnsent`
 *   (after a restore).
 * - Two matches of merged tenders become one (`mergeTenders`): a final state wins over an unsent one, `sent` over `dismissed`.
 */
import { and, asc, eq, gt, inArray, lt, type SQL, sql, type SQLWrapper } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { tenants } from '@portal/db/schema/tenants';
import { tenderChangeNotices, tenderMatches } from '@portal/db/schema/tenders/matches';
import { savedSearches, tenderPreferences } from '@portal/db/schema/tenders/saved-searches';
import type { DigestRhythm } from '@portal/domain/tenders/saved-searches';
import type { Walked } from '@portal/platform/retention';

/** Rows updated or deleted by one statement. */
const batch = 5_000;
/** Days after which a pending row is too old to report. */
const maxPendingDays = 14;

/** The columns that hold the state: of a table, or of an alias in a raw statement. */
interface StateColumns {
  alertId: SQLWrapper;
  notifiedAt: SQLWrapper;
}

/** The state columns of matches or change notices that a raw statement calls `alias`. */
export const stateColumnsOf = (alias: 'm' | 'x'): StateColumns => ({
  alertId: sql.raw(`${alias}.alert_id`),
  notifiedAt: sql.raw(`${alias}.notified_at`),
});

/** Pending or queued. */
export const isUnsent = ({ notifiedAt }: Pick<StateColumns, 'notifiedAt'>): SQL => sql`${notifiedAt} is null`;

export const isPending = ({ alertId, notifiedAt }: StateColumns): SQL =>
  sql`${notifiedAt} is null and ${alertId} is null`;

export const isQueued = ({ alertId, notifiedAt }: StateColumns): SQL =>
  sql`${notifiedAt} is null and ${alertId} is not null`;

/** Queued in the list of this alert mail. `alert` is its id, or `any(…)` of several ids. */
export const isQueuedIn = ({ alertId, notifiedAt }: StateColumns, alert: SQL | string): SQL =>
  sql`${alertId} = ${alert} and ${notifiedAt} is null`;

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

/** Moves unsent matches of the account to the next digest. If the account wants no digest, they are dismissed. */
export async function returnToPending(tx: Tx, userId: string, matches: SQL | undefined): Promise<void> {
  const isOff = (await digestRhythmOf(tx, userId)) === 'off';
  await tx
    .update(tenderMatches)
    .set({ kind: 'digest', alertId: null, ...(isOff && { notifiedAt: sql`now()` }) })
    .where(and(matches, isUnsent(tenderMatches)));
}

/** Dismisses the account’s unsent digest matches and change notices. */
export async function dismissDigest(tx: Tx, userId: string): Promise<void> {
  const own = tx.select({ id: savedSearches.id }).from(savedSearches).where(eq(savedSearches.userId, userId));
  await tx
    .update(tenderMatches)
    .set({ notifiedAt: sql`now()` })
    .where(and(inArray(tenderMatches.searchId, own), eq(tenderMatches.kind, 'digest'), isUnsent(tenderMatches)));
  await tx
    .update(tenderChangeNotices)
    .set({ notifiedAt: sql`now()` })
    .where(and(eq(tenderChangeNotices.userId, userId), isUnsent(tenderChangeNotices)));
}

/**
 * Dismisses the unsent rows of inactive tenants, and pending rows that became too old while mails could not be sent. Works in batches:
 * returns the number of rows, 0 when none are left.
 */
export async function dismissStale(tx: Tx): Promise<number> {
  const inactive = tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.isActive, false));
  const oldest = sql`now() - make_interval(days => ${maxPendingDays})`;
  let dismissed = 0;
  for (const [table, isTooOld] of [
    // Name each kind: the index begins with it.
    [tenderMatches, and(inArray(tenderMatches.kind, ['digest', 'instant']), lt(tenderMatches.matchedAt, oldest))],
    [tenderChangeNotices, lt(tenderChangeNotices.noticedAt, oldest)],
  ] as const)
    // Separate statements, one per partial index.
    for (const condition of [
      and(isPending(table), isTooOld),
      and(isPending(table), inArray(table.tenantId, inactive)),
      and(isQueued(table), inArray(table.tenantId, inactive)),
    ])
      dismissed += await dismissBatch(tx, table, condition);
  return dismissed;
}

/** Dismisses all unsent rows, so that no digest and no alert reports them. Works in batches: returns the number of rows. */
export async function dismissUnsent(tx: Tx): Promise<number> {
  let dismissed = 0;
  for (const table of [tenderMatches, tenderChangeNotices])
    // Separate statements, one per partial index.
    for (const condition of [isPending(table), isQueued(table)]) dismissed += await dismissBatch(tx, table, condition);
  return dismissed;
}

async function dismissBatch(
  tx: Tx,
  table: typeof tenderMatches | typeof tenderChangeNotices,
  condition: SQL | undefined,
): Promise<number> {
  const rows = tx
    .select({ row: sql`${table}.ctid` })
    .from(table)
    .where(condition)
    .limit(batch);
  const { rowCount } = await tx
    .update(table)
    .set({ notifiedAt: sql`now()` })
    .where(sql`${table}.ctid = any(array(${rows}))`);
  return rowCount ?? 0;
}

/**
 * Matches kept per search; older ones are removed, so the fifty searches of an account keep half a million. A tender that changes after its
 * match was removed is matched again, and may be mailed a second time.
 */
export const maxMatches = 10_000;
/** Searches checked by one statement. */
const searchesAtOnce = 100;

/** Removes the oldest matches of each search beyond `max`, in batches: `after` is the last search of the batch before. */
export async function removeSurplusMatches(tx: Tx, after: string, max = maxMatches): Promise<Walked> {
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
        order by x.matched_at desc, x.tender_id desc offset ${max}) x
      where (select count(*) from ${tenderMatches} counted where counted.search_id = busy.id) > ${max}
      limit ${batch}) old
    where m.search_id = old.search_id and m.tender_id = old.tender_id`);
  const removed = rowCount ?? 0;
  // After a full batch these searches may have more to remove.
  return { removed, after: removed === batch ? after : (searches.at(-1)?.id ?? null) };
}
