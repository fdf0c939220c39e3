import { eq } from 'drizzle-orm';
import { dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import {
  checkConfig,
  checkWidgetType,
  type DashboardWidget,
  type WidgetChange,
} from '@portal/domain/dashboards/widgets';
import type { UserContext } from '@portal/platform/context';
import { checkRoom } from './add-widget.ts';
import { changeDashboards } from './change-dashboards.ts';
import { checkOwnImages } from './images-of-widget.ts';
import { removeItems } from './layout-items.ts';
import { getOwnTab } from './own-tab.ts';
import { getOwnWidget } from './own-widget.ts';

/**
 * Replaces a widget's configuration, moves it to another tab, or both; its place on the tab it leaves is given up.
 * Throws 400 for a configuration its type does not allow, 404 also for the other tab and for pictures, 409 `LIMIT_REACHED`.
 */
export const changeWidget = (ctx: UserContext, widgetId: string, change: WidgetChange): Promise<DashboardWidget> =>
  changeDashboards(ctx, async (tx) => {
    const { tabId: from, ...widget } = await getOwnWidget(tx, ctx, widgetId);
    const { tabId = from } = change;
    const changed = { ...widget };
    if (change.config !== undefined) {
      checkWidgetType(widget.type);
      changed.config = checkConfig(widget.type, change.config);
      await checkOwnImages(tx, ctx, changed.config);
    }
    if (tabId !== from) {
      await getOwnTab(tx, ctx, tabId);
      await checkRoom(tx, tabId);
      await removeItems(tx, from, widgetId);
    }
    await tx.update(dashboardWidgets).set({ config: changed.config, tabId }).where(eq(dashboardWidgets.id, widgetId));
    return changed;
  });
