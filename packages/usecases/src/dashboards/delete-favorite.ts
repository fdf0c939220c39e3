import { and, eq, gt, sql } from 'drizzle-orm';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { lockOwnFavorite } from './own-favorite.ts';

/** Deletes a favorite with its icon and closes the gap it leaves. Throws 404. */
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
