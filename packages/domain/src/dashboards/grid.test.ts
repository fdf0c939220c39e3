import { isDeepStrictEqual } from 'node:util';
import {
  type Arbitrary,
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  pre,
  property,
  record,
  uuid,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../ids.ts';
import {
  type Breakpoint,
  breakpoints,
  checkItemsAreOf,
  convertLayouts,
  gridVersion,
  isPlainLayoutInput,
  type LayoutItem,
  LayoutInput,
  type Layouts,
  widgetsOf,
  withoutWidget,
} from './grid.ts';
import { maxWidgets } from './tabs.ts';

const oldColumns: Record<Breakpoint, number> = { lg: 12, md: 10, sm: 6, xs: 4, xxs: 2 };
const columns: Record<Breakpoint, number> = { lg: 24, md: 20, sm: 12, xs: 8, xxs: 2 };
const none: Layouts = { lg: [], md: [], sm: [], xs: [], xxs: [] };

/** Items whose upper left corner is inside the old grid; they may stick out to the right. */
const itemsOf = (breakpoint: Breakpoint, may: { stickOut: boolean }): Arbitrary<LayoutItem[]> =>
  array(
    nat(oldColumns[breakpoint] - 1).chain((x) =>
      record(
        {
          i: uuid({ version: 7 }),
          x: constant(x),
          y: nat(40),
          w: integer({ min: 1, max: may.stickOut ? 30 : oldColumns[breakpoint] - x }),
          h: integer({ min: 1, max: 12 }),
          minW: nat(oldColumns[breakpoint]),
          maxW: nat(100),
          minH: nat(12),
          maxH: nat(12),
          static: boolean(),
        },
        { requiredKeys: ['i', 'x', 'y', 'w', 'h'] },
      ),
    ),
    { maxLength: 12 },
  );

const layoutsWhere = (may: { stickOut: boolean }): Arbitrary<Layouts> =>
  record({
    lg: itemsOf('lg', may),
    md: itemsOf('md', may),
    sm: itemsOf('sm', may),
    xs: itemsOf('xs', may),
    xxs: itemsOf('xxs', may),
  });

const overlaps = (items: LayoutItem[]): Set<string> => {
  const pairs = new Set<string>();
  for (const [at, a] of items.entries()) {
    for (const [offset, b] of items.slice(at + 1).entries()) {
      const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
      if (!apart) pairs.add(`${at} ${at + 1 + offset}`);
    }
  }
  return pairs;
};

describe('converting from the old grid', () => {
  it.each([
    ['lg', { x: 3, y: 2, w: 9, h: 4, minW: 2, maxW: 12 }, { x: 6, y: 4, w: 18, h: 8, minW: 4, maxW: 24 }],
    ['md', { x: 0, y: 0, w: 10, h: 1, minH: 1, maxH: 5 }, { x: 0, y: 0, w: 20, h: 2, minH: 2, maxH: 10 }],
    ['sm', { x: 5, y: 7, w: 1, h: 3, static: true }, { x: 10, y: 14, w: 2, h: 6, static: true }],
    ['xs', { x: 1, y: 1, w: 3, h: 1, maxW: 100 }, { x: 2, y: 2, w: 6, h: 2, maxW: 8 }],
    ['xxs', { x: 1, y: 3, w: 1, h: 2, minW: 1, maxW: 2 }, { x: 1, y: 6, w: 1, h: 4, minW: 1, maxW: 2 }],
  ] as const)('doubles the old grid on %s', (breakpoint, before, after) => {
    const i = newId();
    const converted = convertLayouts({ ...none, [breakpoint]: [{ i, ...before }] }, 1);
    expect(converted).toEqual({ ...none, [breakpoint]: [{ i, ...after }] });
  });

  it('keeps every item inside the columns and adds no overlap', () => {
    assert(
      property(layoutsWhere({ stickOut: true }), (before) => {
        const after = convertLayouts(before, 1);
        for (const breakpoint of breakpoints) {
          for (const { x, w, minW = 0, maxW = 0 } of after[breakpoint]) {
            expect(x + w).toBeLessThanOrEqual(columns[breakpoint]);
            expect(w).toBeGreaterThan(0);
            expect(Math.max(minW, maxW)).toBeLessThanOrEqual(columns[breakpoint]);
          }
          expect([...overlaps(before[breakpoint])]).toEqual(expect.arrayContaining([...overlaps(after[breakpoint])]));
        }
      }),
    );
  });

  it('turns every valid layout of the old grid into a valid one of the new grid without loss', () => {
    assert(
      property(layoutsWhere({ stickOut: false }), (layouts) => {
        const distinct = LayoutInput.safeParse({ layouts });
        pre(distinct.success);
        const converted = convertLayouts(layouts, 1);
        expect(LayoutInput.safeParse({ __gridVersion: 2, layouts: converted }).error).toBeUndefined();
        for (const breakpoint of breakpoints) {
          expect(overlaps(converted[breakpoint])).toEqual(overlaps(layouts[breakpoint]));
          expect(converted[breakpoint].map(({ i }) => i)).toEqual(layouts[breakpoint].map(({ i }) => i));
        }
      }),
    );
  });

  it('does not change a converted layout, nor one of a newer grid', () => {
    assert(
      property(layoutsWhere({ stickOut: true }), integer({ min: gridVersion, max: 9 }), (layouts, version) => {
        const once = convertLayouts(layouts, 1);
        expect(convertLayouts(once, gridVersion)).toEqual(once);
        expect(convertLayouts(layouts, version)).toEqual(layouts);
      }),
    );
  });
});

describe('a saved layout', () => {
  const i = newId();
  const item = { i, x: 0, y: 0, w: 1, h: 1 };
  const problemsOf = (input: unknown) => LayoutInput.safeParse(input).error?.issues.map(({ path }) => path.join('.'));

  it.each(breakpoints)('may fill the columns of its grid on %s and no more', (breakpoint) => {
    for (const [version, most] of [
      [1, oldColumns[breakpoint]],
      [2, columns[breakpoint]],
    ] as const) {
      const input = (w: number) => ({ __gridVersion: version, layouts: { [breakpoint]: [{ ...item, w }] } });
      expect(problemsOf(input(most))).toBeUndefined();
      expect(problemsOf(input(most + 1))).toEqual([`layouts.${breakpoint}.0`]);
    }
  });

  it('is of the first grid by default', () => {
    expect(problemsOf({ layouts: { lg: [{ ...item, w: 13 }] } })).toEqual(['layouts.lg.0']);
    expect(LayoutInput.parse({ layouts: {} })).toEqual({ __gridVersion: 1, layouts: {} });
  });

  it('may contain a widget once in each breakpoint', () => {
    const layouts = Object.fromEntries(breakpoints.map((breakpoint) => [breakpoint, [item]]));
    expect(problemsOf({ __gridVersion: 2, layouts })).toBeUndefined();
    expect(
      problemsOf({ __gridVersion: 2, layouts: { ...layouts, md: [item, { ...item, i: i.toUpperCase() }] } }),
    ).toEqual(['layouts.md.1']);
  });

  const wrong: [string, unknown, string][] = [
    ['an unknown grid', { __gridVersion: 3, layouts: {} }, '__gridVersion'],
    ['grid 0', { __gridVersion: 0, layouts: {} }, '__gridVersion'],
    ['no layouts', { __gridVersion: 2 }, 'layouts'],
    ['an unknown breakpoint', { __gridVersion: 2, layouts: { xl: [] } }, 'layouts'],
    ['an unknown key', { __gridVersion: 2, layouts: {}, name: 'x' }, ''],
    ['an unknown key of an item', { __gridVersion: 2, layouts: { lg: [{ ...item, moved: false }] } }, 'layouts.lg.0'],
    ['half a cell', { __gridVersion: 2, layouts: { lg: [{ ...item, x: 0.5 }] } }, 'layouts.lg.0.x'],
    ['a cell left of the grid', { __gridVersion: 2, layouts: { lg: [{ ...item, x: -1 }] } }, 'layouts.lg.0.x'],
    ['no width', { __gridVersion: 2, layouts: { lg: [{ ...item, w: 0 }] } }, 'layouts.lg.0.w'],
    ['null for a size', { __gridVersion: 2, layouts: { lg: [{ ...item, maxW: null }] } }, 'layouts.lg.0.maxW'],
    ['more rows than there are', { __gridVersion: 2, layouts: { lg: [{ ...item, y: 10_000 }] } }, 'layouts.lg.0'],
    ['a negative revision', { __gridVersion: 2, layouts: {}, revision: -1 }, 'revision'],
  ];
  it.each(wrong)('is refused with %s', (_case, input, path) => {
    expect(problemsOf(input)).toEqual([path]);
    expect(isPlainLayoutInput(input)).toBe(false);
  });

  it('is plain if nothing about it is unusual, and is then accepted unchanged', () => {
    const full = { ...item, minW: 0, minH: 1, maxW: 10_000, maxH: 0, static: false };
    for (const plain of [
      { __gridVersion: 1, layouts: {} },
      { __gridVersion: 2, layouts: { lg: [full], md: [], xxs: [full, { ...item, i: newId() }] }, revision: 0 },
    ]) {
      expect(isPlainLayoutInput(plain)).toBe(true);
      expect(LayoutInput.parse(plain)).toEqual(plain);
    }
    // Valid as well, but changed by the schema.
    for (const other of [{ layouts: {} }, { __gridVersion: 2, layouts: { lg: [{ ...item, i: i.toUpperCase() }] } }]) {
      expect(isPlainLayoutInput(other)).toBe(false);
      expect(LayoutInput.safeParse(other).success).toBe(true);
    }
  });

  it('is plain if and only if the schema accepts it unchanged, for any single odd value', () => {
    const items = Array.from({ length: maxWidgets }, () => ({ ...item, i: newId() }));
    const full = { ...item, minW: 2, minH: 2, maxW: 2, maxH: 2, static: true };
    const good = {
      __gridVersion: 2,
      layouts: { lg: [full, { ...item, i: newId() }], md: [], xxs: items },
      revision: 3,
    };
    let plain = 0;
    for (const body of [good, ...changesOf(good)]) {
      const read = LayoutInput.safeParse(body);
      const isUnchanged = read.success && isDeepStrictEqual(read.data, body);
      expect({ body, plain: isPlainLayoutInput(body) }).toEqual({ body, plain: isUnchanged });
      if (isUnchanged) plain += 1;
    }
    expect(plain).toBeGreaterThan(50);
  });

  it('is plain if and only if the schema accepts it unchanged, for random values', () => {
    // Few ids and small numbers, so that items share widgets, overlap and touch the edges; sometimes an odd value.
    const ids = [newId(), newId(), newId(), newId().toUpperCase()];
    const cells = oneof({ weight: 200, arbitrary: nat(3) }, { weight: 1, arbitrary: constantFrom(...odd) });
    const layoutItem = record(
      {
        i: oneof({ weight: 200, arbitrary: constantFrom(...ids.slice(0, 3)) }, constantFrom(ids[3], 'x', null)),
        x: cells,
        y: oneof({ weight: 200, arbitrary: nat(40) }, constantFrom(4_999, 5_000, 9_999, 10_000)),
        w: oneof({ weight: 200, arbitrary: integer({ min: 1, max: 3 }) }, integer({ min: 0, max: 25 })),
        h: integer({ min: 1, max: 4 }),
        minW: cells,
        minH: cells,
        maxW: cells,
        maxH: cells,
        static: oneof({ weight: 200, arbitrary: boolean() }, constantFrom(...odd)),
      },
      { requiredKeys: ['i', 'x', 'y', 'w', 'h'], noNullPrototype: true },
    );
    const list = array(layoutItem, { maxLength: 2 });
    const input = record(
      {
        __gridVersion: oneof({ weight: 20, arbitrary: constantFrom(1, 2) }, constantFrom(...odd)),
        layouts: record(
          { lg: list, md: list, sm: list, xs: list, xxs: list, xl: constant([]) },
          { requiredKeys: [], noNullPrototype: true },
        ).map(
          // Only some layouts have an unknown breakpoint.
          ({ xl, ...layouts }) => (layouts.lg?.length === 2 ? { ...layouts, xl } : layouts),
        ),
        revision: oneof({ weight: 20, arbitrary: nat() }, constantFrom(...odd)),
      },
      { requiredKeys: ['__gridVersion', 'layouts'], noNullPrototype: true },
    );
    const seen = { plain: 0, other: 0 };
    assert(
      property(input, (body) => {
        const read = LayoutInput.safeParse(body);
        const isUnchanged = read.success && isDeepStrictEqual(read.data, body);
        expect(isPlainLayoutInput(body)).toBe(isUnchanged);
        seen[isUnchanged ? 'plain' : 'other'] += 1;
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.plain, seen.other)).toBeGreaterThan(100);
  });

  const odd = [newId(), newId().toUpperCase(), 'x', null, true, [], {}, 0.5, -1, 0, 1, 3, 25, 10_000, 10_001, 2 ** 53];

  /** The value with one part replaced, removed or added. */
  function* changesOf(value: unknown): Generator {
    yield* odd;
    if (Array.isArray(value)) {
      yield [...value, { ...item, i: newId() }];
      yield [...value, ...value];
      // Later elements behave the same.
      for (const at of [...value.keys()].slice(0, 2))
        for (const other of changesOf(value[at])) yield value.with(at, other);
    } else if (typeof value === 'object' && value !== null) {
      for (const added of ['other', 'toString', 'sm']) yield { ...value, [added]: [] };
      for (const [key, inner] of Object.entries(value)) {
        yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== key));
        for (const other of changesOf(inner)) yield { ...value, [key]: other };
      }
    }
  }
});

describe('the items of a layout', () => {
  const [a, b] = [newId(), newId()];
  const item = (i: string): LayoutItem => ({ i, x: 0, y: 0, w: 1, h: 1 });
  const layouts: Layouts = { ...none, lg: [item(a), item(b)], xxs: [item(a)] };

  it('return the ids of their widgets', () => {
    expect(widgetsOf(layouts)).toEqual([a, b]);
    expect(widgetsOf({ xs: [] })).toEqual([]);
  });

  it('are removed with their widget, in every breakpoint', () => {
    expect(withoutWidget(layouts, a)).toEqual({ ...none, lg: [item(b)] });
  });

  it('must belong to widgets of the tab; others are reported', () => {
    expect(() => checkItemsAreOf(layouts, new Set([a, b, newId()]))).not.toThrow();
    expect(() => checkItemsAreOf(layouts, new Set([b]))).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        details: ['layouts.lg.0.i', 'layouts.xxs.0.i'].map((path) => expect.objectContaining({ path })),
      }),
    );
  });
});
