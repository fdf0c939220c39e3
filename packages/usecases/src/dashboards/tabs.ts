import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { type DashboardTab, lowestFreeName, maxTabs } from '@portal/domain/dashboards/tabs';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { checkCompleteOrder } from '@portal/domain/reorder';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { tabColumns, tabsOf } from './own-tabs.ts';
import { deleteWidgets, removeFiles } from './widgets.ts';

/** The caller's tabs in order. Creates the first tab of an account without tabs, only once even for concurrent calls. */
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

/** Adds a tab at the end, named 'Dashboard N' unless a name is given. Throws 409 `TAB_LIMIT`. */
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

/** Puts the caller's tabs into this order. Throws 400 unless `tabIds` names every tab exactly once. */
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

/** Deletes a tab with its widgets and everything that belongs to them, and renumbers the others. Throws 404, 409 `LAST_TAB`. */
export async function deleteTab(ctx: UserContext, tabId: string): Promise<void> {
  const files = await changeDashboards(ctx, async (tx) => {
    const tabs = await tx.run(tabsOf, { userId: ctx.actor.id });
    const others = tabs.map(({ id }) => id).filter((id) => id !== tabId);
    if (others.length === tabs.length) throw notFound();
    if (others.length === 0) throw conflict('LAST_TAB');
    const widgets = await tx
      .select({ id: dashboardWidgets.id })
      .from(dashboardWidgets)
      .where(eq(dashboardWidgets.tabId, tabId));
    const icons = await deleteWidgets(
      tx,
      widgets.map(({ id }) => id),
    );
    await tx.delete(dashboardTabs).where(eq(dashboardTabs.id, tabId));
    await placeTabs(tx, ctx.actor.id, others);
    return icons;
  });
  await removeFiles(ctx, files);
}

/** Numbers an account's tabs in this order, from 0 without gaps. */
async function placeTabs(tx: Tx, userId: string, tabIds: string[]): Promise<void> {
  await tx
    .update(dashboardTabs)
    .set({ position: sql`array_position(${sql.param(tabIds)}::uuid[], ${dashboardTabs.id}) - 1` })
    .where(eq(dashboardTabs.userId, userId));
}
