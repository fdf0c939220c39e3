import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { maxWidgets } from '@portal/domain/dashboards/tabs';
import {
  checkConfig,
  checkWidgetType,
  type DashboardWidget,
  type WidgetChange,
  type WidgetConfig,
  widgetKinds,
} from '@portal/domain/dashboards/widgets';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { checkModuleAccess } from '../modules/module-access.ts';
import { changeDashboards } from './change-dashboards.ts';
import { removeItems } from './layout.ts';
import { checkReferences } from './named-in-widgets.ts';
import { getOwnTab, tabsOf } from './own-tabs.ts';

const widgetColumns = {
  id: dashboardWidgets.id,
  type: dashboardWidgets.type,
  config: dashboardWidgets.config,
};

/** Joins a widget with its tab, which leads to the owning account. */
export const tabOfWidget = and(
  eq(dashboardTabs.tenantId, dashboardWidgets.tenantId),
  eq(dashboardTabs.id, dashboardWidgets.tabId),
);

const widgetsOf = prepared<{ tabId: string; userId: string }>()('dashboard_widgets', (db) =>
  db
    .select(widgetColumns)
    .from(dashboardWidgets)
    .innerJoin(dashboardTabs, tabOfWidget)
    .where(
      and(eq(dashboardWidgets.tabId, sql.placeholder('tabId')), eq(dashboardTabs.userId, sql.placeholder('userId'))),
    )
    .orderBy(asc(dashboardWidgets.id)),
);

/** The widgets of a tab in the order they were added. Throws 404. */
export async function listWidgets(ctx: UserContext, tabId: string): Promise<DashboardWidget[]> {
  const userId = ctx.actor.id;
  const widgets = await ctx.run(widgetsOf, { tabId, userId });
  if (widgets.length > 0) return widgets;
  const tabs = await ctx.run(tabsOf, { userId });
  if (!tabs.some(({ id }) => id === tabId)) throw notFound();
  return [];
}

/**
 * Adds a widget to a tab. Throws 400 `INVALID_WIDGET_TYPE`, 403 `MODULE_DISABLED` or `MODULE_ACCESS_DENIED` if it shows a module the
 * caller may not use, 404 for the tab and for anything the configuration refers to, 409 `LIMIT_REACHED` at 60. The widget stays if the
 * caller loses the grant later.
 */
export async function addWidget(
  ctx: UserContext,
  input: { tabId: string; type: string; config: WidgetConfig },
): Promise<DashboardWidget> {
  const { tabId, type } = input;
  checkWidgetType(type);
  const { module } = widgetKinds[type];
  if (module !== null) await checkModuleAccess(ctx, { module, level: 'USE' });
  const widget = { id: newId(), type, config: checkConfig(type, input.config) };
  await changeDashboards(ctx, async (tx) => {
    await getOwnTab(tx, ctx, tabId);
    await checkWidgetLimit(tx, tabId);
    await checkReferences(tx, ctx, widget.config);
    await tx.insert(dashboardWidgets).values({ ...widget, tenantId: ctx.tenantId, tabId });
  });
  return widget;
}

/**
 * Replaces a widget's configuration, moves the widget to another tab, or both; a move removes it from the old tab's layout.
 * Throws 400 for a configuration its type does not allow, 404 also for the other tab and for anything the configuration refers to, 409
 * `LIMIT_REACHED`.
 */
export const changeWidget = (ctx: UserContext, widgetId: string, change: WidgetChange): Promise<DashboardWidget> =>
  changeDashboards(ctx, async (tx) => {
    const { tabId: from, ...widget } = await getOwnWidget(tx, ctx, widgetId);
    const { tabId = from } = change;
    const changed = { ...widget };
    if (change.config !== undefined) {
      checkWidgetType(widget.type);
      changed.config = checkConfig(widget.type, change.config);
      await checkReferences(tx, ctx, changed.config);
    }
    if (tabId !== from) {
      await getOwnTab(tx, ctx, tabId);
      await checkWidgetLimit(tx, tabId);
      await removeItems(tx, from, widgetId);
    }
    // A move does not write the configuration, because a concurrent delete may be removing an id from it.
    await tx
      .update(dashboardWidgets)
      .set({ tabId, ...(change.config && { config: changed.config }) })
      .where(eq(dashboardWidgets.id, widgetId));
    return changed;
  });

/** Removes a widget with its favorites, their icons and its place in the layout. Throws 404. */
export async function removeWidget(ctx: UserContext, widgetId: string): Promise<void> {
  const files = await changeDashboards(ctx, async (tx) => {
    const { tabId } = await getOwnWidget(tx, ctx, widgetId);
    await removeItems(tx, tabId, widgetId);
    return deleteWidgets(tx, [widgetId]);
  });
  await removeFiles(ctx, files);
}

/** One of the caller's widgets with the id of its tab. Throws 404. */
export async function getOwnWidget(tx: Pick<Tx, 'select'>, ctx: UserContext, widgetId: string) {
  const [widget] = await tx
    .select({ ...widgetColumns, tabId: dashboardWidgets.tabId })
    .from(dashboardWidgets)
    .innerJoin(dashboardTabs, tabOfWidget)
    .where(and(eq(dashboardWidgets.id, widgetId), eq(dashboardTabs.userId, ctx.actor.id)));
  if (!widget) throw notFound();
  return widget;
}

/** Deletes widgets with their favorites. Returns the icon files, which the caller removes after the commit. */
export async function deleteWidgets(tx: Tx, widgetIds: string[]): Promise<string[]> {
  if (widgetIds.length === 0) return [];
  const gone = await tx
    .delete(favorites)
    .where(inArray(favorites.widgetId, widgetIds))
    .returning({ iconPath: favorites.iconPath });
  await tx.delete(dashboardWidgets).where(inArray(dashboardWidgets.id, widgetIds));
  return gone.flatMap(({ iconPath }) => iconPath ?? []);
}

/** Removes the files of deleted rows; the sweep removes those this process does not reach. */
export async function removeFiles(ctx: UserContext, paths: string[]): Promise<void> {
  for (const path of paths) await ctx.files.remove(path);
}

/** Throws 409 `LIMIT_REACHED` if a tab has the maximum number of widgets. */
async function checkWidgetLimit(tx: Tx, tabId: string): Promise<void> {
  if ((await tx.$count(dashboardWidgets, eq(dashboardWidgets.tabId, tabId))) >= maxWidgets) {
    throw conflict(
      'LIMIT_REACHED',
      `There are ${maxWidgets} widgets on this dashboard already. Please remove one first.`,
    );
  }
}
