import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LayoutInput } from '@portal/domain/dashboards/grid';
import { arrange, type Size } from './arrange.ts';
import { breakpointAt, breakpoints, columnsOf, gridVersion, type Item, type Layouts } from './breakpoints.ts';
import { type Direction, moveItem, nextTarget, resizeItem } from './move.ts';
import { compact, overlaps } from './place.ts';

const idOf = (index: number) => `0198d3c6-3e4f-7051-8c6d-${String(index).padStart(12, '0')}`;
const cells = (max: number) => fc.integer({ min: 0, max });
const tiles = fc
  .array(fc.record({ x: cells(23), y: cells(80), w: cells(23), h: cells(20) }), { minLength: 1, maxLength: 60 })
  .map((places) => places.map((place, i): Item => ({ ...place, i: idOf(i), w: place.w + 1, h: place.h + 1 })));
const breakpoint = fc.constantFrom(...breakpoints);

const byId = (items: readonly Item[]) => items.toSorted((a, b) => a.i.localeCompare(b.i));

function expectSound(items: readonly Item[], columns: number): void {
  for (const [index, item] of items.entries()) {
    expect(item.x).toBeGreaterThanOrEqual(0);
    expect(item.x + item.w).toBeLessThanOrEqual(columns);
    for (const other of items.slice(index + 1)) expect(overlaps(item, other), `${item.i} and ${other.i}`).toBe(false);
  }
}

const item = (i: string, x: number, y: number, w: number, h: number, more: Partial<Item> = {}): Item => ({
  i,
  x,
  y,
  w,
  h,
  ...more,
});

const placesOf = (items: readonly Item[]) => Object.fromEntries(items.map(({ i, x, y, w, h }) => [i, [x, y, w, h]]));

describe('compact', () => {
  test('leaves no overlap and no gap, and does nothing a second time', () => {
    fc.assert(
      fc.property(tiles, breakpoint, (items, at) => {
        const columns = columnsOf[at];
        const compacted = compact(items, columns);
        expectSound(compacted, columns);
        for (const each of compacted) {
          const isHeld =
            each.y === 0 || compacted.some((other) => other !== each && overlaps(other, { ...each, y: each.y - 1 }));
          expect(isHeld).toBe(true);
        }
        expect(byId(compact(compacted, columns))).toEqual(byId(compacted));
      }),
    );
  });

  test('leaves static items where they are, and the others evade them', () => {
    fc.assert(
      fc.property(tiles, cells(23), cells(30), (items, x, y) => {
        const fixed = item('fixed', Math.min(x, 20), y, 4, 6, { static: true });
        const compacted = compact([...items, fixed], 24);
        expect(compacted).toContainEqual(fixed);
        expectSound(compacted, 24);
        expect(byId(compact(compacted, 24))).toEqual(byId(compacted));
      }),
    );
  });
});

