import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import type { Favorite } from '@portal/domain/dashboards/favorites';
import { invalidField } from '@portal/domain/errors';
import { checkCompleteOrder } from '@portal/domain/reorder';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from './change-dashboards.ts';
import { favoritesOfWidget } from './list-favorites.ts';
import { getOwnWidget } from './own-widget.ts';

/**
 * Puts the favorites of one widget into this order, the one named or else the one the first of them belongs to.
 * Throws 400 unless it is all of that widget's, each once, 404 when the widget named is not the caller's.
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
