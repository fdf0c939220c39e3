import { and, eq } from 'drizzle-orm';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { clearBackgroundImage } from '../accounts/update-own-profile.ts';
import { changeDashboards } from './change-dashboards.ts';
import { forgetImage } from './images-of-widget.ts';

/** Deletes one of the caller's pictures, row and file; a background or picture frame that showed it does without. Throws 404. */
export async function deleteImage(ctx: UserContext, imageId: string): Promise<void> {
  const path = await changeDashboards(ctx, async (tx) => {
    const [deleted] = await tx
      .delete(dashboardImages)
      .where(and(eq(dashboardImages.id, imageId), eq(dashboardImages.userId, ctx.actor.id)))
      .returning({ path: dashboardImages.storagePath });
    if (!deleted) throw notFound();
    await clearBackgroundImage(tx, ctx.actor.id, imageId);
    await forgetImage(tx, ctx, imageId);
    return deleted.path;
  });
  await ctx.files.remove(path);
}
