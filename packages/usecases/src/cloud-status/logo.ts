import { eq } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { type CloudInstance, logoMaxBytes } from '@portal/domain/cloud-status/instances';
import { invalid, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import type { OpenedFile, PartOf } from '@portal/platform/files/opened-file';
import { withNewFiles } from '@portal/platform/files/with-new-files';
import { iconImages } from '@portal/platform/images/icon-image';
import { iconExtensionOf, type IconType } from '@portal/platform/images/icon-type';
import { recordAudit } from './audit.ts';
import { getCloudInstance } from './instances.ts';

interface StoredLogo {
  path: string;
  type: IconType;
}

/** The current logo of an instance. Throws 404, also if it has none. */
export async function getLogo(ctx: UserContext, id: string): Promise<StoredLogo> {
  const [logo] = await ctx.read((db) =>
    db
      .select({ path: cloudInstances.logoPath, type: cloudInstances.logoType })
      .from(cloudInstances)
      .where(eq(cloudInstances.id, id)),
  );
  if (!logo?.path) throw notFound();
  return { path: logo.path, type: logo.type as IconType };
}

/** Opens the file of a logo. Throws 404 if it was removed meanwhile. */
export async function openLogo(ctx: UserContext, { path }: StoredLogo, partOf?: PartOf): Promise<OpenedFile> {
  const file = await ctx.files.open(path, partOf);
  if (!file) throw notFound();
  return file;
}

/**
 * Stores an upload as the logo of an instance. Reads the upload only if the instance exists. Throws 400 `UNSUPPORTED_IMAGE`, 404, and
 * any error of `takeUpload`.
 */
export async function uploadLogo(
  ctx: UserContext,
  id: string,
  takeUpload: () => Promise<Uint8Array>,
): Promise<CloudInstance> {
  await getCloudInstance(ctx, id);
  const limits = { maxBytes: logoMaxBytes, acceptsIco: false };
  const logo = await iconImages(ctx).read(
    await takeUpload(),
    { tenantId: ctx.tenantId, ownerId: ctx.actor.id },
    limits,
  );
  if (!logo) {
    throw invalid(
      'UNSUPPORTED_IMAGE',
      'The file is not a PNG, JPEG, GIF, WebP or SVG that can be shown as a logo. Please choose another one.',
    );
  }
  const { path } = await ctx.files.write('cloud-logos', newId(), iconExtensionOf(logo.type), logo.bytes, limits);
  await replaceLogo(ctx, id, { path, type: logo.type });
  return getCloudInstance(ctx, id);
}

/** Removes the logo, if any. Throws 404. */
export const removeLogo = (ctx: UserContext, id: string): Promise<void> => replaceLogo(ctx, id, null);

async function replaceLogo(ctx: UserContext, id: string, logo: StoredLogo | null): Promise<void> {
  const change = async (tx: Tx) => {
    const [before] = await tx
      .select({ customerName: cloudInstances.customerName, path: cloudInstances.logoPath })
      .from(cloudInstances)
      .where(eq(cloudInstances.id, id))
      .for('update');
    if (!before) throw notFound();
    if (logo || before.path !== null) await writeLogo(tx, ctx, { id, customerName: before.customerName, logo });
    return before.path;
  };
  const fileBefore = await withNewFiles(ctx.files, logo ? [logo.path] : [], () => ctx.tx(change));
  if (fileBefore !== null) await ctx.files.remove(fileBefore);
}

async function writeLogo(
  tx: Tx,
  ctx: UserContext,
  { id, customerName, logo }: { id: string; customerName: string; logo: StoredLogo | null },
): Promise<void> {
  await tx
    .update(cloudInstances)
    .set({ logoPath: logo?.path ?? null, logoType: logo?.type ?? null })
    .where(eq(cloudInstances.id, id));
  await recordAudit(tx, ctx, {
    action: 'cloud_instances.update',
    tenantId: ctx.tenantId,
    target: { type: 'cloud_instance', id },
    summary: `${logo ? 'Changed' : 'Removed'} the logo of the cloud of ${customerName}.`,
  });
}