describe('moveItem', () => {
  test('keeps the layout sound, and a tile that returns leaves everything as it was', () => {
    fc.assert(
      fc.property(tiles, breakpoint, cells(59), cells(23), cells(90), (items, at, which, x, y) => {
        const columns = columnsOf[at];
        const before = compact(items, columns);
        const chosen = before[which % before.length];
        if (!chosen) return;
        expectSound(moveItem(before, columns, chosen.i, { x, y }), columns);
        expect(byId(moveItem(before, columns, chosen.i, chosen))).toEqual(byId(before));
      }),
    );
  });

  const two = [item('a', 0, 0, 4, 4), item('b', 0, 4, 4, 4)];
  test.each([
    ['not yet past the middle of the lower one', 'a', { x: 0, y: 2 }, { a: [0, 0, 4, 4], b: [0, 4, 4, 4] }],
    ['past the middle of the lower one', 'a', { x: 0, y: 3 }, { a: [0, 4, 4, 4], b: [0, 0, 4, 4] }],
    ['not yet past the middle of the upper one', 'b', { x: 0, y: 2 }, { a: [0, 0, 4, 4], b: [0, 4, 4, 4] }],
    ['past the middle of the upper one', 'b', { x: 0, y: 1 }, { a: [0, 4, 4, 4], b: [0, 0, 4, 4] }],
    ['beside', 'b', { x: 4, y: 4 }, { a: [0, 0, 4, 4], b: [4, 0, 4, 4] }],
    ['half beside', 'b', { x: 2, y: 4 }, { a: [0, 0, 4, 4], b: [2, 4, 4, 4] }],
    ['out of the columns', 'b', { x: 30, y: 9 }, { a: [0, 0, 4, 4], b: [8, 0, 4, 4] }],
  ])('%s', (_, id, to, expected) => {
    expect(placesOf(moveItem(two, 12, id, to))).toEqual(expected);
  });

  test('a tall tile passes a low one without being moved over its whole height', () => {
    const items = [item('tall', 0, 0, 4, 20), item('low', 0, 20, 4, 4)];
    expect(placesOf(moveItem(items, 12, 'tall', { x: 0, y: 3 }))).toEqual({ tall: [0, 4, 4, 20], low: [0, 0, 4, 4] });
  });

  test('leaves a static item', () => {
    const items = [item('a', 0, 0, 4, 4, { static: true })];
    expect(moveItem(items, 12, 'a', { x: 3, y: 0 })).toEqual(items);
  });
});

describe('nextTarget', () => {
  test('one step and the step back restore the place', () => {
    const opposite: Record<Direction, Direction> = { left: 'right', right: 'left', up: 'down', down: 'up' };
    fc.assert(
      fc.property(
        tiles,
        cells(59),
        fc.constantFrom<Direction>('left', 'right', 'up', 'down'),
        (items, which, there) => {
          const before = compact(items, 12);
          const chosen = before[which % before.length];
          if (!chosen) return;
          const to = nextTarget(before, 12, chosen.i, chosen, there);
          if (!to) return;
          const back = nextTarget(before, 12, chosen.i, to, opposite[there]);
          const restored = back && moveItem(before, 12, chosen.i, back).find(({ i }) => i === chosen.i);
          expect(restored).toEqual(chosen);
        },
      ),
    );
  });

  test('is null at the edges', () => {
    const items = [item('a', 0, 0, 12, 4)];
    for (const direction of ['left', 'right', 'up', 'down'] as const) {
      expect(nextTarget(items, 12, 'a', { x: 0, y: 0 }, direction), direction).toBeNull();
    }
  });
});

describe('resizeItem', () => {
  test('keeps the layout sound, and the old size leaves everything as it was', () => {
    fc.assert(
      fc.property(tiles, breakpoint, cells(59), cells(30), cells(40), (items, at, which, w, h) => {
        const columns = columnsOf[at];
        const before = compact(items, columns);
        const chosen = before[which % before.length];
        if (!chosen) return;
        const after = resizeItem(before, columns, chosen.i, { w, h });
        expectSound(after, columns);
        expect(after.find(({ i }) => i === chosen.i)?.y).toBeLessThanOrEqual(chosen.y);
        expect(byId(resizeItem(before, columns, chosen.i, chosen))).toEqual(byId(before));
      }),
    );
  });

  test.each([
    [{ w: 1, h: 1 }, [3, 2]],
    [{ w: 9, h: 9 }, [6, 5]],
    [{ w: 5, h: 4 }, [5, 4]],
  ])('%o within its limits', (size, expected) => {
    const items = [item('a', 0, 0, 4, 4, { minW: 3, maxW: 6, minH: 2, maxH: 5 })];
    expect(resizeItem(items, 12, 'a', size)).toMatchObject([{ w: expected[0], h: expected[1] }]);
  });

  test('moves a neighbour that began higher below itself', () => {
    const items = [item('top', 0, 0, 4, 2), item('a', 0, 2, 4, 4), item('beside', 4, 0, 4, 6)];
    expect(placesOf(resizeItem(items, 12, 'a', { w: 6, h: 4 }))).toEqual({
      top: [0, 0, 4, 2],
      a: [0, 2, 6, 4],
      beside: [4, 6, 4, 6],
    });
  });
});

