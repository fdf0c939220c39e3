import { and, eq, type SQL, sql } from 'drizzle-orm';
import { isTimedOut } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { type Prepared, prepared } from '@portal/db/prepared';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { invalidField } from '@portal/domain/errors';
import type { TenderFilters } from '@portal/domain/tenders/filters';
import { compileFilters } from '@portal/domain/tenders/search-query';
import { shownSource } from '@portal/domain/tenders/sources';
import type { Tender } from '@portal/domain/tenders/tenders';
import type { UserContext } from '@portal/platform/context';
import {
  documentQuestion,
  matchesBesides,
  matchesFilters,
  searchedTenders,
  type TenderWindow,
  type TriageFilter,
} from './search.ts';

export const tenderSorts = ['published', 'deadline', 'relevance'] as const;
export type TenderSort = (typeof tenderSorts)[number];

/** The end of a page: its sort order, the sort key and the id of the last tender. */
export type TenderCursor = [sort: TenderSort, key: string, id: string];

export interface TenderList {
  filters: TenderFilters;
  window: TenderWindow;
  triage: TriageFilter;
  sort: TenderSort;
  limit: number;
  after?: TenderCursor | undefined;
}

/** Matches counted at most. */
export const maxCounted = 1_000;
/** Newest matches that are sorted by relevance. */
const maxRanked = 1_000;

/** The scope of an account: it includes the tenders of its personal sources. */
export const ownScope = (ctx: UserContext) => ctx.inTenant(ctx.tenantId, ctx.actor.id);

/** Many times the duration of a search with a good plan. */
const firstTimeoutMs = 2_000;

/**
 * Runs a search. If PostgreSQL expects many hits, it scans the newest tenders first until it has enough. For words that are frequent but
 * never occur together, that scan would read the whole table: so it times out, and the search runs again with the word index only.
 */
export async function searching<T>(ctx: UserContext, work: (tx: Tx) => Promise<T>): Promise<T> {
  const run = (settings: SQL) =>
    ownScope(ctx).tx(async (tx) => {
      // Await the settings first: a search that starts before them would have no timeout.
      await tx.execute(sql`select ${settings}`);
      return work(tx);
    });
  const set = (name: string, value: string) => sql`set_config(${name}, ${value}, true)`;
  try {
    return await run(set('statement_timeout', String(firstTimeoutMs)));
  } catch (error) {
    if (!isTimedOut(error)) throw error;
    return run(sql`${set('enable_indexscan', 'off')}, ${set('enable_seqscan', 'off')}`);
  }
}

/** A page of the tenders that match. `total` is left out above 1,000. */
export async function listTenders(
  ctx: UserContext,
  list: TenderList,
): Promise<{ items: Tender[]; next: TenderCursor | null; total?: number }> {
  const { page, count, sort } = listStatements(list, ctx.actor.id);
  return searching(ctx, async (tx) => {
    const [{ rows }, counted] = await Promise.all([
      tx.execute<Found>(page),
      count && tx.execute<{ total: number }>(count),
    ]);
    const found = rows.slice(0, list.limit);
    const total = (counted ? counted.rows : rows)[0]?.total ?? 0;
    const last = found.at(-1);
    return {
      items: await tendersOf(tx, found, ctx.actor.id),
      next: rows.length > list.limit && last ? [sort, last.key, last.id] : null,
      ...(total <= maxCounted && { total }),
    };
  });
}

/**
 * The statements of a page and of the total. The first page includes the total, because it reads as many hits as are counted. They are not
 * prepared: PostgreSQL plans each search for the frequency of its words, and a generic plan would be bad for most of them. Planning takes
 * half a millisecond, a bad plan up to seconds.
 */
export function listStatements(
  { filters, window, triage, sort: wanted, limit, after }: TenderList,
  userId: string,
): { page: SQL; count: SQL | null; sort: TenderSort } {
  const question = documentQuestion(compileFilters(filters));
  // Without words there is no relevance.
  const sort = wanted === 'relevance' && !question ? 'published' : wanted;
  if (after && after[0] !== sort) throw invalidField('cursor', 'is not a cursor of this list');
  const matches = sql`${matchesFilters(filters)} and ${matchesBesides(window, triage, userId)}`;
  return {
    page: pageOf(sort, matches, question, limit + 1, after),
    count:
      after === undefined
        ? null
        : sql`select count(*)::int as total from (select from ${searchedTenders} where ${matches} limit ${maxCounted + 1}) counted`,
    sort,
  };
}

/** A row of a page: the id, the sort key and the deadline. */
interface Found extends Record<string, unknown> {
  id: string;
  key: string;
  deadlineAt: string | null;
  deadlineIsDateOnly: boolean;
  /** The number of matches; valid on the first page only. */
  total: number;
}

