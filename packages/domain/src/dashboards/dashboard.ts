import { z } from 'zod';
import { Id } from '../ids.ts';
import { DashboardLayout } from './grid.ts';
import { DashboardTab } from './tabs.ts';
import { DashboardWidget } from './widgets.ts';

export const Dashboard = z
  .object({
    tabId: Id.describe('The dashboard that `layout` and `widgets` belong to'),
    tabs: z.array(DashboardTab).describe('All dashboards of the account, in display order'),
    layout: DashboardLayout,
    widgets: z.array(DashboardWidget),
  })
  .meta({ id: 'Dashboard' });
export type Dashboard = z.output<typeof Dashboard>;
