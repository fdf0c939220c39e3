import { z } from 'zod';
import { invalid } from '../errors.ts';
import { Id } from '../ids.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import { Instant } from '../time.ts';
import { maxWidgets } from './tabs.ts';

export const breakpoints = ['lg', 'md', 'sm', 'xs', 'xxs'] as const;
export type Breakpoint = (typeof breakpoints)[number];

/** The current grid. A layout without `__gridVersion` was made for grid 1. */
export const gridVersion = 2;

interface Grid {
  columns: Record<Breakpoint, number>;
  /** Number of rows; an item must end within them. */
  rows: number;
}

/** The old grid has half as many rows because converting doubles them. */
const grids: Record<1 | typeof gridVersion, Grid> = {
  1: { columns: { lg: 12, md: 10, sm: 6, xs: 4, xxs: 2 }, rows: 5_000 },
  2: { columns: { lg: 24, md: 20, sm: 12, xs: 8, xxs: 2 }, rows: 10_000 },
};

const Cells = z.int().min(0).max(grids[gridVersion].rows);

const place = { x: Cells, y: Cells, w: Cells.min(1), h: Cells.min(1) };
const sizes = {
  minW: Cells.optional(),
  minH: Cells.optional(),
  maxW: Cells.optional(),
  maxH: Cells.optional(),
  static: z.boolean().optional().describe('True if the widget cannot be moved'),
};

const LayoutItem = z.strictObject({ i: Id.describe('Id of the widget'), ...place, ...sizes });
const Items = z.array(LayoutItem).max(maxWidgets).optional();
/** A widget's place and size limits, in cells from the upper left corner. */
export type LayoutItem = z.output<typeof LayoutItem>;
/** The items of each breakpoint. */
export type Layouts = Record<Breakpoint, LayoutItem[]>;

const example = {
  __gridVersion: gridVersion,
  layouts: { lg: [{ i: '0198d3c6-3e4f-7051-8c6d-7e8f9a0b1c2d', x: 0, y: 0, w: 8, h: 6, minW: 4 }] },
  revision: 7,
};

/** A layout as a client saves it: items lie inside the columns of its grid, and each widget appears once in a breakpoint. */
export const LayoutInput = z
  .strictObject({
    __gridVersion: z
      .int()
      .min(1)
      .max(gridVersion)
      .default(1)
      .describe('Version of the grid this layout was made for; 1 if missing'),
    layouts: z
      .strictObject({ lg: Items, md: Items, sm: Items, xs: Items, xxs: Items })
      .describe('A breakpoint that is left out does not change'),
    revision: z.int().min(0).optional().describe('The `revision` you read last; without it the last save wins'),
  })
  .superRefine(({ __gridVersion: version, layouts }, check) => {
    // The schema has already refused a version above the current one.
    const grid = grids[version as keyof typeof grids] ?? grids[gridVersion];
    for (const [breakpoint, items = []] of Object.entries(layouts)) {
      const columns = grid.columns[breakpoint as Breakpoint];
      const seen = new Set<string>();
      for (const [index, item] of items.entries()) {
        const problem = placeProblem(item, columns, grid.rows) ?? (seen.has(item.i) ? 'must not appear twice' : null);
        if (problem !== null)
          check.addIssue({ code: 'custom', path: ['layouts', breakpoint, index], message: problem });
        seen.add(item.i);
      }
    }
  })
  .meta({ example });
export type LayoutInput = z.output<typeof LayoutInput>;

/**
 * Whether `LayoutInput` would accept `body` unchanged. A body this check does not recognize may still be valid: the schema decides and
 * reports what is wrong. Walking hundreds of items with the schema takes ten times as long and leaves garbage of thirty times the
 * body's size.
 */
export function isPlainLayoutInput(body: unknown): body is LayoutInput {
  if (!isObject(body)) return false;
  const { __gridVersion: version, layouts, revision, ...others } = body;
  if ((version !== 1 && version !== 2) || !isObject(layouts) || Object.keys(others).length > 0) return false;
  if (revision !== undefined && !(Number.isSafeInteger(revision) && Number(revision) >= 0)) return false;
  const grid = grids[version];
  return Object.entries(layouts).every(
    ([breakpoint, items]) =>
      Object.hasOwn(grid.columns, breakpoint) &&
      arePlainItems(items, grid.columns[breakpoint as Breakpoint], grid.rows),
  );
}

function arePlainItems(items: unknown, columns: number, rows: number): boolean {
  if (!Array.isArray(items) || items.length > maxWidgets) return false;
  const seen = new Set<string>();
  for (const item of items) {
    if (!isPlainItem(item) || placeProblem(item, columns, rows) !== null || seen.has(item.i)) return false;
    seen.add(item.i);
  }
  return true;
}

