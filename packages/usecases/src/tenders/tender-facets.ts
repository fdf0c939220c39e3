import { type SQL, sql } from 'drizzle-orm';
import { laender } from '@portal/domain/tenders/laender';
import type { TenderFacets } from '@portal/domain/tenders/tenders';
import type { UserContext } from '@portal/platform/context';
import { searching, type TenderList } from './list-tenders.ts';
import { matchesBesides, matchesFilters, searchedTenders } from './search.ts';

/** Newest matches that are counted. */
const maxCounted = 10_000;

/** Matches per source, Land and CPV division: the number left if the user selects it. */
export async function tenderFacets(ctx: UserContext, asked: Asked): Promise<TenderFacets> {
  const { rows } = await searching(ctx, (tx) =>
    tx.execute<{ kind: string; key: string; count: number }>(facetsStatement(asked, ctx.actor.id)),
  );
  const countsOf = (kind: string) => rows.filter((row) => row.kind === kind).map(({ key, count }) => ({ key, count }));
  const [nationwide, all] = ['nationwide', 'all'].map((kind) => countsOf(kind)[0]?.count ?? 0);
  const byLand = new Map(countsOf('land').map(({ key, count }) => [key, count]));
  return {
    sources: largestFirst(countsOf('source')),
    bundeslaender: largestFirst(
      laender
        .map((key) => ({ key, count: (byLand.get(key) ?? 0) + (nationwide ?? 0) }))
        .filter(({ count }) => count > 0),
    ),
    cpvDivisions: largestFirst(countsOf('division')),
    isCapped: (all ?? 0) > maxCounted,
  };
}

const largestFirst = (counts: { key: string; count: number }[]) =>
  counts.toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));

type Asked = Pick<TenderList, 'filters' | 'window' | 'triage'>;

export const facetsStatement = ({ filters, window, triage }: Asked, userId: string): SQL => sql`
  with hits as materialized (
    select t.source_keys, t.bundeslaender, t.is_nationwide, t.cpv_divisions from ${searchedTenders}
    where ${matchesFilters(filters)} and ${matchesBesides(window, triage, userId)}
    order by t.published_at desc, t.tender_id desc limit ${maxCounted + 1})
  ${countedBy('source', sql`source_keys`)} union all ${countedBy('division', sql`cpv_divisions`)}
  union all ${countedBy('land', sql`bundeslaender`, sql`where not is_nationwide`)}
  union all select 'nationwide', '', count(*)::int from ${counted} where is_nationwide
  union all select 'all', '', count(*)::int from hits`;

const counted = sql`(select * from hits limit ${maxCounted}) counted`;

/** Many tenders have equal lists, so equal lists are counted before `unnest`. */
const countedBy = (kind: string, keys: SQL, where = sql``): SQL => sql`
  select ${kind} as kind, key, sum(many)::int as count
  from (select ${keys} as keys, count(*) as many from ${counted} ${where} group by 1) lists, unnest(keys) key group by key`;
