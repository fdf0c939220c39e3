import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Tx } from '@portal/db/open';
import { calendarSources } from '@portal/db/schema/calendar';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { dashboardImages, dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { monitoredServers } from '@portal/db/schema/monitoring/servers';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import type { WidgetConfig } from '@portal/domain/dashboards/widgets';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

interface ReferencedTable {
  id: PgColumn;
  /** The owning account; without this column, the row belongs to the tenant. */
  userId?: PgColumn;
}

/** The tables widgets refer to, by the key of the configuration. */
const referenced = {
  imageIds: dashboardImages,
  sourceIds: calendarSources,
  savedSearchId: savedSearches,
  serverIds: monitoredServers,
  instanceIds: cloudInstances,
} satisfies Record<string, ReferencedTable>;

/** Throws 404 unless everything a configuration refers to exists and belongs to the caller or the tenant. */
export async function checkReferences(tx: Tx, ctx: UserContext, config: WidgetConfig): Promise<void> {
  for (const [key, table] of Object.entries(referenced)) {
    const ids = [...new Set([config[key] ?? []].flat() as string[])];
    if (ids.length === 0) continue;
    const { id, userId }: ReferencedTable = table;
    // The lock makes a concurrent delete wait until the widget is stored, and then remove the id from it.
    const found = await tx
      .select({ id })
      .from(table)
      .where(and(inArray(id, ids), userId && eq(userId, ctx.actor.id)))
      .for('key share');
    if (found.length < ids.length) throw notFound();
  }
}

/** Removes the id of a deleted row from all widgets that may refer to it. */
export async function forgetInWidgets(
  tx: Tx,
  ctx: UserContext,
  key: keyof typeof referenced,
  id: string,
): Promise<void> {
  const { userId }: ReferencedTable = referenced[key];
  const ownTabs = tx.select({ id: dashboardTabs.id }).from(dashboardTabs).where(eq(dashboardTabs.userId, ctx.actor.id));
  const reference = sql`${dashboardWidgets.config} -> ${key}::text`;
  // Lock in a fixed order, so that two concurrent deletes do not deadlock.
  const referring = tx
    .select({ id: dashboardWidgets.id })
    .from(dashboardWidgets)
    .where(and(userId && inArray(dashboardWidgets.tabId, ownTabs), sql`(${reference}) ? ${id}::text`))
    .orderBy(asc(dashboardWidgets.id))
    .for('update');
  await tx
    .update(dashboardWidgets)
    .set({
      config: sql`case jsonb_typeof(${reference})
        when 'array' then jsonb_set(${dashboardWidgets.config}, array[${key}::text], (${reference}) - ${id}::text)
        else ${dashboardWidgets.config} - ${key}::text end`,
    })
    .where(inArray(dashboardWidgets.id, referring));
}