const plainId = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function isPlainItem(item: unknown): item is LayoutItem {
  if (!isObject(item)) return false;
  let required = 0;
  for (const key in item) {
    const value = item[key];
    switch (key) {
      case 'i':
        if (typeof value !== 'string' || !plainId.test(value)) return false;
        required += 1;
        break;
      case 'x':
      case 'y':
        if (!isCells(value, 0)) return false;
        required += 1;
        break;
      case 'w':
      case 'h':
        if (!isCells(value, 1)) return false;
        required += 1;
        break;
      case 'minW':
      case 'minH':
      case 'maxW':
      case 'maxH':
        if (!isCells(value, 0)) return false;
        break;
      case 'static':
        if (typeof value !== 'boolean') return false;
        break;
      default:
        return false;
    }
  }
  return required === 5;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCells = (value: unknown, min: number): boolean =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= grids[gridVersion].rows;

function placeProblem({ x, y, w, h, minW = 0 }: LayoutItem, columns: number, rows: number): string | null {
  if (x + w > columns || minW > columns) return `must lie inside the ${columns} columns`;
  return y + h > rows ? `must lie inside the first ${rows} rows` : null;
}

// Layouts were checked when they were saved. Checking hundreds of items again would cost more than reading them.
const ShownLayouts = z.custom<Layouts>().meta({
  type: 'object',
  properties: Object.fromEntries(
    breakpoints.map((breakpoint) => [breakpoint, { type: 'array', items: jsonSchemaOf(LayoutItem) }]),
  ),
  required: [...breakpoints],
});

/** A tab's layout as shown. */
export const DashboardLayout = z
  .object({
    __gridVersion: z.int().describe('Grid version. A client that does not know it must not save the layout'),
    layouts: ShownLayouts,
    revision: z.int().describe('0 until a layout is saved; every save and every widget removed from the tab raises it'),
    updatedAt: Instant.nullable(),
  })
  .meta({
    id: 'DashboardLayout',
    example: {
      ...example,
      layouts: { ...example.layouts, md: [], sm: [], xs: [], xxs: [] },
      updatedAt: '2026-11-20T08:30:00.000Z',
    },
  });

export type DashboardLayout = z.output<typeof DashboardLayout>;

export const emptyLayouts: Layouts = { lg: [], md: [], sm: [], xs: [], xxs: [] };

/** Converts layouts of grid `version` to the current grid; returns those of the current or a newer grid unchanged. */
export function convertLayouts(layouts: Layouts, version: number): Layouts {
  if (version >= gridVersion) return layouts;
  return mapLayouts(layouts, (items, breakpoint) => items.map((item) => toDoubledGrid(item, breakpoint)));
}

/** Grid 1 to 2: cells became half as high and, except on the smallest screens, half as wide. */
function toDoubledGrid(item: LayoutItem, breakpoint: Breakpoint): LayoutItem {
  const { columns, rows } = grids[2];
  const across = breakpoint === 'xxs' ? 1 : 2;
  const width = columns[breakpoint];
  const scaled = (cells: number | undefined, factor: number, max: number) =>
    cells === undefined ? undefined : Math.min(cells * factor, max);
  // Cut an item that sticks out of the grid instead of moving it, so that it covers no other.
  const x = Math.min(item.x * across, width - 1);
  const y = Math.min(item.y * 2, rows - 1);
  return {
    ...item,
    x,
    y,
    w: Math.min(item.w * across, width - x),
    h: Math.min(item.h * 2, rows - y),
    ...defined({
      minW: scaled(item.minW, across, width),
      maxW: scaled(item.maxW, across, width),
      minH: scaled(item.minH, 2, rows),
      maxH: scaled(item.maxH, 2, rows),
    }),
  };
}

const defined = (sizes: Partial<Record<'minW' | 'maxW' | 'minH' | 'maxH', number | undefined>>) =>
  Object.fromEntries(Object.entries(sizes).filter(([, cells]) => cells !== undefined));

/** The same layouts without a widget's items. */
export const withoutWidget = (layouts: Layouts, widgetId: string): Layouts =>
  mapLayouts(layouts, (items) => items.filter(({ i }) => i !== widgetId));

const mapLayouts = (layouts: Layouts, change: (items: LayoutItem[], breakpoint: Breakpoint) => LayoutItem[]): Layouts =>
  Object.fromEntries(
    (Object.entries(layouts) as [Breakpoint, LayoutItem[]][]).map(([breakpoint, items]) => [
      breakpoint,
      change(items, breakpoint),
    ]),
  ) as Layouts;

/** Ids of the widgets that have items. */
export function widgetsOf(layouts: LayoutInput['layouts']): string[] {
  const ids = new Set<string>();
  for (const items of Object.values(layouts)) for (const { i } of items ?? []) ids.add(i);
  return [...ids];
}

/** Throws 400 if an item belongs to a widget other than these. */
export function checkItemsAreOf(layouts: LayoutInput['layouts'], widgetIds: ReadonlySet<string>): void {
  const details = Object.entries(layouts).flatMap(([breakpoint, items = []]) =>
    items.flatMap(({ i }, index) =>
      widgetIds.has(i) ? [] : [{ path: `layouts.${breakpoint}.${index}.i`, message: 'must be a widget of this tab' }],
    ),
  );
  if (details.length > 0)
    throw invalid('VALIDATION_FAILED', 'The layout places widgets that are not on this tab.', { details });
}
