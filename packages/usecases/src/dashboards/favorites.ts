import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import {
  type Favorite,
  type FavoriteChange,
  maxFavorites,
  maxFavoritesOfAccount,
  maxFavoritesOfTab,
  type NewFavorite,
} from '@portal/domain/dashboards/favorites';
import { conflict, invalidField } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { checkCompleteOrder } from '@portal/domain/reorder';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { addIconSearch } from './favorite-icon.ts';
import { discoverIcon } from './jobs.ts';
import { favoriteColumns, lockOwnFavorite, widgetOfFavorite } from './own-favorite.ts';
import { getOwnWidget, tabOfWidget } from './widgets.ts';

/** The favorites of one widget in order; none if the widget belongs to another account. */
const favoritesOfWidget = prepared<{ widgetId: string; userId: string }>()('favorites_of_widget', (db) =>
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

const favoritesOfTab = prepared<{ tabId: string; userId: string }>()('favorites_of_tab', (db) =>
  db
    .select(favoriteColumns)
    .from(dashboardTabs)
    .innerJoin(dashboardWidgets, tabOfWidget)
    .innerJoin(favorites, widgetOfFavorite)
    .where(and(eq(dashboardTabs.id, sql.placeholder('tabId')), eq(dashboardTabs.userId, sql.placeholder('userId'))))
    .orderBy(asc(favorites.widgetId), asc(favorites.position))
    .limit(maxFavoritesOfTab + 1),
);

/**
 * The caller's favorites of one dashboard, widget by widget in order; none if it belongs to another account, null if there are more than
 * 1,000.
 */
export async function listFavoritesOfTab(ctx: UserContext, tabId: string): Promise<Favorite[] | null> {
  const found = await ctx.run(favoritesOfTab, { tabId, userId: ctx.actor.id });
  return found.length > maxFavoritesOfTab ? null : found;
}

/** The caller's favorites of one widget or of all widgets, widget by widget in order. Throws 404 for another account's widget. */
export async function listFavorites(ctx: UserContext, widgetId?: string): Promise<Favorite[]> {
  const userId = ctx.actor.id;
  if (widgetId === undefined) return ctx.run(favoritesOfAccount, { userId });
  const found = await ctx.run(favoritesOfWidget, { widgetId, userId });
  if (found.length === 0) await ctx.read((db) => getOwnWidget(db, ctx, widgetId));
  return found;
}

/**
 * Adds a favorite at the end of its widget and starts a search for its icon. Throws 404 for another account's widget, 400 for a widget of
 * another type, 409 `LIMIT_REACHED` at 200 in the widget or 2,000 in all.
 */
export async function addFavorite(
  ctx: UserContext,
  { widgetId, iconUrl = null, ...fields }: NewFavorite,
): Promise<Favorite> {
  const search = { tenantId: ctx.tenantId, favoriteId: newId() };
  const { favorite, runId } = await changeDashboards(ctx, async (tx) => {
    const widget = await getOwnWidget(tx, ctx, widgetId);
    if (widget.type !== 'favorites') throw invalidField('widgetId', 'must be a widget of the type favorites');
    const { ofWidget: position, ofAccount } = await countFavorites(tx, ctx, widgetId);
    if (position >= maxFavorites) {
      throw conflict('LIMIT_REACHED', `This widget has ${maxFavorites} favorites already. Please use another one.`);
    }
    if (ofAccount >= maxFavoritesOfAccount) {
      throw conflict(
        'LIMIT_REACHED',
        `Your widgets have ${maxFavoritesOfAccount} favorites already. Please delete one that you no longer need.`,
      );
    }
    const [added] = await tx
      .insert(favorites)
      .values({
        id: search.favoriteId,
        tenantId: ctx.tenantId,
        widgetId,
        ...fields,
        position,
        iconUrl,
        isIconUrlNamed: iconUrl !== null,
      })
      .returning(favoriteColumns);
    if (!added) throw new Error('an insert returned no row');
    return { favorite: added, runId: await addIconSearch(tx, ctx, search.favoriteId) };
  });
  if (runId !== null) await ctx.enqueue(discoverIcon, search, { runId });
  return favorite;
}

async function countFavorites(
  tx: Tx,
  ctx: UserContext,
  widgetId: string,
): Promise<{ ofWidget: number; ofAccount: number }> {
  const [counts] = await tx
    .select({
      ofWidget: sql<number>`(count(*) filter (where ${favorites.widgetId} = ${widgetId}))::int`,
      ofAccount: sql<number>`count(*)::int`,
    })
    .from(dashboardTabs)
    .innerJoin(dashboardWidgets, tabOfWidget)
    .innerJoin(favorites, widgetOfFavorite)
    .where(eq(dashboardTabs.userId, ctx.actor.id));
  if (!counts) throw new Error('a count returned no row');
  return counts;
}

/**
 * Changes the fields of `change`. If the address changes, removes an icon found for the old address and starts a new search; an uploaded
 * icon always stays. Throws 404.
 */
export async function changeFavorite(ctx: UserContext, favoriteId: string, change: FavoriteChange): Promise<Favorite> {
  const search = { tenantId: ctx.tenantId, favoriteId };
  const { favorite, staleFile, runId } = await ctx.tx(async (tx) => {
    const before = await lockOwnFavorite(tx, ctx, favoriteId);
    const { title = before.title, url = before.url } = change;
    const namedBefore = before.isIconUrlNamed ? before.iconUrl : null;
    const named = change.iconUrl === undefined ? namedBefore : change.iconUrl;
    // Null requests another search for an icon that was found.
    const isSoughtAgain = change.iconUrl === null && before.iconUrl !== null;
    const isSourceNew = named !== namedBefore || isSoughtAgain || (named === null && url !== before.url);
    const dropsIcon = isSourceNew && !before.isIconUploaded;
    const [changed] = await tx
      .update(favorites)
      .set({
        title,
        url,
        ...(isSourceNew && {
          iconUrl: named,
          isIconUrlNamed: named !== null,
          iconVersion: sql`${favorites.iconVersion} + 1`,
        }),
        ...(dropsIcon && { iconPath: null, iconType: null }),
      })
      .where(eq(favorites.id, favoriteId))
      .returning(favoriteColumns);
    if (!changed) throw new Error('an update of a locked row returned no row');
    return {
      favorite: changed,
      staleFile: dropsIcon ? before.iconPath : null,
      runId: dropsIcon ? await addIconSearch(tx, ctx, favoriteId) : null,
    };
  });
  if (staleFile !== null) await ctx.files.remove(staleFile);
  if (runId !== null) await ctx.enqueue(discoverIcon, search, { runId });
  return favorite;
}

/** Deletes a favorite with its icon and renumbers the others. Throws 404. */
export async function deleteFavorite(ctx: UserContext, favoriteId: string): Promise<void> {
  const file = await changeDashboards(ctx, async (tx) => {
    const { widgetId, position, iconPath } = await lockOwnFavorite(tx, ctx, favoriteId);
    await tx.delete(favorites).where(eq(favorites.id, favoriteId));
    await tx
      .update(favorites)
      .set({ position: sql`${favorites.position} - 1` })
      .where(and(eq(favorites.widgetId, widgetId), gt(favorites.position, position)));
    return iconPath;
  });
  if (file !== null) await ctx.files.remove(file);
}

/**
 * Puts the favorites of one widget into this order: of `widgetId`, otherwise of the widget of the first id. Throws 400 unless `ids` names
 * every favorite of the widget exactly once, 404 if `widgetId` is another account's.
 */
export const orderFavorites = (
  ctx: UserContext,
  { widgetId: named, ids }: { widgetId?: string | undefined; ids: string[] },
): Promise<Favorite[]> =>
  changeDashboards(ctx, async (tx) => {
    const widgetId = named ?? (await widgetOf(tx, ids[0]));
    if (named !== undefined) await getOwnWidget(tx, ctx, named);
    if (widgetId === undefined) throw invalidField('ids', 'must be the complete list of one widget');
    const widget = { widgetId, userId: ctx.actor.id };
    const current = await tx.run(favoritesOfWidget, widget);
    checkCompleteOrder(
      current.map(({ id }) => id),
      ids,
    );
    await tx
      .update(favorites)
      .set({ position: sql`array_position(${sql.param(ids)}::uuid[], ${favorites.id}) - 1` })
      .where(eq(favorites.widgetId, widgetId));
    return tx.run(favoritesOfWidget, widget);
  });

async function widgetOf(tx: Tx, favoriteId: string | undefined): Promise<string | undefined> {
  if (favoriteId === undefined) return undefined;
  const [found] = await tx.select({ widgetId: favorites.widgetId }).from(favorites).where(eq(favorites.id, favoriteId));
  return found?.widgetId;
}
