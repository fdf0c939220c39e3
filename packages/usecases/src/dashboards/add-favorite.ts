import { eq } from 'drizzle-orm';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { type Favorite, maxFavorites, type NewFavorite } from '@portal/domain/dashboards/favorites';
import { conflict, invalidField } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { addOperation } from '@portal/platform/operations/start';
import { changeDashboards } from './change-dashboards.ts';
import { discoverIcon } from './jobs.ts';
import { favoriteColumns } from './list-favorites.ts';
import { getOwnWidget } from './own-widget.ts';

/**
 * Adds a favorite behind the others of its widget and has its icon looked for. Throws 404 for a widget that is not the caller's,
 * 400 for one of another type, 409 `LIMIT_REACHED` at 200.
 */
export async function addFavorite(
  ctx: UserContext,
  { widgetId, iconUrl = null, ...fields }: NewFavorite,
): Promise<Favorite> {
  const search = { tenantId: ctx.tenantId, favoriteId: newId() };
  const { favorite, runId } = await changeDashboards(ctx, async (tx) => {
    const widget = await getOwnWidget(tx, ctx, widgetId);
    if (widget.type !== 'favorites') throw invalidField('widgetId', 'must be a widget of the type favorites');
    const position = await tx.$count(favorites, eq(favorites.widgetId, widgetId));
    if (position >= maxFavorites) {
      throw conflict('LIMIT_REACHED', `This widget has ${maxFavorites} favorites already. Please use another one.`);
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
    if (!added) throw new Error('an insert answered no row');
    return { favorite: added, runId: await addOperation(tx, discoverIcon, search, { startedBy: ctx.actor.id }) };
  });
  await ctx.enqueue(discoverIcon, search, { runId });
  return favorite;
}
