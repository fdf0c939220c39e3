import { and, asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import type { DashboardWidget } from '@portal/domain/dashboards/widgets';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { tabsOf } from './list-tabs.ts';

export const widgetColumns = {
  id: dashboardWidgets.id,
  type: dashboardWidgets.type,
  config: dashboardWidgets.config,
};

/** What leads from a widget to the account it belongs to. */
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

/** The widgets of a tab in the order they were made. Throws 404. */
export async function listWidgets(ctx: UserContext, tabId: string): Promise<DashboardWidget[]> {
  const userId = ctx.actor.id;
  const widgets = await ctx.run(widgetsOf, { tabId, userId });
  if (widgets.length > 0) return widgets;
  const tabs = await ctx.run(tabsOf, { userId });
  if (!tabs.some(({ id }) => id === tabId)) throw notFound();
  return [];
}
