import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { dashboardImages, dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import type { WidgetConfig } from '@portal/domain/dashboards/widgets';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

/** Throws 404 unless all pictures a configuration names are the caller's. */
export async function checkOwnImages(tx: Tx, ctx: UserContext, config: WidgetConfig): Promise<void> {
  const imageIds = [...new Set(config['imageIds'] as string[] | undefined)];
  if (imageIds.length === 0) return;
  const own = await tx
    .select({ id: dashboardImages.id })
    .from(dashboardImages)
    .where(and(inArray(dashboardImages.id, imageIds), eq(dashboardImages.userId, ctx.actor.id)));
  if (own.length < imageIds.length) throw notFound();
}

/** Takes a deleted picture out of the caller's picture frames, so that none names what is not there. */
export async function forgetImage(tx: Tx, ctx: UserContext, imageId: string): Promise<void> {
  const ownTabs = tx.select({ id: dashboardTabs.id }).from(dashboardTabs).where(eq(dashboardTabs.userId, ctx.actor.id));
  await tx
    .update(dashboardWidgets)
    .set({
      config: sql`jsonb_set(${dashboardWidgets.config}, '{imageIds}', (${dashboardWidgets.config} -> 'imageIds') - ${imageId}::text)`,
    })
    .where(
      and(inArray(dashboardWidgets.tabId, ownTabs), sql`${dashboardWidgets.config} -> 'imageIds' ? ${imageId}::text`),
    );
}
