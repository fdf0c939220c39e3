import { and, eq } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { tabOfWidget, widgetColumns } from './list-widgets.ts';

/** One of the caller's widgets and the tab it stands on. Throws 404. */
export async function getOwnWidget(tx: Pick<Tx, 'select'>, ctx: UserContext, widgetId: string) {
  const [widget] = await tx
    .select({ ...widgetColumns, tabId: dashboardWidgets.tabId })
    .from(dashboardWidgets)
    .innerJoin(dashboardTabs, tabOfWidget)
    .where(and(eq(dashboardWidgets.id, widgetId), eq(dashboardTabs.userId, ctx.actor.id)));
  if (!widget) throw notFound();
  return widget;
}
