import { isDeepStrictEqual } from 'node:util';
import { and, asc, count, eq, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenderMatches } from '@portal/db/schema/tenders/matches';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import {
  maxSavedSearches,
  type NewSavedSearch,
  type SavedSearch,
  type SavedSearchChange,
  type SearchPreview,
} from '@portal/domain/tenders/saved-searches';
import type { UserContext } from '@portal/platform/context';
import { forgetInWidgets } from '../../dashboards/named-in-widgets.ts';
import { listTenders, maxCounted, ownScope } from '../list-tenders.ts';
import { matchesFilters, searchedTenders } from '../search.ts';
import { checkFilters, compiledColumns } from './compile-search.ts';
import { maxMatches, returnToPending } from './match-state.ts';

/** Days for which a new or changed search gets matches of earlier tenders. */
const daysBack = 30;

/** The account's searches, by name. */
export const listSavedSearches = (ctx: UserContext): Promise<SavedSearch[]> =>
  ownScope(ctx).tx((tx) => searchesOf(tx, ctx.actor.id));

async function searchesOf(tx: Tx, userId: string, id?: string): Promise<SavedSearch[]> {
  const matches = sql`from ${tenderMatches} m where m.search_id = ${savedSearches.id}`;
  const unread = sql`not exists (
    select from ${tenderTriage} noted where noted.user_id = ${userId} and noted.tender_id = m.tender_id and noted.is_read)`;
  const rows = await tx
    .select({
      id: savedSearches.id,
      name: savedSearches.name,
      filters: savedSearches.filters,
      instantAlert: savedSearches.instantAlert,
      matchCount: sql<number>`(select count(*)::int ${matches})`,
      newCount: sql<number>`(select count(*)::int ${matches} and ${unread})`,
    })
    .from(savedSearches)
    .where(and(eq(savedSearches.userId, userId), id === undefined ? undefined : eq(savedSearches.id, id)))
    .orderBy(asc(sql`lower(${savedSearches.name})`), asc(savedSearches.id));
  return rows.map((row) => ({ ...row, filters: TenderFilters.parse(row.filters) }));
}

async function savedSearch(tx: Tx, userId: string, id: string): Promise<SavedSearch> {
  const [search] = await searchesOf(tx, userId, id);
  if (!search) throw notFound();
  return search;
}

/** The filters of a saved search of the account. Throws 404. */
export async function filtersOf(ctx: UserContext, id: string): Promise<TenderFilters> {
  const [search] = await ctx.read((db) =>
    db
      .select({ filters: savedSearches.filters })
      .from(savedSearches)
      .where(and(eq(savedSearches.id, id), eq(savedSearches.userId, ctx.actor.id))),
  );
  if (!search) throw notFound();
  return TenderFilters.parse(search.filters);
}

/** The tenders that filters find now. Throws 400 for words that cannot be searched. */
export async function previewSearch(ctx: UserContext, filters: TenderFilters): Promise<SearchPreview> {
  await ctx.tx((tx) => checkFilters(tx, filters));
  const { items, total } = await listTenders(ctx, { filters, window: {}, triage: {}, sort: 'published', limit: 5 });
  return { count: total ?? maxCounted, items };
}

const nameTaken = conflictOn({ saved_searches_name_unique: 'NAME_TAKEN' });

/**
 * Saves a search. Matches of the last 30 days are dismissed: no mail reports them. Throws 400 for filters that cannot be saved,
 * 409 `NAME_TAKEN` and 409 `LIMIT_REACHED`.
 */
export const createSavedSearch = (ctx: UserContext, { name, filters, instantAlert }: NewSavedSearch) =>
  changing(ctx, async (tx) => {
    await checkFilters(tx, filters, { instantAlert });
    const id = newId();
    const { actor, tenantId } = ctx;
    const [row] = await tx.select({ searches: count() }).from(savedSearches).where(eq(savedSearches.userId, actor.id));
    await tx
      .insert(savedSearches)
      .values({ id, tenantId, userId: actor.id, name, instantAlert, ...compiledColumns(filters) });
    // After the insert: `NAME_TAKEN` takes precedence over the limit.
    if ((row?.searches ?? 0) >= maxSavedSearches)
      throw conflict(
        'LIMIT_REACHED',
        `There can be at most ${maxSavedSearches} saved searches. Please delete one first.`,
      );
    await matchBackwards(tx, { tenantId, searchId: id, filters });
    return savedSearch(tx, actor.id, id);
  });

/**
 * Changes the given fields. New filters delete the matches that were not sent, and add dismissed matches of the last 30 days as for a new
 * search. Throws 404, and the errors of `createSavedSearch`.
 */
export const updateSavedSearch = (ctx: UserContext, id: string, change: SavedSearchChange) =>
  changing(ctx, async (tx) => {
    const { tenantId, actor } = ctx;
    const before = await savedSearch(tx, actor.id, id);
    const filters = change.filters ?? before.filters;
    const instantAlert = change.instantAlert ?? before.instantAlert;
    const hasOtherFilters = !isDeepStrictEqual(filters, before.filters);
    await checkFilters(tx, filters, { instantAlert });
    await tx
      .update(savedSearches)
      .set({ name: change.name ?? before.name, instantAlert, ...(hasOtherFilters && compiledColumns(filters)) })
      .where(eq(savedSearches.id, id));
    if (hasOtherFilters) {
      await tx.delete(tenderMatches).where(and(eq(tenderMatches.searchId, id), eq(tenderMatches.wasSent, false)));
      await matchBackwards(tx, { tenantId, searchId: id, filters });
    } else if (before.instantAlert && !instantAlert) {
      await returnToPending(tx, actor.id, eq(tenderMatches.searchId, id));
    }
    return savedSearch(tx, actor.id, id);
  });

/** Deletes a search with its matches, and removes it from widgets. Throws 404. */
export const deleteSavedSearch = (ctx: UserContext, id: string): Promise<void> =>
  changing(ctx, async (tx) => {
    const deleted = await tx
      .delete(savedSearches)
      .where(and(eq(savedSearches.id, id), eq(savedSearches.userId, ctx.actor.id)))
      .returning({ id: savedSearches.id });
    if (deleted.length === 0) throw notFound();
    await forgetInWidgets(tx, ctx, 'savedSearchId', id);
  });

/** Runs one change of an account's searches at a time, and none while tenders are being matched. */
const changing = <T>(ctx: UserContext, work: (tx: Tx) => Promise<T>): Promise<T> =>
  ownScope(ctx)
    .tx(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock_shared(${advisoryLocks.tenderMatching})`);
      await tx.select({ id: users.id }).from(users).where(eq(users.id, ctx.actor.id)).for('no key update');
      return work(tx);
    })
    .catch(nameTaken);

const matchBackwards = (
  tx: Tx,
  { tenantId, searchId, filters }: { tenantId: string; searchId: string; filters: TenderFilters },
) =>
  tx.execute(sql`
    insert into ${tenderMatches} (tenant_id, search_id, tender_id, kind, reasons, notified_at)
    select ${tenantId}::uuid, s.id, t.tender_id, 'digest', array(
      select term.label from unnest(s.term_labels, s.term_questions) term (label, question)
      where t.document @@ term.question::tsquery limit 5), now()
    from ${savedSearches} s, ${searchedTenders}
    where s.id = ${searchId} and t.published_at >= now() - make_interval(days => ${daysBack}) and ${matchesFilters(filters)}
    order by t.published_at desc, t.tender_id desc limit ${maxMatches}
    on conflict do nothing`);
