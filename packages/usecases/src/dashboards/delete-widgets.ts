import { inArray } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import type { UserContext } from '@portal/platform/context';

/** Deletes widgets with their favorites. Answers the files of the icons, which go once this is committed. */
export async function deleteWidgets(tx: Tx, widgetIds: string[]): Promise<string[]> {
  if (widgetIds.length === 0) return [];
  const gone = await tx
    .delete(favorites)
    .where(inArray(favorites.widgetId, widgetIds))
    .returning({ iconPath: favorites.iconPath });
  await tx.delete(dashboardWidgets).where(inArray(dashboardWidgets.id, widgetIds));
  return gone.flatMap(({ iconPath }) => iconPath ?? []);
}

/** Removes the files of deleted rows; those it does not get to are left to the sweep. */
export async function removeFiles(ctx: UserContext, paths: string[]): Promise<void> {
  for (const path of paths) await ctx.files.remove(path);
}
