import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { calendarSources } from '@portal/db/schema/calendar';
import { dashboardImages, dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import type { WidgetConfig } from '@portal/domain/dashboards/widgets';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

/** What of an account its widgets name, by the key of the configuration. */
const owned = { imageIds: dashboardImages, sourceIds: calendarSources };

/** Throws 404 unless everything that a configuration names is the caller's. */
export async function checkOwn(tx: Tx, ctx: UserContext, config: WidgetConfig): Promise<void> {
  for (const [key, table] of Object.entries(owned)) {
    const ids = [...new Set(config[key] as string[] | undefined)];
    if (ids.length === 0) continue;
    const count = await tx.$count(table, and(inArray(table.id, ids), eq(table.userId, ctx.actor.id)));
    if (count < ids.length) throw notFound();
  }
}

/** Takes what is being deleted out of the caller's widgets, so that none names what is not there. */
export async function forgetInWidgets(tx: Tx, ctx: UserContext, key: keyof typeof owned, id: string): Promise<void> {
  const ownTabs = tx.select({ id: dashboardTabs.id }).from(dashboardTabs).where(eq(dashboardTabs.userId, ctx.actor.id));
  const named = sql`${dashboardWidgets.config} -> ${key}::text`;
  await tx
    .update(dashboardWidgets)
    .set({ config: sql`jsonb_set(${dashboardWidgets.config}, array[${key}::text], (${named}) - ${id}::text)` })
    .where(and(inArray(dashboardWidgets.tabId, ownTabs), sql`(${named}) ? ${id}::text`));
}
