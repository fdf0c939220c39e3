import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { tabOfWidget } from './widgets.ts';

export const favoriteColumns = {
  id: favorites.id,
  widgetId: favorites.widgetId,
  title: favorites.title,
  url: favorites.url,
  position: favorites.position,
  iconUrl: favorites.iconUrl,
  hasUploadedIcon: favorites.isIconUploaded,
  uploadedIconMime: sql<string | null>`case when ${favorites.isIconUploaded} then ${favorites.iconType} end`.as(
    'uploaded_icon_mime',
  ),
  iconVersion: favorites.iconVersion,
};

/** Joins a favorite with its widget, which leads to the owning account. */
export const widgetOfFavorite = and(
  eq(dashboardWidgets.tenantId, favorites.tenantId),
  eq(dashboardWidgets.id, favorites.widgetId),
);

const ownFavorite = prepared<{ favoriteId: string; userId: string }>()('own_favorite', (db) =>
  db
    .select({ id: favorites.id })
    .from(favorites)
    .innerJoin(dashboardWidgets, widgetOfFavorite)
    .innerJoin(dashboardTabs, tabOfWidget)
    .where(and(eq(favorites.id, sql.placeholder('favoriteId')), eq(dashboardTabs.userId, sql.placeholder('userId')))),
);

/** Throws 404 unless the favorite belongs to the caller. */
export async function checkOwnFavorite(ctx: UserContext, favoriteId: string): Promise<void> {
  const [found] = await ctx.run(ownFavorite, { favoriteId, userId: ctx.actor.id });
  if (!found) throw notFound();
}

/** One of the caller's favorites, locked against the worker that stores a found icon. Throws 404. */
export async function lockOwnFavorite(
  tx: Tx,
  ctx: UserContext,
  favoriteId: string,
): Promise<typeof favorites.$inferSelect> {
  const [found] = await tx
    .select({ favorite: favorites })
    .from(favorites)
    .innerJoin(dashboardWidgets, widgetOfFavorite)
    .innerJoin(dashboardTabs, tabOfWidget)
    .where(and(eq(favorites.id, favoriteId), eq(dashboardTabs.userId, ctx.actor.id)))
    .for('update', { of: favorites });
  if (!found) throw notFound();
  return found.favorite;
}
