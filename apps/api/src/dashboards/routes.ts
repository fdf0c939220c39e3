import type { App } from '../zod-app.ts';
import { registerFavorites } from './favorite-routes.ts';
import { registerDashboardImages } from './image-routes.ts';
import { registerTabs } from './tab-routes.ts';
import { registerWidgets } from './widget-routes.ts';

export function registerDashboards(app: App): void {
  registerTabs(app);
  registerWidgets(app);
  registerDashboardImages(app);
  registerFavorites(app);
}
