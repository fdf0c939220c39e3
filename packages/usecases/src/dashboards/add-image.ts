import { eq } from 'drizzle-orm';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import { type DashboardImage, imageMaxBytes, maxImages, shownFileName } from '@portal/domain/dashboards/tabs';
import { conflict, invalid, PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { detectImageType, extensionOf } from '@portal/platform/images/image-type';
import { changeDashboards } from './change-dashboards.ts';
import { imageColumns } from './list-images.ts';

/**
 * Keeps an upload byte for byte as one of the caller's pictures; its file is whole on disk before the row names it.
 * Throws 400 `UNSUPPORTED_IMAGE`, 409 `IMAGE_LIMIT` at 30.
 */
export async function addImage(
  ctx: UserContext,
  upload: { name: string | undefined; bytes: Uint8Array },
): Promise<DashboardImage> {
  const type = detectImageType(upload.bytes);
  if (!type) {
    throw invalid('UNSUPPORTED_IMAGE', 'The file is no PNG, JPEG, GIF or WebP picture. Please choose another one.');
  }
  const id = newId();
  const extension = extensionOf(type);
  const { path, sizeBytes } = await ctx.files.write('dashboard-images', id, extension, upload.bytes, {
    maxBytes: imageMaxBytes,
  });
  const row = {
    id,
    tenantId: ctx.tenantId,
    userId: ctx.actor.id,
    originalName: shownFileName(upload.name, `picture.${extension}`),
    type,
    sizeBytes,
    storagePath: path,
  };
  try {
    return await insertImage(ctx, row);
  } catch (error) {
    // After a lost connection the row may well be there; then the sweep finds out, and until then the file stays.
    if (error instanceof PortalError && error.kind !== 'unavailable') await ctx.files.remove(path);
    throw error;
  }
}

const insertImage = (ctx: UserContext, row: typeof dashboardImages.$inferInsert): Promise<DashboardImage> =>
  changeDashboards(ctx, async (tx) => {
    if ((await tx.$count(dashboardImages, eq(dashboardImages.userId, ctx.actor.id))) >= maxImages) {
      throw conflict('IMAGE_LIMIT', `You have ${maxImages} pictures already. Please delete one you no longer need.`);
    }
    const [image] = await tx.insert(dashboardImages).values(row).returning(imageColumns);
    if (!image) throw new Error('an insert answered no row');
    return image;
  });
