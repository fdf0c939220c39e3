import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import { withoutWidget } from '@portal/domain/dashboards/grid';

/** Gives up a widget's place in its tab's stored layout and raises the revision, so that nobody saves it back. */
export async function removeItems(tx: Tx, tabId: string, widgetId: string): Promise<void> {
  const [stored] = await tx
    .select({ layouts: dashboardTabs.layouts })
    .from(dashboardTabs)
    .where(eq(dashboardTabs.id, tabId));
  if (!stored?.layouts) return;
  await tx
    .update(dashboardTabs)
    .set({
      layouts: withoutWidget(stored.layouts, widgetId),
      layoutRevision: sql`${dashboardTabs.layoutRevision} + 1`,
      layoutUpdatedAt: sql`now()`,
    })
    .where(eq(dashboardTabs.id, tabId));
}
