import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatNumber } from '../language.ts';
import { Button } from './button.tsx';
import s from './table.module.css';
import { texts } from './texts.ts';
import { VisuallyHidden } from './visually-hidden.tsx';

export interface Column<Row> {
  key: string;
  label: string;
  cell: (row: Row) => ComponentChildren;
  align?: 'start' | 'end' | undefined;
  sort?: ((a: Row, b: Row) => number) | undefined;
  /** Left out on small screens. */
  hideOnCard?: boolean | undefined;
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  empty: ComponentChildren;
  search?: { value: string; onInput: (value: string) => void; label: string } | undefined;
  paging?: { hasMore: boolean; isLoading: boolean; onMore: () => void; total?: number | null | undefined } | undefined;
}

interface Order {
  key: string;
  isDescending: boolean;
}

/** A table whose first column names the row. Where there is little room, each row becomes a card. */
export function Table<Row>({ caption, columns, rows, rowKey, empty, search, paging }: TableProps<Row>) {
  const [order, setOrder] = useState<Order | null>(null);
  const wrap = useRef<HTMLDivElement>(null);
  const focused = useRef<Element | null>(null);
  const isSearching = (search?.value ?? '').trim() !== '';
  // The focus of a row that goes stays with the table.
  useEffect(() => {
    const isGone = focused.current?.isConnected === false && document.activeElement === document.body;
    if (isGone) wrap.current?.focus({ preventScroll: true });
  }, [rows]);
  return (
    <div
      ref={wrap}
      class={s.wrap}
      tabIndex={-1}
      onFocusIn={({ target }) => {
        focused.current = target instanceof Element ? target : null;
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget) focused.current = null;
      }}
    >
      {search && (
        <input
          class={s.search}
          type="search"
          dir="auto"
          aria-label={search.label}
          placeholder={search.label}
          value={search.value}
          onInput={({ currentTarget }) => search.onInput(currentTarget.value)}
        />
      )}
      {rows.length === 0 ? (
        (isSearching && <p role="status">{texts.value.noMatches}</p>) || empty
      ) : (
        <table class={s.table} {...as.table}>
          <caption>
            <VisuallyHidden>{caption}</VisuallyHidden>
          </caption>
          <thead {...as.rowgroup}>
            <tr {...as.row}>
              {columns.map((column) => (
                <Header key={column.key} column={column} order={order} onOrder={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody {...as.rowgroup}>
            {inOrder(rows, columns, order).map((row) => (
              <tr key={rowKey(row)} {...as.row}>
                {columns.map((column, index) => (
                  <Cell key={column.key} column={column} isName={index === 0}>
                    {column.cell(row)}
                  </Cell>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {paging && <More {...paging} count={rows.length} />}
    </div>
  );
}

// Some browsers forget the roles of a table that is laid out as cards.
const as = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  columnheader: { role: 'columnheader' },
  rowheader: { role: 'rowheader' },
  cell: { role: 'cell' },
} as const;

function inOrder<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | null): readonly Row[] {
  const sort = columns.find(({ key }) => key === order?.key)?.sort;
  if (!sort) return rows;
  return rows.toSorted(order?.isDescending ? (a, b) => sort(b, a) : sort);
}

interface HeaderProps<Row> {
  column: Column<Row>;
  order: Order | null;
  onOrder: (order: Order) => void;
}

function Header<Row>({ column: { key, label, align, sort }, order, onOrder }: HeaderProps<Row>) {
  const isOrdered = order?.key === key;
  const isDescending = isOrdered && order.isDescending;
  const Arrow = isOrdered ? (isDescending ? ArrowDown : ArrowUp) : ArrowUpDown;
  const direction = isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" {...as.columnheader} data-align={align} aria-sort={isOrdered ? direction : undefined}>
      {sort ? (
        <button type="button" onClick={() => onOrder({ key, isDescending: isOrdered && !isDescending })}>
          {label}
          <Arrow size={14} aria-hidden />
        </button>
      ) : (
        label
      )}
    </th>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  isName: boolean;
  children: ComponentChildren;
}

function Cell<Row>({ column: { label, align, hideOnCard }, isName, children }: CellProps<Row>) {
  const props = {
    'data-label': label,
    'data-align': align,
    'data-hide': hideOnCard || undefined,
  } as const;
  // One element, so that the label stays beside it however many parts the content has.
  const content = <div dir="auto">{children}</div>;
  return isName ? (
    <th scope="row" {...as.rowheader} {...props}>
      {content}
    </th>
  ) : (
    <td {...as.cell} {...props}>
      {content}
    </td>
  );
}

interface MoreProps {
  hasMore: boolean;
  isLoading: boolean;
  onMore: () => void;
  total?: number | null | undefined;
  count: number;
}

function More({ hasMore, isLoading, onMore, total, count }: MoreProps) {
  const t = texts.value;
  const isCounted = typeof total === 'number' && total > count;
  if (!hasMore && !isCounted) return null;
  return (
    <div class={s.more}>
      {hasMore && (
        <Button busy={isLoading} onClick={onMore}>
          {t.loadMore}
        </Button>
      )}
      {isCounted && <span role="status">{t.shownOf(formatNumber(count), formatNumber(total))}</span>}
    </div>
  );
}
