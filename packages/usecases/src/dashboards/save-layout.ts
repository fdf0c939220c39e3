import { and, eq, isNull, or, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import {
  type Breakpoint,
  breakpoints,
  checkItemsAreOf,
  type DashboardLayout,
  emptyLayouts,
  type LayoutInput,
  type Layouts,
  widgetsOf,
} from '@portal/domain/dashboards/grid';
import { conflict } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards, changeDashboardsBy } from './change-dashboards.ts';
import { convertLayout } from './layout.ts';
import { getOwnTab } from './own-tabs.ts';

/**
 * Saves a tab's layout in the client's grid.
 * Throws 404, 409 `GRID_VERSION_NEWER`, 409 `LAYOUT_CHANGED`, and 400 for an item that is not a widget of the tab. Checks the conflicts
 * first: a client that missed the removal of a widget has to read the layout again instead of correcting its request.
 */
export async function saveLayout(ctx: UserContext, tabId: string, input: LayoutInput): Promise<DashboardLayout> {
  const values = valuesOf(ctx, tabId, input);
  const [saved] = await changeDashboardsBy(ctx, replace, values);
  if (saved) return toLayout(input, saved);
  // The statement changed no row. A second transaction finds the reason, which may no longer apply.
  return changeDashboards(ctx, async (tx) => {
    await checkMayBeSaved(tx, ctx, tabId, input);
    // Otherwise the stored layout has an older grid. Convert it, because breakpoints the client left out stay.
    await convertLayout(tx, ctx, tabId);
    const [savedNow] = await tx.run(replace, values);
    if (!savedNow) throw new Error('a layout that passed all checks was not saved');
    return toLayout(input, savedNow);
  });
}

interface NewLayouts extends Record<string, unknown> {
  tabId: string;
  userId: string;
  gridVersion: number;
  revision: number | null;
  /** JSON of the breakpoints the client named. */
  layouts: string;
  named: Breakpoint[];
  widgetIds: string[];
}

const named = sql`${sql.placeholder('named')}::text[]`;
const revision = sql`${sql.placeholder('revision')}::int`;
const gridVersion = sql`${sql.placeholder('gridVersion')}::int`;

/** Saves in one statement; changes no row if a check fails. */
const replace = prepared<NewLayouts>()('dashboard_layout_save', (db) =>
  db
    .update(dashboardTabs)
    .set({
      gridVersion,
      // Clients usually name all breakpoints; the large old value is then neither read nor returned.
      layouts: sql`case when cardinality(${named}) = ${sql.raw(`${breakpoints.length}`)} then '{}'
        else coalesce(${dashboardTabs.layouts}, ${sql.raw(`'${JSON.stringify(emptyLayouts)}'`)}) end || ${sql.placeholder('layouts')}::jsonb`,
      layoutRevision: sql`${dashboardTabs.layoutRevision} + 1`,
      layoutUpdatedAt: sql`now()`,
    })
    .where(
      and(
        eq(dashboardTabs.id, sql.placeholder('tabId')),
        eq(dashboardTabs.userId, sql.placeholder('userId')),
        or(isNull(dashboardTabs.gridVersion), eq(dashboardTabs.gridVersion, gridVersion)),
        sql`coalesce(${revision}, ${dashboardTabs.layoutRevision}) = ${dashboardTabs.layoutRevision}`,
        sql`${sql.placeholder('widgetIds')}::uuid[] <@ array(
          select ${dashboardWidgets.id} from ${dashboardWidgets} where ${dashboardWidgets.tabId} = ${dashboardTabs.id})`,
      ),
    )
    .returning({
      unnamed: sql<Partial<Layouts>>`${dashboardTabs.layouts} - ${named}`.as('unnamed'),
      revision: dashboardTabs.layoutRevision,
      updatedAt: dashboardTabs.layoutUpdatedAt,
    }),
);

function valuesOf(
  ctx: UserContext,
  tabId: string,
  { __gridVersion, layouts, revision: seen }: LayoutInput,
): NewLayouts {
  return {
    tabId,
    userId: ctx.actor.id,
    gridVersion: __gridVersion,
    revision: seen ?? null,
    layouts: JSON.stringify(layouts),
    named: breakpoints.filter((breakpoint) => layouts[breakpoint] !== undefined),
    widgetIds: widgetsOf(layouts),
  };
}

interface Saved {
  /** The breakpoints the client left out. */
  unnamed: Partial<Layouts>;
  revision: number;
  updatedAt: Date | null;
}

const toLayout = ({ __gridVersion, layouts }: LayoutInput, { unnamed, ...rest }: Saved): DashboardLayout => ({
  __gridVersion,
  layouts: { ...unnamed, ...layouts } as Layouts,
  ...rest,
});

async function checkMayBeSaved(tx: Tx, ctx: UserContext, tabId: string, input: LayoutInput): Promise<void> {
  const tab = await getOwnTab(tx, ctx, tabId);
  if (tab.gridVersion !== null && tab.gridVersion > input.__gridVersion) {
    throw conflict('GRID_VERSION_NEWER');
  }
  if (input.revision !== undefined && input.revision !== tab.revision) {
    throw conflict('LAYOUT_CHANGED');
  }
  const widgets = await tx
    .select({ id: dashboardWidgets.id })
    .from(dashboardWidgets)
    .where(eq(dashboardWidgets.tabId, tabId));
  checkItemsAreOf(input.layouts, new Set(widgets.map(({ id }) => id)));
}
