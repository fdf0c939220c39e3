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

interface Nameable {
  id: PgColumn;
  /** The account it belongs to; without one it is the tenant's. */
  userId?: PgColumn;
}

/** What widgets name, by the key of the configuration. */
const nameable = {
  imageIds: dashboardImages,
  sourceIds: calendarSources,
  savedSearchId: savedSearches,
  serverIds: monitoredServers,
  instanceIds: cloudInstances,
} satisfies Record<string, Nameable>;

/** Throws 404 unless everything that a configuration names is there, the caller's own or the tenant's. */
export async function checkNamed(tx: Tx, ctx: UserContext, config: WidgetConfig): Promise<void> {
  for (const [key, table] of Object.entries(nameable)) {
    const ids = [...new Set([config[key] ?? []].flat() as string[])];
    if (ids.length === 0) continue;
    const { id, userId }: Nameable = table;
    // Whoever deletes one of them waits until the widget is there, and takes it out.
    const found = await tx
      .select({ id })
      .from(table)
      .where(and(inArray(id, ids), userId && eq(userId, ctx.actor.id)))
      .for('key share');
    if (found.length < ids.length) throw notFound();
  }
}

/** Takes what is being deleted out of the widgets it may stand in, so that none names what is not there. */
export async function forgetInWidgets(tx: Tx, ctx: UserContext, key: keyof typeof nameable, id: string): Promise<void> {
  const { userId }: Nameable = nameable[key];
  const ownTabs = tx.select({ id: dashboardTabs.id }).from(dashboardTabs).where(eq(dashboardTabs.userId, ctx.actor.id));
  const named = sql`${dashboardWidgets.config} -> ${key}::text`;
  // In one order, so that two deletions at once do not wait for each other.
  const naming = tx
    .select({ id: dashboardWidgets.id })
    .from(dashboardWidgets)
    .where(and(userId && inArray(dashboardWidgets.tabId, ownTabs), sql`(${named}) ? ${id}::text`))
    .orderBy(asc(dashboardWidgets.id))
    .for('update');
  await tx
    .update(dashboardWidgets)
    .set({
      config: sql`case jsonb_typeof(${named})
        when 'array' then jsonb_set(${dashboardWidgets.config}, array[${key}::text], (${named}) - ${id}::text)
        else ${dashboardWidgets.config} - ${key}::text end`,
    })
    .where(inArray(dashboardWidgets.id, naming));
}
