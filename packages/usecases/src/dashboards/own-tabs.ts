import { and, asc, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { dashboardTabs } from '@portal/db/schema/dashboards/tabs';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

export const tabColumns = { id: dashboardTabs.id, name: dashboardTabs.name, position: dashboardTabs.position };

/** An account's tabs in their order. */
export const tabsOf = prepared<{ userId: string }>()('dashboard_tabs', (db) =>
  db
    .select(tabColumns)
    .from(dashboardTabs)
    .where(eq(dashboardTabs.userId, sql.placeholder('userId')))
    .orderBy(asc(dashboardTabs.position)),
);

const ownTab = prepared<{ tabId: string; userId: string }>()('dashboard_tab', (db) =>
  db
    .select({ gridVersion: dashboardTabs.gridVersion, revision: dashboardTabs.layoutRevision })
    .from(dashboardTabs)
    .where(and(eq(dashboardTabs.id, sql.placeholder('tabId')), eq(dashboardTabs.userId, sql.placeholder('userId')))),
);

/** Grid version (null without a stored layout) and layout revision of one of the caller's tabs. Throws 404. */
export async function getOwnTab(
  tx: Tx,
  ctx: UserContext,
  tabId: string,
): Promise<{ gridVersion: number | null; revision: number }> {
  const [tab] = await tx.run(ownTab, { tabId, userId: ctx.actor.id });
  if (!tab) throw notFound();
  return tab;
}
