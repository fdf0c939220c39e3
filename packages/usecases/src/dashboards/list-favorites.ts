import { and, asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import type { Favorite } from '@portal/domain/dashboards/favorites';
import type { UserContext } from '@portal/platform/context';
import { tabOfWidget } from './list-widgets.ts';
import { getOwnWidget } from './own-widget.ts';

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

/** What leads from a favorite to the account it belongs to. */
export const widgetOfFavorite = and(
  eq(dashboardWidgets.tenantId, favorites.tenantId),
  eq(dashboardWidgets.id, favorites.widgetId),
);

/** The favorites of one widget in their order; none when it is not this account's. */
export const favoritesOfWidget = prepared<{ widgetId: string; userId: string }>()('favorites_of_widget', (db) =>
  db
    .select(favoriteColumns)
    .from(favorites)
    .innerJoin(dashboardWidgets, widgetOfFavorite)
    .innerJoin(dashboardTabs, tabOfWidget)
    .where(
      and(eq(favorites.widgetId, sql.placeholder('widgetId')), eq(dashboardTabs.userId, sql.placeholder('userId'))),
    )
    .orderBy(asc(favorites.position)),
);

const favoritesOfAccount = prepared<{ userId: string }>()('favorites_of_account', (db) =>
  db
    .select(favoriteColumns)
    .from(dashboardTabs)
    .innerJoin(dashboardWidgets, tabOfWidget)
    .innerJoin(favorites, widgetOfFavorite)
    .where(eq(dashboardTabs.userId, sql.placeholder('userId')))
    .orderBy(asc(favorites.widgetId), asc(favorites.position)),
);

/** The caller's favorites, those of one widget or all of them, widget by widget in their order. Throws 404 for a foreign widget. */
export async function listFavorites(ctx: UserContext, widgetId?: string): Promise<Favorite[]> {
  const userId = ctx.actor.id;
  if (widgetId === undefined) return ctx.run(favoritesOfAccount, { userId });
  const found = await ctx.run(favoritesOfWidget, { widgetId, userId });
  if (found.length === 0) await ctx.read((db) => getOwnWidget(db, ctx, widgetId));
  return found;
}
