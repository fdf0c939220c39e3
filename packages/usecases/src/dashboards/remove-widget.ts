import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { deleteWidgets, removeFiles } from './delete-widgets.ts';
import { removeItems } from './layout-items.ts';
import { getOwnWidget } from './own-widget.ts';

/** Removes a widget with its favorites, their icons and its place on the tab. Throws 404. */
export async function removeWidget(ctx: UserContext, widgetId: string): Promise<void> {
  const files = await changeDashboards(ctx, async (tx) => {
    const { tabId } = await getOwnWidget(tx, ctx, widgetId);
    await removeItems(tx, tabId, widgetId);
    return deleteWidgets(tx, [widgetId]);
  });
  await removeFiles(ctx, files);
}
