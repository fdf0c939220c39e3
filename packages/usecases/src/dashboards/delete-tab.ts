import { eq } from 'drizzle-orm';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { conflict, notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { deleteWidgets, removeFiles } from './delete-widgets.ts';
import { tabsOf } from './list-tabs.ts';
import { placeTabs } from './order-tabs.ts';

/** Deletes a tab with its widgets and all that hangs on them, and closes the gap it leaves. Throws 404, 409 `LAST_TAB`. */
export async function deleteTab(ctx: UserContext, tabId: string): Promise<void> {
  const files = await changeDashboards(ctx, async (tx) => {
    const tabs = await tx.run(tabsOf, { userId: ctx.actor.id });
    const others = tabs.map(({ id }) => id).filter((id) => id !== tabId);
    if (others.length === tabs.length) throw notFound();
    if (others.length === 0) throw conflict('LAST_TAB', 'This is your last dashboard, and it stays.');
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
