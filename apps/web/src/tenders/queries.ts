import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { Tender, TenderDetail } from '@portal/client/interface';
import { portal, queryClient, send } from '../portal.ts';
import { showToast } from '../ui/toast.tsx';
import { nameIn, names } from './names.ts';
import type { Sort, TenderQuery } from './tender-filter.ts';
import { texts } from './texts.ts';

interface TenderPageAnswer {
  items: Tender[];
  nextCursor: string | null;
  totalCount: number | null;
}
type Pages = InfiniteData<TenderPageAnswer, string | null>;

/** Begins the key of every list that is read page by page. */
const pagesKey = ['tenders', 'pages'] as const;
const tenderKey = (id: string) => ['tenders', 'one', id] as const;

interface ListOptions {
  query: TenderQuery;
  sort: Sort;
  size: number;
  enabled?: boolean;
}

/**
 * The tenders that match, page by page. What was read stays as it is until the person refreshes: rows must not move under their eyes, and
 * a long list would be read anew page by page.
 */
export const useTenderPages = ({ query, sort, size, enabled = true }: ListOptions) =>
  useInfiniteQuery({
    queryKey: [...pagesKey, sort, size, query],
    queryFn: ({ pageParam, signal }) =>
      portal.page('/tenders', {
        params: {
          query: {
            ...query,
            sort,
            limit: size,
            ...(pageParam !== null && { cursor: pageParam }),
          },
        },
        signal,
      }),
    initialPageParam: null as string | null,
    enabled,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: false,
  });

/** Forgets all pages that were read; the list shown begins anew. */
export const refreshTenders = (): Promise<void> => queryClient.resetQueries({ queryKey: pagesKey });

export const useFacets = (query: TenderQuery, enabled: boolean) =>
  useQuery({
    queryKey: ['tenders', 'facets', query],
    queryFn: ({ signal }) => portal.get('/tenders/facets', { params: { query }, signal }),
    placeholderData: keepPreviousData,
    enabled,
  });

export const useTender = (id: string) =>
  useQuery({
    queryKey: tenderKey(id),
    queryFn: ({ signal }) => portal.get('/tenders/{id}', { params: { path: { id } }, signal }),
  });

const isFeed = (key: string) => key.startsWith('rss:');

/** Names the sources of keys. Only feeds need a call: each has a name of its own. */
export function useSourceNames(keys: readonly string[]): (key: string) => string {
  const { data } = useQuery({
    queryKey: ['tenders', 'sources'],
    queryFn: ({ signal }) => portal.get('/tenders/sources', { signal }),
    enabled: keys.some(isFeed),
  });
  const { sources, feed } = names.value;
  return useMemo(
    () => (key: string) => (isFeed(key) ? (data?.find((one) => one.key === key)?.name ?? feed) : nameIn(sources, key)),
    [data, sources],
  );
}

type Mark = Partial<Tender['triage']>;

/** What one call may mark. */
const maxMarked = 200;

/** Marks tenders, in everything shown at once. Marks that the service does not take are undone, with a message. */
export async function markTenders(ids: readonly string[], mark: Mark): Promise<void> {
  showMark(new Set(ids), mark);
  let failed = false;
  for (let from = 0; from < ids.length; from += maxMarked) {
    const some = ids.slice(from, from + maxMarked);
    try {
      await send(() => portal.post('/tenders/triage', { body: { ids: some, ...mark } }));
    } catch {
      failed = true;
      showMark(new Set(some), oppositeOf(mark));
    }
  }
  if (failed) showToast(texts.value.notMarked, { kind: 'error' });
  for (const part of ['saved-searches', 'newest']) void queryClient.invalidateQueries({ queryKey: ['tenders', part] });
}

// Only marks that change something are sent, so before it was the opposite.
const oppositeOf = (mark: Mark): Mark => ({
  ...(mark.read !== undefined && { read: !mark.read }),
  ...(mark.favorite !== undefined && { favorite: !mark.favorite }),
});

function showMark(ids: ReadonlySet<string>, mark: Mark): void {
  const marked = <One extends Tender>(tender: One): One =>
    ids.has(tender.id) ? { ...tender, triage: { ...tender.triage, ...mark } } : tender;
  queryClient.setQueriesData<Pages>(
    { queryKey: pagesKey },
    (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, items: page.items.map(marked) })) },
  );
  for (const id of ids) queryClient.setQueryData<TenderDetail>(tenderKey(id), (tender) => tender && marked(tender));
}
