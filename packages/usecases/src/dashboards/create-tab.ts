import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import { type DashboardTab, lowestFreeName, maxTabs } from '@portal/domain/dashboards/tabs';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { tabsOf } from './list-tabs.ts';

/** Adds a tab behind the others, named 'Dashboard N' unless a name is given. Throws 409 `TAB_LIMIT`. */
export const createTab = (ctx: UserContext, name?: string): Promise<DashboardTab> =>
  changeDashboards(ctx, async (tx) => {
    const userId = ctx.actor.id;
    const tabs = await tx.run(tabsOf, { userId });
    if (tabs.length >= maxTabs) {
      throw conflict('TAB_LIMIT', `You have ${maxTabs} dashboards already. Please delete one you no longer need.`);
    }
    const tab = {
      id: newId(),
      tenantId: ctx.tenantId,
      userId,
      name: name ?? lowestFreeName(tabs.map((other) => other.name)),
      position: tabs.length,
    };
    await tx.insert(dashboardTabs).values(tab);
    return tab;
  });
