import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useEffect, useRef } from 'preact/hooks';
import type { Invoice } from '@portal/client/interface';
import { usePolled } from '../polling.ts';
import { portal, queryClient, send } from '../portal.ts';
import type { InvoiceFilter } from './filter.ts';

interface InvoicesPart {
  items: Invoice[];
  nextCursor: string | null;
}

const listsKey = ['invoices', 'list'] as const;
const listKey = ({ view, search }: InvoiceFilter) => [...listsKey, { view, search: search.trim() }] as const;
const invoiceKey = (id: string) => ['invoices', 'one', id] as const;
export const mailboxKey = ['invoices', 'mailbox'] as const;

const perPage = 100;

interface ListOptions {
  /** What was read once stays in its order, also if an invoice no longer fits the filter. */
  keepsOrder?: boolean;
  enabled?: boolean;
}

/** The invoices, newest first, page by page. */
export const useInvoices = (filter: InvoiceFilter, { keepsOrder = false, enabled = true }: ListOptions = {}) =>
  useInfiniteQuery({
    queryKey: listKey(filter),
    queryFn: async ({ pageParam, signal }): Promise<InvoicesPart> => {
      const search = filter.search.trim();
      const query = {
        limit: perPage,
        ...(filter.view !== 'all' && { state: filter.view }),
        ...(search && { search }),
        ...(pageParam !== null && { cursor: pageParam }),
      };
      return portal.page('/invoices', { params: { query }, signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled,
    // While a person types, the former matches stay; those of another state would be wrong.
    placeholderData: (before, query) => (query?.queryKey[2].view === filter.view ? before : undefined),
    ...(keepsOrder && { refetchOnMount: false, refetchOnWindowFocus: false }),
  });

/** What of these pages fits the list: an invoice that was marked on its own page may no longer do so. */
export const listedIn = (pages: readonly InvoicesPart[], { view }: InvoiceFilter): Invoice[] =>
  pages.flatMap(({ items }) => items).filter(({ state }) => view === 'all' || state === view);

export const useInvoice = (id: string) =>
  useQuery({
    queryKey: invoiceKey(id),
    queryFn: ({ signal }) => portal.get('/invoices/{id}', { params: { path: { id } }, signal }),
    // The list has all that the page shows.
    placeholderData: () => listed(id),
  });

const listed = (id: string): Invoice | undefined =>
  queryClient
    .getQueriesData<InfiniteData<InvoicesPart>>({ queryKey: listsKey })
    .flatMap(([, data]) => data?.pages ?? [])
    .flatMap(({ items }) => items)
    .find((invoice) => invoice.id === id);

export const readMailbox = ({ signal }: { signal?: AbortSignal } = {}) =>
  portal.get('/invoices/mailbox', { ...(signal && { signal }) });

/** Only for accounts that may manage the module. */
export const useMailbox = (enabled: boolean) =>
  useQuery({ queryKey: mailboxKey, queryFn: readMailbox, enabled, staleTime: mailboxMs });

const mailboxMs = 30_000;

/** Looks again and again how the fetches go; what a fetch brought is listed at once. */
export function useWatchedMailbox(): void {
  const lastFetchedAt = usePolled({ queryKey: mailboxKey, queryFn: readMailbox, intervalMs: mailboxMs }).data
    ?.lastFetchedAt;
  const before = useRef(lastFetchedAt);
  useEffect(() => {
    if (before.current !== undefined && before.current !== lastFetchedAt) void refreshLists();
    before.current = lastFetchedAt;
  }, [lastFetchedAt]);
}

/** The states that a person gives an invoice. */
export type SettableState = 'new' | 'processed';

export const setState = (id: string, state: Invoice['state']): Promise<Invoice> =>
  send(() => portal.patch('/invoices/{id}', { params: { path: { id } }, body: { state } }));

/**
 * Puts changed invoices in place of what is known of them. With `drops`, those that no longer fit a list leave it; lists of another state
 * are read again when they are shown.
 */
export function keepInvoices(changed: readonly Invoice[], { drops }: { drops: boolean }): void {
  const byId = new Map(changed.map((invoice) => [invoice.id, invoice]));
  for (const invoice of changed) queryClient.setQueryData(invoiceKey(invoice.id), invoice);
  for (const [key, data] of queryClient.getQueriesData<InfiniteData<InvoicesPart>>({ queryKey: listsKey })) {
    if (!data) continue;
    const { view } = key[2] as InvoiceFilter;
    const fits = ({ state }: Invoice) => !drops || view === 'all' || state === view;
    const pages = data.pages.map((page) => ({
      ...page,
      items: page.items.flatMap((item) => {
        const invoice = byId.get(item.id);
        if (!invoice) return [item];
        return fits(invoice) ? [invoice] : [];
      }),
    }));
    queryClient.setQueryData(key, { ...data, pages });
  }
  void queryClient.invalidateQueries({ queryKey: listsKey, refetchType: 'none' });
}

/** Lists that are shown may have gained something. */
export const refreshLists = (): Promise<void> => queryClient.invalidateQueries({ queryKey: listsKey });

export const refreshInvoices = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['invoices'] });
