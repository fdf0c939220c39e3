import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide';
import type { ComponentChildren } from 'preact';
import type { MutableRef } from 'preact/hooks';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatNumber } from '../language.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
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
  /**
   * A width of CSS, so that the column hardly depends on which rows are drawn. If all columns have one, a wide table is laid out without
   * looking at the content of its cells, which takes half the time.
   */
  width?: string | undefined;
}

export interface Selection<Row> {
  /** Keys of rows. */
  selected: ReadonlySet<string>;
  onChange: (selected: ReadonlySet<string>) => void;
  /** Names the check box of a row for screen readers. */
  labelOf: (row: Row) => string;
  /** Names the check box that selects all rows listed. */
  allLabel: string;
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** The same function each time, like the same columns, keeps rows of a long table from being drawn again. */
  rowKey: (row: Row) => string;
  empty: ComponentChildren;
  search?: { value: string; onInput: (value: string) => void; label: string } | undefined;
  paging?: { hasMore: boolean; isLoading: boolean; onMore: () => void; total?: number | null | undefined } | undefined;
  /** Adds a column of check boxes. Shift selects a range; arrow keys go from box to box. */
  selection?: Selection<Row> | undefined;
}

interface Order {
  key: string;
  isDescending: boolean;
}

/**
 * A table whose first column names the row. Where there is little room, each row becomes a card. Of a long table, only the rows near the
 * window are drawn.
 */
export function Table<Row>({ caption, columns, rows, rowKey, empty, search, paging, selection }: TableProps<Row>) {
  const [order, setOrder] = useState<Order | null>(null);
  const ordered = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  const blocks = useBlocks(ordered);
  const isLong = blocks.length > 1;
  // Not all rows are in the page, so each says which it is.
  const rowCount = paging?.hasMore ? (paging.total ?? null) : rows.length;
  const [rowPx, setRowPx] = useState(usualRowPx);
  // Cards are much higher than rows; small differences are not worth another drawing.
  const onMeasure = useCallback((px: number) => setRowPx((now) => (Math.abs(px - now) > now / 4 ? px : now)), []);
  // A person sees the first rows before anything is done for the others.
  const [isBegun, setBegun] = useState(false);
  useEffect(() => setBegun(true), []);
  const isBeginning = isLong && !isBegun;
  const hasWidths = columns.some(({ width }) => width !== undefined);
  const boxes = useSelection(selection, ordered, rowKey);
  const wrap = useRef<HTMLDivElement>(null);
  const form = useForm(wrap);
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
      data-form={form}
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
        <table
          class={s.table}
          {...as.table}
          data-fixed={columns.every(({ width }) => width !== undefined) || undefined}
          aria-rowcount={isLong ? (rowCount === null ? -1 : rowCount + 1) : undefined}
        >
          <caption>
            <VisuallyHidden>{caption}</VisuallyHidden>
          </caption>
          {hasWidths && (
            <colgroup>
              {boxes && <col style={{ width: '44px' }} />}
              {columns.map(({ key, width }) => (
                <col key={key} style={{ width }} />
              ))}
            </colgroup>
          )}
          <thead {...as.rowgroup}>
            <tr {...as.row} aria-rowindex={isLong ? 1 : undefined}>
              {boxes?.ofAll}
              {columns.map((column) => (
                <Header key={column.key} column={column} order={order} onOrder={setOrder} />
              ))}
            </tr>
          </thead>
          {(isBeginning ? blocks.slice(0, 1) : blocks).map((block, index) => (
            <Block
              key={index}
              rows={block}
              drawnRows={isBeginning ? drawnAtFirst() : block.length}
              firstIndex={isLong ? index * blockSize + 2 : null}
              columns={columns}
              rowKey={rowKey}
              boxOf={boxes?.ofRow}
              isCards={form === 'cards'}
              isFirst={index === 0}
              rowPx={rowPx}
              onMeasure={onMeasure}
            />
          ))}
          {isBeginning && (
            <tbody aria-hidden>
              <Gap heightPx={(rows.length - drawnAtFirst()) * rowPx} />
            </tbody>
          )}
        </table>
      )}
      {paging && <More {...paging} count={rows.length} />}
    </div>
  );
}

