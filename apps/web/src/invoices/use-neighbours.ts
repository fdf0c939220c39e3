import { useEffect } from 'preact/hooks';
import type { InvoiceFilter } from './filter.ts';
import { useInvoices } from './queries.ts';

interface Neighbours {
  /** The place of the invoice in the list, from 1; null if it is not among what the list begins with. */
  place: number | null;
  /** How many the list has, as far as that is known. */
  count: string;
  previous: string | null;
  next: string | null;
}

/** How many pages are read to find an invoice whose address was opened from elsewhere. */
const mostPages = 5;

/** The invoices before and after this one in its list. The arrow keys lead to them. */
export function useNeighbours(id: string, filter: InvoiceFilter, open: (id: string) => void): Neighbours {
  const list = useInvoices(filter, { keepsOrder: true });
  const pages = list.data?.pages ?? [];
  const ids = pages.flatMap(({ items }) => items.map((invoice) => invoice.id));
  const at = ids.indexOf(id);
  const needsMore = at === -1 ? pages.length < mostPages : at === ids.length - 1;
  const canRead = pages.length > 0 && list.hasNextPage && !list.isFetchingNextPage && !list.error;
  useEffect(() => {
    if (needsMore && canRead) void list.fetchNextPage();
  }, [needsMore, canRead, pages.length]);

  const previous = ids[at - 1] ?? null;
  const next = at === -1 ? null : (ids[at + 1] ?? null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const to = event.key === 'ArrowLeft' ? previous : event.key === 'ArrowRight' ? next : null;
      const isOwn = event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
      if (to === null || isOwn || isUsingArrows(event.target)) return;
      event.preventDefault();
      open(to);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [previous, next, filter.view, filter.search]);

  return {
    place: at === -1 ? null : at + 1,
    count: `${ids.length}${list.hasNextPage ? '+' : ''}`,
    previous,
    next,
  };
}

/** Fields, menus and dialogs have their own use of the arrows. */
const isUsingArrows = (target: EventTarget | null): boolean =>
  document.querySelector('dialog[open]') !== null ||
  (target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role="menu"]') !== null);
