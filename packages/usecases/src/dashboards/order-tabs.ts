import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import type { DashboardTab } from '@portal/domain/dashboards/tabs';
import { checkCompleteOrder } from '@portal/domain/reorder';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { tabsOf } from './list-tabs.ts';

/** Puts the caller's tabs into this order. Throws 400 unless it is all of them, each once. */
export const orderTabs = (ctx: UserContext, tabIds: string[]): Promise<DashboardTab[]> =>
  changeDashboards(ctx, async (tx) => {
    const tabs = await tx.run(tabsOf, { userId: ctx.actor.id });
    checkCompleteOrder(
      tabs.map(({ id }) => id),
      tabIds,
    );
    await placeTabs(tx, ctx.actor.id, tabIds);
    return tx.run(tabsOf, { userId: ctx.actor.id });
  });

/** Numbers an account's tabs in this order, from 0 and without a gap. */
export async function placeTabs(tx: Tx, userId: string, tabIds: string[]): Promise<void> {
  await tx
    .update(dashboardTabs)
    .set({ position: sql`array_position(${sql.param(tabIds)}::uuid[], ${dashboardTabs.id}) - 1` })
    .where(eq(dashboardTabs.userId, userId));
}
