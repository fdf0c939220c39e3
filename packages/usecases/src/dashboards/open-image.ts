import { and, eq } from 'drizzle-orm';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import type { OpenedFile } from '@portal/platform/files/plain-file';

/** The bytes of one of the caller's pictures and their type. Throws 404, also when the file is missing. */
export async function openImage(ctx: UserContext, imageId: string): Promise<{ type: string; file: OpenedFile }> {
  const [image] = await ctx.read((db) =>
    db
      .select({ type: dashboardImages.type, path: dashboardImages.storagePath })
      .from(dashboardImages)
      .where(and(eq(dashboardImages.id, imageId), eq(dashboardImages.userId, ctx.actor.id))),
  );
  const file = image && (await ctx.files.open(image.path));
  if (!file) throw notFound();
  return { type: image.type, file };
}
