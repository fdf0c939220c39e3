import { and, eq } from 'drizzle-orm';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import type { Profile } from '@portal/domain/accounts/accounts';
import type { DashboardBackground } from '@portal/domain/dashboards/background';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { writeOwnProfile } from '../accounts/own-profile.ts';
import { changeDashboards } from './change-dashboards.ts';

/** Sets the background of the caller's dashboards. Throws 404 for a picture that is not the caller's. */
export const setDashboardBackground = (ctx: UserContext, background: DashboardBackground): Promise<Profile> =>
  // Inside this transaction, no other request can delete the picture between the check and the write.
  changeDashboards(ctx, async (tx) => {
    if (background.kind === 'image') {
      const { imageId } = background;
      const [image] = await tx
        .select({ id: dashboardImages.id })
        .from(dashboardImages)
        .where(and(eq(dashboardImages.id, imageId), eq(dashboardImages.userId, ctx.actor.id)));
      if (!image) throw notFound();
    }
    return writeOwnProfile(tx, ctx, { dashboardBackground: background });
  });
