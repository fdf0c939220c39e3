import { inArray, type SQL, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { tenants } from '@portal/db/schema/tenants';
import { tenderChangeNotices, tenderChanges, tenderMatches, unmatchedTenders } from '@portal/db/schema/tenders/matches';
import { savedSearches, tenderPreferences } from '@portal/db/schema/tenders/saved-searches';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { rssFeeds } from '@portal/db/schema/tenders/sources';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import type { SystemContext } from '@portal/platform/context';
import { holdMerges } from '../merge-tenders.ts';
import { matchesBounds, type SearchBounds, searchedColumns } from '../search.ts';
import { compileOutdated } from './compile-search.ts';

export interface MatchLimits {
  /** Tenders matched in one transaction. */
  tenders: number;
  /** Matches written in one transaction; if there are more, it takes fewer tenders. */
  pairs: number;
  /** Searches evaluated by one statement: few, because the longest query takes forty times as long as a usual one. */
  searches: number;
}
const defaultLimits: MatchLimits = { tenders: 500, pairs: 200_000, searches: 1_000 };
const maxReasons = 5;

/**
 * Matches the tenders that are new or changed with all saved searches of active tenants. Writes one match per tender and search, however
 * often the tender changes. A batch that is interrupted is matched again. A deadline that comes into the window of a search as time passes
 * makes no match.
 */
export async function matchNewTenders(
  system: SystemContext,
  signal: AbortSignal,
  limits = defaultLimits,
): Promise<void> {
  await compileOutdated(system, signal);
  for (let tenders = 1; tenders > 0;) {
    signal.throwIfAborted();
    tenders = await system.acrossTenants('new tenders are matched with saved searches', async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.tenderMatching})`);
      await holdMerges(tx);
      return matchBatch(system, tx, limits);
    });
  }
}

/** Returns the number of tenders matched. */
async function matchBatch(system: SystemContext, tx: Tx, limits: MatchLimits): Promise<number> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    select tender_id as id from ${unmatchedTenders} order by stored_at, tender_id limit ${limits.tenders} for update skip locked`);
  if (rows.length === 0) return 0;
  let ids = rows.map(({ id }) => id);
  // Matches of earlier pages of searches are written before a later page exceeds the limit.
  await tx.execute(sql`savepoint nothing_written`);
  let written: number | null;
  while ((written = await writeMatches(tx, ids, limits)) === null) {
    await tx.execute(sql`rollback to savepoint nothing_written`);
    ids = ids.slice(0, Math.ceil(ids.length / 2));
  }
  await noteChanges(tx, ids);
  await tx.delete(unmatchedTenders).where(inArray(unmatchedTenders.tenderId, ids));
  system.metrics.countTenderMatches(written);
  return ids.length;
}

/** Returns the number of new matches; null if there are more than the limit. A single tender has no limit. */
async function writeMatches(tx: Tx, tenderIds: string[], limits: MatchLimits): Promise<number | null> {
  let remaining = tenderIds.length === 1 ? Number.MAX_SAFE_INTEGER : limits.pairs;
  let written = 0;
  for await (const searches of activeSearches(tx, limits.searches)) {
    const result = await writePage(tx, tenderIds, searches, remaining);
    remaining -= result.found;
    if (remaining < 0) return null;
    written += result.written;
  }
  return written;
}

interface Search extends Record<string, unknown> {
  id: string;
  bounds: string;
}

/** The saved searches of active tenants, page by page. */
async function* activeSearches(tx: Tx, pageSize: number): AsyncGenerator<Search[]> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const { rows } = await tx.execute<Search>(sql`
      select s.id, s.bounds from ${savedSearches} s join ${tenants} tenant on tenant.id = s.tenant_id and tenant.is_active
      where s.id > ${after} order by s.id limit ${pageSize}`);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.id;
  }
}

const mailboxOfSearcher = sql`'mailbox:' || s.user_id::text`;

/** Whether a source belongs to the owner of the search. The row policies apply the same rule to the current account. */
const isOwn = (source: SQL) =>
  sql`(${source} = ${mailboxOfSearcher}
    or exists (select from ${rssFeeds} feed where feed.source_key = ${source} and feed.user_id = s.user_id))`;

const searcher = { sees: sql`(n.is_public or ${isOwn(sql`n.source_key`)})`, mailbox: mailboxOfSearcher };