describe('arrange', () => {
  const size: Size = { w: 8, h: 10, minW: 4, minH: 4 };
  const sizes = (items: readonly Item[]) => new Map(items.map(({ i }) => [i, size]));

  test('makes a layout that the service accepts, at every breakpoint from every other', () => {
    fc.assert(
      fc.property(tiles, breakpoint, breakpoint, (items, from, to) => {
        const stored = compact(items, columnsOf[from]);
        const arranged = arrange({ [from]: stored }, to, sizes(items));
        expectSound(arranged, columnsOf[to]);
        expect(arranged).toHaveLength(items.length);
        const saved = LayoutInput.safeParse({ __gridVersion: gridVersion, layouts: { [to]: arranged } });
        expect(saved.error?.issues).toBeUndefined();
      }),
    );
  });

  test('keeps what is stored', () => {
    fc.assert(
      fc.property(tiles, breakpoint, (items, at) => {
        const stored = compact(items, columnsOf[at]);
        expect(placesOf(arrange({ [at]: stored }, at, sizes(items)))).toEqual(placesOf(stored));
      }),
    );
  });

  test('leaves out tiles that are gone and puts new ones at the end', () => {
    const lg = [item('a', 0, 0, 24, 4), item('gone', 0, 4, 24, 4), item('b', 0, 8, 24, 4)];
    expect(placesOf(arrange({ lg }, 'lg', new Map(['b', 'a', 'new'].map((i) => [i, size]))))).toEqual({
      a: [0, 0, 24, 4],
      b: [0, 4, 24, 4],
      new: [0, 8, 8, 10],
    });
  });

  test('keeps neighbours side by side where columns are about as wide', () => {
    const lg = [item('a', 0, 0, 8, 4), item('b', 8, 0, 8, 4), item('c', 16, 0, 8, 4)];
    expect(placesOf(arrange({ lg }, 'md', sizes(lg)))).toEqual({ a: [0, 0, 7, 4], b: [7, 0, 6, 4], c: [13, 0, 7, 4] });
  });

  test.each<[keyof Layouts, number[][]]>([
    [
      'sm',
      [
        [0, 0, 6, 4],
        [6, 0, 6, 4],
        [0, 4, 3, 4],
      ],
    ],
    [
      'xs',
      [
        [0, 0, 8, 4],
        [0, 4, 8, 4],
        [0, 8, 4, 4],
      ],
    ],
    [
      'xxs',
      [
        [0, 0, 2, 4],
        [0, 4, 2, 4],
        [0, 8, 1, 4],
      ],
    ],
  ])('fills the rows of %s', (at, expected) => {
    const lg = [item('a', 0, 0, 8, 4), item('b', 8, 0, 6, 4), item('c', 14, 0, 3, 4)];
    expect(Object.values(placesOf(arrange({ lg }, at, sizes(lg))))).toEqual(expected);
  });

  test('without any layout, tiles stand in the order they were added', () => {
    expect(placesOf(arrange({}, 'lg', new Map(['a', 'b', 'c', 'd'].map((i) => [i, size]))))).toEqual({
      a: [0, 0, 8, 10],
      b: [8, 0, 8, 10],
      c: [16, 0, 8, 10],
      d: [0, 10, 8, 10],
    });
  });
});

test.each([
  [1_440, 'lg'],
  [1_100, 'lg'],
  [1_099, 'md'],
  [700, 'sm'],
  [500, 'xs'],
  [320, 'xxs'],
  [0, 'xxs'],
])('%i px is %s', (width, expected) => {
  expect(breakpointAt(width)).toBe(expected);
});
