import { and, asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import { type DashboardImage, imageMaxBytes, maxImages } from '@portal/domain/dashboards/tabs';
import { conflict, invalid, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { shownFileName } from '@portal/domain/text';
import type { UserContext } from '@portal/platform/context';
import type { OpenedFile, PartOf } from '@portal/platform/files/opened-file';
import { withNewFiles } from '@portal/platform/files/with-new-files';
import { detectImageType, extensionOf } from '@portal/platform/images/image-type';
import { clearBackgroundImage } from '../accounts/own-profile.ts';
import { changeDashboards } from './change-dashboards.ts';
import { forgetInWidgets } from './named-in-widgets.ts';

const imageColumns = {
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

export interface StoredImage {
  path: string;
  type: string;
}

/** Where one of the caller's pictures is stored. Throws 404. */
export async function getImage(ctx: UserContext, imageId: string): Promise<StoredImage> {
  const [image] = await ctx.read((db) =>
    db
      .select({ type: dashboardImages.type, path: dashboardImages.storagePath })
      .from(dashboardImages)
      .where(and(eq(dashboardImages.id, imageId), eq(dashboardImages.userId, ctx.actor.id))),
  );
  if (!image) throw notFound();
  return image;
}

/** The bytes of a picture. Throws 404 if the file is missing. */
export async function openImage(ctx: UserContext, { path }: StoredImage, partOf?: PartOf): Promise<OpenedFile> {
  const file = await ctx.files.open(path, partOf);
  if (!file) throw notFound();
  return file;
}

/**
 * Stores an upload unchanged as one of the caller's pictures; writes the complete file before the row names it.
 * Throws 400 `UNSUPPORTED_IMAGE`, 409 `IMAGE_LIMIT` at 30.
 */
export async function addImage(
  ctx: UserContext,
  upload: { name: string | undefined; bytes: Uint8Array },
): Promise<DashboardImage> {
  const type = detectImageType(upload.bytes);
  if (!type) {
    throw invalid('UNSUPPORTED_IMAGE', 'The file is not a PNG, JPEG, GIF or WebP picture. Please choose another one.');
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
  return withNewFiles(ctx.files, [path], () => insertImage(ctx, row));
}

/** Deletes one of the caller's pictures, row and file, and removes it from backgrounds and picture frames. Throws 404. */
export async function deleteImage(ctx: UserContext, imageId: string): Promise<void> {
  const path = await changeDashboards(ctx, async (tx) => {
    const [deleted] = await tx
      .delete(dashboardImages)
      .where(and(eq(dashboardImages.id, imageId), eq(dashboardImages.userId, ctx.actor.id)))
      .returning({ path: dashboardImages.storagePath });
    if (!deleted) throw notFound();
    await clearBackgroundImage(tx, ctx.actor.id, imageId);
    await forgetInWidgets(tx, ctx, 'imageIds', imageId);
    return deleted.path;
  });
  await ctx.files.remove(path);
}

const insertImage = (ctx: UserContext, row: typeof dashboardImages.$inferInsert): Promise<DashboardImage> =>
  changeDashboards(ctx, async (tx) => {
    if ((await tx.$count(dashboardImages, eq(dashboardImages.userId, ctx.actor.id))) >= maxImages) {
      throw conflict('IMAGE_LIMIT', `You have ${maxImages} pictures already. Please delete one you no longer need.`);
    }
    const [image] = await tx.insert(dashboardImages).values(row).returning(imageColumns);
    if (!image) throw new Error('an insert returned no row');
    return image;
  });
