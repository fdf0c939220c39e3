import type { Item } from './breakpoints.ts';

type Place = Pick<Item, 'x' | 'y' | 'w' | 'h'>;

export const overlaps = (a: Place, b: Place): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

export const bottomOf = (items: readonly Place[]): number => Math.max(0, ...items.map(({ y, h }) => y + h));

/** From top to bottom, and from left to right within a row. */
export const inReadingOrder = (items: readonly Item[]): Item[] => items.toSorted((a, b) => a.y - b.y || a.x - b.x);

/** The item, made narrower and moved as far as needed to lie inside the columns. */
export function clampItem(item: Item, columns: number): Item {
  const w = Math.min(Math.max(item.w, 1), columns);
  const x = Math.min(Math.max(item.x, 0), columns - w);
  const y = Math.max(item.y, 0);
  return x === item.x && y === item.y && w === item.w ? item : { ...item, x, y, w };
}

/** The items without overlaps and without a gap above any of them. Static items stay where they are. */
export const compact = (items: readonly Item[], columns: number): Item[] =>
  stack(inReadingOrder(items.map((item) => clampItem(item, columns))), columns);

/** Lets the items fall up in this order: each comes to lie below those before it. Static items stay, and the others evade them. */
export function stack(ordered: readonly Item[], columns: number): Item[] {
  const statics = ordered.filter((item) => item.static);
  // The first free row of each column
  const free = Array.from({ length: columns }, () => 0);
  return ordered.map((item) => {
    const above = Math.max(...free.slice(item.x, item.x + item.w));
    const placed = item.static ? item : evade(at(item, above), statics);
    // Each column by itself: above a static item, columns may be free to different rows.
    for (let x = placed.x; x < placed.x + placed.w; x += 1) free[x] = Math.max(free[x] ?? 0, placed.y + placed.h);
    return placed;
  });
}

function evade(item: Item, statics: readonly Item[]): Item {
  const obstacle = statics.find((other) => overlaps(other, item));
  return obstacle ? evade(at(item, obstacle.y + obstacle.h), statics) : item;
}

const at = (item: Item, y: number): Item => (y === item.y ? item : { ...item, y });

/** Adds an item at the first free place, at or below `fromRow`. The others stay. */
export function addItem(items: readonly Item[], columns: number, item: Omit<Item, 'x' | 'y'>, fromRow = 0): Item[] {
  const w = Math.min(item.w, columns);
  for (let y = fromRow; ; y += 1) {
    for (let x = 0; x + w <= columns; x += 1) {
      const place = { ...item, x, y, w };
      if (!items.some((other) => overlaps(other, place))) return [...items, place];
    }
  }
}
