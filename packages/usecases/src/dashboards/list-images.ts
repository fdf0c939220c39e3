import { asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import type { DashboardImage } from '@portal/domain/dashboards/tabs';
import type { UserContext } from '@portal/platform/context';

export const imageColumns = {
  id: dashboardImages.id,
  originalName: dashboardImages.originalName,
  type: dashboardImages.type,
  sizeBytes: dashboardImages.sizeBytes,
  createdAt: dashboardImages.createdAt,
};

const imagesOf = prepared<{ userId: string }>()('dashboard_images', (db) =>
  db
    .select(imageColumns)
    .from(dashboardImages)
    .where(eq(dashboardImages.userId, sql.placeholder('userId')))
    .orderBy(asc(dashboardImages.id)),
);

/** The caller's pictures in the order they were uploaded. */
export const listImages = (ctx: UserContext): Promise<DashboardImage[]> => ctx.run(imagesOf, { userId: ctx.actor.id });