type Form = 'cards' | 'narrow' | 'wide';

const formAt = (widthPx: number): Form => (widthPx < 640 ? 'cards' : widthPx < 960 ? 'narrow' : 'wide');

/** How the rows are laid out. Not by a container query, under which Chromium takes seven times as long for every layout of a table. */
function useForm(wrap: MutableRef<HTMLElement | null>): Form {
  const [form, setForm] = useState(() => formAt(innerWidth));
  useLayoutEffect(() => {
    const { current } = wrap;
    if (!current) return undefined;
    const measure = () => setForm(formAt(current.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return form;
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

/** Tables up to this length are drawn at once. */
const shortRows = 99;
const blockSize = 25;
/** How far from the window rows are drawn. */
const nearPx = 600;
/** The height of a row until one was measured. */
const usualRowPx = 37;
/** The least that stands above the rows of a table: the header of the portal, the title of the page, a filter and the head of the table. */
const abovePx = 240;

/** The rows in the window, or those of a block if it has fewer. */
const drawnAtFirst = (): number => Math.min(Math.ceil((innerHeight - abovePx) / usualRowPx), blockSize);

/** Parts of the rows. A part whose rows are those of the last time is the same array, so that it is not drawn again when the list grows. */
function useBlocks<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const last = useRef<readonly (readonly Row[])[]>([]);
  return useMemo(() => {
    last.current = blocksOf(rows).map((block, index) => {
      const before = last.current[index];
      return before?.length === block.length && block.every((row, n) => row === before[n]) ? before : block;
    });
    return last.current;
  }, [rows]);
}

function blocksOf<Row>(rows: readonly Row[]): (readonly Row[])[] {
  if (rows.length <= shortRows) return [rows];
  return Array.from({ length: Math.ceil(rows.length / blockSize) }, (_, index) =>
    rows.slice(index * blockSize, (index + 1) * blockSize),
  );
}

interface BlockProps<Row> {
  rows: readonly Row[];
  /** The number of rows to draw, if the block is drawn at all. */
  drawnRows: number;
  /** Place of the first row in the whole table; null if the table is short. */
  firstIndex: number | null;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  boxOf: ((row: Row) => ComponentChildren) | undefined;
  isCards: boolean;
  /** Is drawn at once, before anybody asks whether it is near the window. */
  isFirst: boolean;
  rowPx: number;
  onMeasure: (rowPx: number) => void;
}

/** Some rows. Those of a long table leave only their height while they are far from the window. */
function Block<Row>(props: BlockProps<Row>) {
  const { rows, drawnRows, firstIndex, columns, rowKey, boxOf, isCards, isFirst, rowPx, onMeasure } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const isLong = firstIndex !== null;
  const [isNear, setNear] = useState(isFirst);
  /** The height that the rows had when they were drawn. */
  const drawnPx = useRef<number | null>(null);
  const isDrawn = !isLong || isNear;
  useEffect(() => {
    const { current } = body;
    if (!isLong || !current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (!entry) return;
        if (!current.ariaHidden) {
          drawnPx.current = entry.boundingClientRect.height;
          if (isFirst) onMeasure(drawnPx.current / rows.length);
        }
        // What has the focus must stay.
        setNear(entry.isIntersecting || current.contains(document.activeElement));
      },
      { rootMargin: `${nearPx}px 0px` },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [isLong]);
  if (!isDrawn) {
    return (
      <tbody ref={body} aria-hidden>
        <Gap heightPx={drawnPx.current ?? rows.length * rowPx} />
      </tbody>
    );
  }
  return (
    <tbody ref={body} {...as.rowgroup}>
      {rows.slice(0, drawnRows).map((row, index) => (
        <tr key={rowKey(row)} {...(isCards && as.row)} aria-rowindex={isLong ? firstIndex + index : undefined}>
          {boxOf?.(row)}
          {columns.map((column, place) => cellOf(column, row, { isName: place === 0, isCards }))}
        </tr>
      ))}
    </tbody>
  );
}

/** Stands for rows that are not drawn. */
const Gap = ({ heightPx }: { heightPx: number }) => <tr style={{ height: `${heightPx}px` }} />;

/** The check boxes of a table; null if nothing can be selected. */
function useSelection<Row>(
  selection: Selection<Row> | undefined,
  ordered: readonly Row[],
  rowKey: (row: Row) => string,
): { ofAll: ComponentChildren; ofRow: (row: Row) => ComponentChildren } | null {
  // The row that was clicked last: the other end of a range.
  const last = useRef<string | null>(null);
  if (!selection) return null;
  const { selected, onChange, labelOf, allLabel } = selection;
  const set = (rows: readonly Row[], isSelected: boolean) => {
    const next = new Set(selected);
    for (const row of rows) {
      if (isSelected) next.add(rowKey(row));
      else next.delete(rowKey(row));
    }
    onChange(next);
  };
  const toggle = (row: Row, isSelected: boolean, isRange: boolean) => {
    const places = [last.current, rowKey(row)].map((key) => ordered.findIndex((other) => rowKey(other) === key));
    const [from = -1, to = -1] = places.toSorted((a, b) => a - b);
    set(isRange && from !== -1 ? ordered.slice(from, to + 1) : [row], isSelected);
    last.current = rowKey(row);
  };
  const count = ordered.reduce((sum, row) => sum + (selected.has(rowKey(row)) ? 1 : 0), 0);
  return {
    ofAll: (
      <th class={s.box} {...as.columnheader}>
        <label data-label={allLabel}>
          <input
            type="checkbox"
            aria-label={allLabel}
            title={allLabel}
            checked={count > 0 && count === ordered.length}
            indeterminate={count > 0 && count < ordered.length}
            onClick={({ currentTarget }) => set(ordered, currentTarget.checked)}
          />
        </label>
      </th>
    ),
    ofRow: (row) => (
      <td class={s.box} data-label="" {...as.cell}>
        <label>
          <input
            type="checkbox"
            aria-label={labelOf(row)}
            checked={selected.has(rowKey(row))}
            onClick={({ currentTarget, shiftKey }) => toggle(row, currentTarget.checked, shiftKey)}
            onKeyDown={moveToBox}
          />
        </label>
      </td>
    ),
  };
}

/** Arrow keys go to the box above or below. With Shift, it becomes like the one before. */
function moveToBox(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const box = event.currentTarget;
  if (step === undefined || !(box instanceof HTMLInputElement)) return;
  event.preventDefault();
  const boxes = [...(box.closest('table')?.querySelectorAll<HTMLInputElement>(`tbody .${s.box} input`) ?? [])];
  const next = boxes[boxes.indexOf(box) + step];
  next?.focus();
  if (event.shiftKey && next && next.checked !== box.checked) next.click();
}

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
  const arrow = isOrdered ? (isDescending ? ArrowDown : ArrowUp) : ArrowUpDown;
  const direction = isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" {...as.columnheader} data-align={align} aria-sort={isOrdered ? direction : undefined}>
      {sort ? (
        <button type="button" onClick={() => onOrder({ key, isDescending: isOrdered && !isDescending })}>
          {label}
          <Icon icon={arrow} size={14} />
        </button>
      ) : (
        label
      )}
    </th>
  );
}

// No component, no element around the content and no attribute too many: a list draws hundreds of cells at once.
function cellOf<Row>(
  { key, label, align, hideOnCard, cell }: Column<Row>,
  row: Row,
  { isName, isCards }: { isName: boolean; isCards: boolean },
) {
  const props = {
    dir: 'auto',
    'data-align': align,
    ...(isCards && { ...as[isName ? 'rowheader' : 'cell'], 'data-label': label, 'data-hide': hideOnCard || undefined }),
  } as const;
  return isName ? (
    <th key={key} scope="row" {...props}>
      {cell(row)}
    </th>
  ) : (
    <td key={key} {...props}>
      {cell(row)}
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
