import { eq, sql } from 'drizzle-orm';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import type { Favorite, FavoriteChange } from '@portal/domain/dashboards/favorites';
import type { UserContext } from '@portal/platform/context';
import { addIconSearch } from './add-icon-search.ts';
import { discoverIcon } from './jobs.ts';
import { favoriteColumns } from './list-favorites.ts';
import { lockOwnFavorite } from './own-favorite.ts';

/**
 * Changes what is named. An icon that belongs to the address before goes, and another one is looked for;
 * an uploaded one stays whatever changes. Throws 404.
 */
export async function changeFavorite(ctx: UserContext, favoriteId: string, change: FavoriteChange): Promise<Favorite> {
  const search = { tenantId: ctx.tenantId, favoriteId };
  const { favorite, staleFile, runId } = await ctx.tx(async (tx) => {
    const before = await lockOwnFavorite(tx, ctx, favoriteId);
    const { title = before.title, url = before.url } = change;
    const namedBefore = before.isIconUrlNamed ? before.iconUrl : null;
    const named = change.iconUrl === undefined ? namedBefore : change.iconUrl;
    const isSourceNew = named !== namedBefore || (named === null && url !== before.url);
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
    if (!changed) throw new Error('an update of a locked row answered none');
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
