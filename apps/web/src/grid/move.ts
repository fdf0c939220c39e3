import type { Item } from './breakpoints.ts';
import { bottomOf, clampItem, inReadingOrder, overlaps, stack } from './place.ts';

export type Direction = 'left' | 'right' | 'up' | 'down';

/** Rows of the tallest tile a person can make. */
const maxRows = 200;

/**
 * The items after one is moved; the others make room and close gaps. Call it with the items as they were when the movement began: then
 * a tile that returns leaves everything as it was.
 */
export function moveItem(items: readonly Item[], columns: number, id: string, to: { x: number; y: number }): Item[] {
  const from = items.find(({ i }) => i === id);
  if (!from || from.static) return [...items];
  const moved = clampItem({ ...from, ...to }, columns);
  // It passes another item as soon as its leading edge passes the other's middle. Its lower edge leads when it moves down; in new
  // columns, where it passed nothing on its way, it lies where its upper edge is.
  const isDown = moved.y > from.y && moved.x < from.x + from.w && from.x < moved.x + moved.w;
  const isAbove = ({ y, h }: Item) => (isDown ? y + h / 2 < moved.y + moved.h : y + h / 2 <= moved.y);
  const others = inReadingOrder(items.filter(({ i }) => i !== id));
  return stack([...others.filter(isAbove), moved, ...others.filter((item) => !isAbove(item))], columns);
}

/** The nearest target in a direction that changes the item's place, starting from target `to`; null at the edge. */
export function nextTarget(
  items: readonly Item[],
  columns: number,
  id: string,
  to: { x: number; y: number },
  direction: Direction,
): { x: number; y: number } | null {
  const item = items.find(({ i }) => i === id);
  if (!item || item.static) return null;
  if (direction === 'left' || direction === 'right') {
    const x = to.x + (direction === 'left' ? -1 : 1);
    return x < 0 || x + item.w > columns ? null : { ...to, x };
  }
  const rowAt = (y: number) => moveItem(items, columns, id, { ...to, y }).find(({ i }) => i === id)?.y;
  const row = rowAt(to.y);
  const step = direction === 'up' ? -1 : 1;
  const last = bottomOf(items);
  for (let y = to.y + step; y >= 0 && y <= last; y += step) if (rowAt(y) !== row) return { ...to, y };
  return null;
}

/** The items after the lower right corner of one is moved, as far as its limits allow. Call it as `moveItem`. */
export function resizeItem(
  items: readonly Item[],
  columns: number,
  id: string,
  size: { w: number; h: number },
): Item[] {
  const from = items.find(({ i }) => i === id);
  if (!from || from.static) return [...items];
  const resized = {
    ...from,
    w: within(size.w, from.minW, Math.min(from.maxW ?? columns, columns - from.x)),
    h: within(size.h, from.minH, Math.min(from.maxH ?? maxRows, maxRows)),
  };
  const ordered = inReadingOrder(items);
  const index = ordered.indexOf(from);
  const others = ordered.filter((item) => item !== from);
  // What it grows over moves below it, also what began higher.
  const stays = (item: Item, at: number) => at < index && !overlaps(item, resized);
  return stack([...others.filter(stays), resized, ...others.filter((item, at) => !stays(item, at))], columns);
}

const within = (cells: number, min = 1, max: number): number => Math.max(Math.min(cells, max), Math.min(min, max), 1);
