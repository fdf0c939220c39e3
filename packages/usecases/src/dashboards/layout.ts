import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import {
  convertLayouts,
  type DashboardLayout,
  emptyLayouts,
  gridVersion,
  type Layouts,
  withoutWidget,
} from '@portal/domain/dashboards/grid';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';

const layoutColumns = {
  gridVersion: dashboardTabs.gridVersion,
  layouts: dashboardTabs.layouts,
  revision: dashboardTabs.layoutRevision,
  updatedAt: dashboardTabs.layoutUpdatedAt,
};

interface StoredLayout {
  gridVersion: number | null;
  layouts: Layouts | null;
  revision: number;
  updatedAt: Date | null;
}

const layoutOf = prepared<{ tabId: string; userId: string }>()('dashboard_layout', (db) =>
  db
    .select(layoutColumns)
    .from(dashboardTabs)
    .where(and(eq(dashboardTabs.id, sql.placeholder('tabId')), eq(dashboardTabs.userId, sql.placeholder('userId')))),
);

/**
 * A tab's layout. Converts a layout of an older grid once and stores the result. Keeps the revision, because converting does not move
 * widgets relative to each other. Throws 404.
 */
export async function getLayout(ctx: UserContext, tabId: string): Promise<DashboardLayout> {
  const [stored] = await ctx.run(layoutOf, { tabId, userId: ctx.actor.id });
  if (!stored) throw notFound();
  return isOutdated(stored) ? changeDashboards(ctx, (tx) => convertLayout(tx, ctx, tabId)) : toLayout(stored);
}

/** Converts a tab's stored layout to the current grid if it is older; returns the stored layout. Throws 404. */
export async function convertLayout(tx: Tx, ctx: UserContext, tabId: string): Promise<DashboardLayout> {
  const [stored] = await tx.run(layoutOf, { tabId, userId: ctx.actor.id });
  if (!stored) throw notFound();
  if (!isOutdated(stored)) return toLayout(stored);
  const converted = { gridVersion, layouts: convertLayouts(stored.layouts, stored.gridVersion) };
  await tx.update(dashboardTabs).set(converted).where(eq(dashboardTabs.id, tabId));
  return toLayout({ ...stored, ...converted });
}

/** Removes a widget from its tab's stored layout and raises the revision, so that no client saves its place again. */
export async function removeItems(tx: Tx, tabId: string, widgetId: string): Promise<void> {
  const [stored] = await tx
    .select({ layouts: dashboardTabs.layouts })
    .from(dashboardTabs)
    .where(eq(dashboardTabs.id, tabId));
  if (!stored?.layouts) return;
  await tx
    .update(dashboardTabs)
    .set({
      layouts: withoutWidget(stored.layouts, widgetId),
      layoutRevision: sql`${dashboardTabs.layoutRevision} + 1`,
      layoutUpdatedAt: sql`now()`,
    })
    .where(eq(dashboardTabs.id, tabId));
}

const isOutdated = (stored: StoredLayout): stored is StoredLayout & { gridVersion: number; layouts: Layouts } =>
  stored.gridVersion !== null && stored.gridVersion < gridVersion;

/** A tab without a stored layout has an empty one. */
const toLayout = (stored: StoredLayout): DashboardLayout => ({
  __gridVersion: stored.gridVersion ?? gridVersion,
  layouts: stored.layouts ?? emptyLayouts,
  revision: stored.revision,
  updatedAt: stored.updatedAt,
});