/** Whether a tender is within the bounds of a search. */
function isWithin(searches: Search[]): SQL {
  const cases = [...new Set(searches.map(({ bounds }) => bounds))].map(
    (bounds) => sql`when ${bounds} then ${matchesBounds(JSON.parse(bounds) as SearchBounds, searcher)}`,
  );
  return sql`case s.bounds ${sql.join(cases, sql` `)} end`;
}

/**
 * Evaluates searches for tenders and writes the matches; writes nothing if there are more than `limit`. Three measures keep the statement
 * fast: `document || ''` unpacks the words of a tender once, where PostgreSQL would unpack a long document for every search. `offset 0`
 * makes PostgreSQL loop over the tenders and, for each, over the searches, which are small. The columns of a search that all pairs are
 * tested by come first, because PostgreSQL reads a row only up to the last column it needs. A word index of the batch would be faster
 * still, but the apps may create no table for it, and a permanent one would be full of earlier batches.
 */
async function writePage(tx: Tx, tenderIds: string[], searches: Search[], limit: number) {
  const { rows } = await tx.execute<{ found: number; written: number }>(sql`
    with s as materialized (
      select s.question, s.bounds, s.user_id, (s.bounds::jsonb -> 'isOpenOnly')::boolean as is_open_only,
        s.id, s.tenant_id, s.instant_alert, s.term_labels, s.term_questions,
        preference.digest is not distinct from 'off' and not s.instant_alert as is_dismissed
      from ${savedSearches} s
      left join ${tenderPreferences} preference on preference.tenant_id = s.tenant_id and preference.user_id = s.user_id
      where s.id = any(${sql.param(searches.map(({ id }) => id))}::uuid[])),
    t as materialized (
      select t.*, t.document || '' as words, u.is_told from ${unmatchedTenders} u
      join lateral (
        select ${searchedColumns}, null::text as only_source from ${tenderSearch} where tender_id = u.tender_id
        union all select ${searchedColumns}, only_source from ${personalTenderSearch} where tender_id = u.tender_id) t on true
      where u.tender_id = any(${sql.param(tenderIds)}::uuid[])),
    found as materialized (
      select hit.* from t cross join lateral (
        select s.tenant_id, s.id, t.tender_id, case when s.instant_alert then 'instant' else 'digest' end::tender_alert_kind,
          array(
            select term.label from unnest(s.term_labels, s.term_questions) term (label, question)
            where t.words @@ nullif(term.question, '')::tsquery limit ${maxReasons}),
          case when s.is_dismissed or not t.is_told then now() end
        from s
        where (t.is_open or s.is_open_only is not true) and (s.question is null or t.words @@ s.question)
          and (t.only_source is null or ${isOwn(sql`t.only_source`)})
          and ${isWithin(searches)}
        offset 0) hit
      limit ${limit}::bigint + 1),
    written as (
      insert into ${tenderMatches} (tenant_id, search_id, tender_id, kind, reasons, notified_at)
      select * from found where (select count(*) from found) <= ${limit}
      on conflict do nothing returning 1)
    select (select count(*)::int from found) as found, (select count(*)::int from written) as written`);
  return rows[0] ?? { found: 0, written: 0 };
}

/** Writes a notice of each change since the last matching, for the accounts that marked the tender as a favorite or got a mail about it. */
const noteChanges = (tx: Tx, tenderIds: string[]) =>
  tx.execute(sql`
    insert into ${tenderChangeNotices} (tenant_id, user_id, change_id)
    select distinct w.tenant_id, w.user_id, c.id
    from ${unmatchedTenders} u
    join ${tenderChanges} c on c.tender_id = u.tender_id and c.at >= u.stored_at
    join lateral (
      select noted.tenant_id, noted.user_id from ${tenderTriage} noted where noted.tender_id = u.tender_id and noted.is_favorite
      union
      select s.tenant_id, s.user_id from ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id
      where m.tender_id = u.tender_id and m.is_told) w on true
    join ${tenants} tenant on tenant.id = w.tenant_id and tenant.is_active
    left join ${tenderPreferences} preference on preference.tenant_id = w.tenant_id and preference.user_id = w.user_id
    where u.is_told and u.tender_id = any(${sql.param(tenderIds)}::uuid[]) and preference.digest is distinct from 'off'
    on conflict do nothing`);
