import { type SQL, sql } from 'drizzle-orm';
import { laender } from '@portal/domain/tenders/laender';
import type { TenderFacets } from '@portal/domain/tenders/tenders';
import type { UserContext } from '@portal/platform/context';
import { ownScope, type TenderList } from './list-tenders.ts';
import { matchesBesides, matchesFilters, searchedTenders } from './search.ts';

/** The newest that match are counted, and no more than these. */
const mostCounted = 10_000;

/** How many of the tenders that match each source, Land and division has: what choosing it would leave. */
export async function tenderFacets(ctx: UserContext, asked: Asked): Promise<TenderFacets> {
  const { rows } = await ownScope(ctx).tx((tx) =>
    tx.execute<{ kind: string; key: string; count: number }>(facetsStatement(asked, ctx.actor.id)),
  );
  const of = (kind: string) => rows.filter((row) => row.kind === kind).map(({ key, count }) => ({ key, count }));
  const [nationwide, all] = ['nationwide', 'all'].map((kind) => of(kind)[0]?.count ?? 0);
  const byLand = new Map(of('land').map(({ key, count }) => [key, count]));
  return {
    sources: mostFirst(of('source')),
    bundeslaender: mostFirst(
      laender
        .map((key) => ({ key, count: (byLand.get(key) ?? 0) + (nationwide ?? 0) }))
        .filter(({ count }) => count > 0),
    ),
    cpvDivisions: mostFirst(of('division')),
    isCapped: (all ?? 0) > mostCounted,
  };
}

const mostFirst = (counts: { key: string; count: number }[]) =>
  counts.toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));

type Asked = Pick<TenderList, 'filters' | 'window' | 'triage'>;

export const facetsStatement = ({ filters, window, triage }: Asked, userId: string): SQL => sql`
  with hits as materialized (
    select t.source_keys, t.bundeslaender, t.is_nationwide, t.cpv_divisions from ${searchedTenders}
    where ${matchesFilters(filters)} and ${matchesBesides(window, triage, userId)}
    order by t.published_at desc, t.tender_id desc limit ${mostCounted + 1}),
  counted as materialized (select * from hits limit ${mostCounted})
  select 'source' as kind, key, count(*)::int from counted, unnest(source_keys) key group by key
  union all select 'division', key, count(*)::int from counted, unnest(cpv_divisions) key group by key
  union all select 'land', key, count(*)::int from counted, unnest(bundeslaender) key where not is_nationwide group by key
  union all select 'nationwide', '', count(*)::int from counted where is_nationwide
  union all select 'all', '', count(*)::int from hits`;
