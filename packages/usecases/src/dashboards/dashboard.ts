import type { Dashboard } from '@portal/domain/dashboards/dashboard';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { listFavoritesOfTab } from './favorites.ts';
import { listImages } from './images.ts';
import { getLayout } from './layout.ts';
import { listTabs } from './tabs.ts';
import { listWidgets } from './widgets.ts';

/** All that a dashboard's page shows first; of the first dashboard unless `tabId` names one. Throws 404. */
export async function getDashboard(ctx: UserContext, tabId?: string): Promise<Dashboard> {
  const tabs = await listTabs(ctx);
  const shown = tabId === undefined ? tabs[0] : tabs.find(({ id }) => id === tabId);
  if (!shown) throw notFound();
  const [layout, widgets, favorites, images] = await Promise.all([
    getLayout(ctx, shown.id),
    listWidgets(ctx, shown.id),
    listFavoritesOfTab(ctx, shown.id),
    listImages(ctx),
  ]);
  return { tabId: shown.id, tabs, layout, widgets, favorites, images };
}
