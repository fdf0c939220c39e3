import { and, eq } from 'drizzle-orm';
import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import type { DashboardTab } from '@portal/domain/dashboards/tabs';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { tabColumns } from './list-tabs.ts';

/** Throws 404. */
export async function renameTab(ctx: UserContext, tabId: string, name: string): Promise<DashboardTab> {
  const [renamed] = await ctx.tx((tx) =>
    tx
      .update(dashboardTabs)
      .set({ name })
      .where(and(eq(dashboardTabs.id, tabId), eq(dashboardTabs.userId, ctx.actor.id)))
      .returning(tabColumns),
  );
  if (!renamed) throw notFound();
  return renamed;
}