function pageOf(
  sort: TenderSort,
  matches: SQL,
  question: SQL | null,
  limit: number,
  after: TenderCursor | undefined,
): SQL {
  const shown = (key: SQL) =>
    sql`t.tender_id as id, ${key}::text as key, nullif(t.deadline_at, 'infinity') as "deadlineAt", t.deadline_is_date_only as "deadlineIsDateOnly",
      (select count(*)::int from hits) as total`;
  const [, key, id] = after ?? [];
  if (sort === 'relevance') {
    const behind = after ? sql`where (t.rank, t.tender_id) < (${key}::real, ${id}::uuid)` : sql``;
    return sql`
      with hits as materialized (
        select t.* from ${searchedTenders} where ${matches} order by t.published_at desc, t.tender_id desc limit ${maxCounted + 1})
      select ${shown(sql`t.rank`)} from (
        select t.tender_id, t.deadline_at, t.deadline_is_date_only, ts_rank(t.document, ${question}) as rank
        from (select * from hits limit ${maxRanked}) t) t
      ${behind} order by t.rank desc, t.tender_id desc limit ${limit}`;
  }
  const [column, order, isBehind] =
    sort === 'published' ? [sql`t.published_at`, sql`desc`, sql`<`] : [sql`t.deadline_at`, sql`asc`, sql`>`];
  const behind = after ? sql`and (${column}, t.tender_id) ${isBehind} (${key}::timestamptz, ${id}::uuid)` : sql``;
  return sql`
    with hits as materialized (
      select t.tender_id, t.published_at, t.deadline_at, t.deadline_is_date_only from ${searchedTenders} where ${matches} ${behind}
      order by ${column} ${order}, t.tender_id ${order} limit ${after ? limit : maxCounted + 1})
    select ${shown(column)} from hits t order by ${column} ${order}, t.tender_id ${order} limit ${limit}`;
}

/** The tenders as lists show them, in the order of `found`. */
async function tendersOf(tx: Tx, found: Found[], userId: string): Promise<Tender[]> {
  if (found.length === 0) return [];
  const rows = await tx.runAndCommit(tenderRows, { ids: found.map(({ id }) => id), userId });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return found.flatMap(({ id, deadlineAt, deadlineIsDateOnly }) => {
    const row = byId.get(id);
    return row ? [toTender(row, deadlineAt === null ? null : new Date(deadlineAt), deadlineIsDateOnly)] : [];
  });
}

/** The columns of a notice that a list shows, with the triage of the account. */
export const shownColumns = {
  id: tenderNotices.tenderId,
  title: tenderNotices.title,
  buyerName: tenderNotices.buyerName,
  buyerCity: tenderNotices.buyerCity,
  cpvCodes: tenderNotices.cpvCodes,
  cpvDivisions: tenderNotices.cpvDivisions,
  bundesland: tenderNotices.bundesland,
  bundeslaender: tenderNotices.bundeslaender,
  isNationwide: tenderNotices.isNationwide,
  region: tenderNotices.region,
  noticeType: tenderNotices.form,
  procedureType: tenderNotices.procedureType,
  publishedAt: tenderNotices.publishedAt,
  valueCents: tenderNotices.valueCents,
  currency: tenderNotices.currency,
  sourcePortal: tenderNotices.sourceKey,
  sourceNoticeId: tenderNotices.sourceNoticeId,
  sourceUrl: tenderNotices.sourceUrl,
  isCancelled: tenderNotices.isCancelled,
  read: sql<boolean>`coalesce(${tenderTriage.isRead}, false)`.as('read'),
  favorite: sql<boolean>`coalesce(${tenderTriage.isFavorite}, false)`.as('favorite'),
};

export const ownTriage = () =>
  and(eq(tenderTriage.tenderId, tenderNotices.tenderId), eq(tenderTriage.userId, sql.placeholder('userId')));

export const tenderRows = prepared<{ ids: string[]; userId: string }>()('tender_rows', (db) =>
  db
    .select(shownColumns)
    .from(tenderNotices)
    .leftJoin(tenderTriage, ownTriage())
    .where(
      and(sql`${tenderNotices.tenderId} = any(${sql.placeholder('ids')}::uuid[])`, sql`${tenderNotices.isPrimary}`),
    ),
);

type ShownRow = typeof tenderRows extends Prepared<infer _Params, infer Row> ? Row : never;

export function toTender(
  { read, favorite, sourcePortal, ...row }: ShownRow,
  deadlineAt: Date | null,
  deadlineIsDateOnly: boolean,
): Tender {
  return {
    ...row,
    sourcePortal: shownSource(sourcePortal),
    deadlineAt,
    deadlineIsDateOnly,
    triage: { read, favorite },
  } as Tender;
}
