import { type Breakpoint, breakpoints, columnsOf, type Item, type Layouts } from './breakpoints.ts';
import { addItem, bottomOf, compact, inReadingOrder } from './place.ts';

/** Size of a new tile in columns of `lg` and in rows. */
export interface Size {
  w: number;
  h: number;
  minW: number;
  minH: number;
}

/** How many columns of `lg` are about as wide as one of a breakpoint. */
const spans: Record<Breakpoint, number> = { lg: 1, md: 1, sm: 1, xs: 1, xxs: 4 };

/**
 * The places of all tiles at a breakpoint: the stored ones; if none are stored, those of the nearest breakpoint that has some, adapted.
 * Tiles without a place come last. `sizes` has an entry for every tile.
 */
export function arrange(layouts: Partial<Layouts>, breakpoint: Breakpoint, sizes: ReadonlyMap<string, Size>): Item[] {
  const columns = columnsOf[breakpoint];
  const source = nearestStored(layouts, breakpoint);
  const stored = (layouts[source] ?? []).filter(({ i }) => sizes.has(i));
  const placed = source === breakpoint ? compact(stored, columns) : derive(stored, source, breakpoint);
  const withPlace = new Set(placed.map(({ i }) => i));
  const end = bottomOf(placed);
  const all = [...sizes]
    .filter(([i]) => !withPlace.has(i))
    .reduce((items, [i, size]) => addItem(items, columns, newItem(i, size, breakpoint), end), placed)
    .map((item) => withLimits(item, sizes.get(item.i), breakpoint));
  return inReadingOrder(compact(all, columns));
}

function nearestStored(layouts: Partial<Layouts>, breakpoint: Breakpoint): Breakpoint {
  const index = breakpoints.indexOf(breakpoint);
  const distance = (other: Breakpoint) => Math.abs(breakpoints.indexOf(other) - index);
  const stored = breakpoints.filter((other) => (layouts[other]?.length ?? 0) > 0);
  return stored.toSorted((a, b) => distance(a) - distance(b))[0] ?? breakpoint;
}

/** An item for a new tile, still without a place. */
export function newItem(i: string, size: Size, breakpoint: Breakpoint): Omit<Item, 'x' | 'y'> {
  const isWide = breakpoint === 'lg' || breakpoint === 'md';
  return withLimits({ i, w: isWide ? size.w : tidyWidth(size.w, breakpoint), h: size.h }, size, breakpoint);
}

/** The item with the smallest size of its type, unless it has its own limits or is smaller already. */
const withLimits = <Sized extends Omit<Item, 'x' | 'y'>>(
  item: Sized,
  size: Size | undefined,
  at: Breakpoint,
): Sized => ({
  ...item,
  minW: item.minW ?? Math.min(Math.ceil((size?.minW ?? 1) / spans[at]), item.w),
  minH: item.minH ?? Math.min(size?.minH ?? 1, item.h),
});

/** Adapts the places of one breakpoint to another. Limits of the width hold only where they were set. */
function derive(items: readonly Item[], from: Breakpoint, to: Breakpoint): Item[] {
  const columns = columnsOf[to];
  const ratio = columns / columnsOf[from];
  const free = inReadingOrder(items).map(({ minW: _min, maxW: _max, ...item }): Item => item);
  // The wide grids have columns of nearly the same width, so that the arrangement can stay.
  if (ratio > 0.8 && ratio < 1.25)
    return compact(
      free.map((item) => scaled(item, ratio)),
      columns,
    );
  return free.reduce<Item[]>(
    (placed, item) => addItem(placed, columns, { ...item, w: tidyWidth(item.w * spans[from], to) }),
    [],
  );
}

function scaled(item: Item, ratio: number): Item {
  // Rounding both edges keeps neighbours side by side.
  const x = Math.round(item.x * ratio);
  return { ...item, x, w: Math.max(Math.round((item.x + item.w) * ratio) - x, 1) };
}

/** A quarter, half or all of the columns, so that rows fill; at least three quarters as wide as `w` columns of `lg`. */
function tidyWidth(w: number, to: Breakpoint): number {
  const columns = columnsOf[to];
  const widths = [columns / 4, columns / 2].filter((width) => width >= 1);
  return widths.find((width) => width * spans[to] >= 0.75 * w) ?? columns;
}
