import { eq } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { maxWidgets } from '@portal/domain/dashboards/tabs';
import {
  checkConfig,
  checkWidgetType,
  type DashboardWidget,
  type WidgetConfig,
  widgetKinds,
} from '@portal/domain/dashboards/widgets';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { checkModuleAccess } from '../modules/module-access.ts';
import { changeDashboards } from './change-dashboards.ts';
import { checkOwnImages } from './images-of-widget.ts';
import { getOwnTab } from './own-tab.ts';

/**
 * Adds a widget to a tab. Throws 400 `INVALID_WIDGET_TYPE`, 403 `MODULE_DISABLED` or `MODULE_ACCESS_DENIED` when it shows a module
 * the caller may not use, 404 for the tab and for pictures, 409 `LIMIT_REACHED` at 60. A grant lost later leaves the widget.
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
    await checkRoom(tx, tabId);
    await checkOwnImages(tx, ctx, widget.config);
    await tx.insert(dashboardWidgets).values({ ...widget, tenantId: ctx.tenantId, tabId });
  });
  return widget;
}

/** Throws 409 `LIMIT_REACHED` when a tab holds as many widgets as it may. */
export async function checkRoom(tx: Tx, tabId: string): Promise<void> {
  if ((await tx.$count(dashboardWidgets, eq(dashboardWidgets.tabId, tabId))) >= maxWidgets) {
    throw conflict(
      'LIMIT_REACHED',
      `There are ${maxWidgets} widgets on this dashboard already. Please remove one first.`,
    );
  }
}
