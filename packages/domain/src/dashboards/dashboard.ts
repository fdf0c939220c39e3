import { z } from 'zod';
import { Id } from '../ids.ts';
import { Favorite, maxFavoritesOfTab } from './favorites.ts';
import { DashboardLayout } from './grid.ts';
import { DashboardImage, DashboardTab } from './tabs.ts';
import { DashboardWidget } from './widgets.ts';

export const Dashboard = z
  .object({
    tabId: Id.describe('The dashboard that `layout`, `widgets` and `favorites` belong to'),
    tabs: z.array(DashboardTab).describe('All dashboards of the account, in display order'),
    layout: DashboardLayout,
    widgets: z.array(DashboardWidget),
    favorites: z
      .array(Favorite)
      .nullable()
      .describe(
        `The favorites of its widgets, widget by widget in order. Null if there are more than ${maxFavoritesOfTab}: then read them for each widget`,
      ),
    images: z.array(DashboardImage).describe('All pictures of the account, which picture frames name by their id'),
  })
  .meta({ id: 'Dashboard' });
export type Dashboard = z.output<typeof Dashboard>;
