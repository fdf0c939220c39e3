import { asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import { type DashboardTab, lowestFreeName } from '@portal/domain/dashboards/tabs';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';

export const tabColumns = { id: dashboardTabs.id, name: dashboardTabs.name, position: dashboardTabs.position };

/** An account's tabs in their order. */
export const tabsOf = prepared<{ userId: string }>()('dashboard_tabs', (db) =>
  db
    .select(tabColumns)
    .from(dashboardTabs)
    .where(eq(dashboardTabs.userId, sql.placeholder('userId')))
    .orderBy(asc(dashboardTabs.position)),
);

/** The caller's tabs in their order; who has none gets the first one now, once however many ask at the same time. */
export async function listTabs(ctx: UserContext): Promise<DashboardTab[]> {
  const userId = ctx.actor.id;
  const tabs = await ctx.run(tabsOf, { userId });
  if (tabs.length > 0) return tabs;
  return changeDashboards(ctx, async (tx) => {
    const madeMeanwhile = await tx.run(tabsOf, { userId });
    if (madeMeanwhile.length > 0) return madeMeanwhile;
    const first = { id: newId(), tenantId: ctx.tenantId, userId, name: lowestFreeName([]), position: 0 };
    return tx.insert(dashboardTabs).values(first).returning(tabColumns);
  });
}
