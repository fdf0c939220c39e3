import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { notFound, unauthenticated } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import type { OpenedFile, PartOf } from '@portal/platform/files/opened-file';
import { withNewFiles } from '@portal/platform/files/with-new-files';
import { avatarImages } from './avatar-image.ts';

/** Maximum size of an upload (2 MB). */
export const avatarMaxBytes = 2 * 1024 * 1024;

// The portal makes the stored picture, at most 512 pixels a side.
const storedMaxBytes = 1024 * 1024;

/**
 * Makes the upload the caller's avatar: decodes it, crops it to a square and keeps only its pixels.
 * Writes the whole file before the row names it, and removes the previous file after the commit.
 * Throws 400 `UNSUPPORTED_IMAGE`.
 */
export async function setAvatar(ctx: UserContext, upload: Uint8Array): Promise<void> {
  const picture = await avatarImages(ctx).fromUpload(upload, { tenantId: ctx.tenantId, ownerId: ctx.actor.id });
  const { path } = await ctx.files.write('avatars', newId(), 'webp', picture, { maxBytes: storedMaxBytes });
  await replaceAvatar(ctx, path);
}

/** Removes the caller's avatar, if there is one. */
export const deleteAvatar = (ctx: UserContext): Promise<void> => replaceAvatar(ctx, null);

async function replaceAvatar(ctx: UserContext, path: string | null): Promise<void> {
  const change = async (tx: Tx) => {
    // Locked, so that of two concurrent uploads the second finds and removes the file of the first.
    const [account] = await tx
      .select({ path: users.avatarPath })
      .from(users)
      .where(eq(users.id, ctx.actor.id))
      .for('update');
    if (!account) throw unauthenticated();
    await tx
      .update(users)
      .set({ avatarPath: path, updatedAt: sql`now()` })
      .where(eq(users.id, ctx.actor.id));
    return account.path;
  };
  const before = await withNewFiles(ctx.files, path === null ? [] : [path], () => ctx.tx(change));
  if (before !== null) await ctx.files.remove(before);
}

/** Opens the avatar of an account in the caller's tenant; throws 404 if it has none. */
export async function openAvatar(ctx: UserContext, userId: string, partOf?: PartOf): Promise<OpenedFile> {
  const [account] = await ctx.read((db) =>
    db.select({ path: users.avatarPath }).from(users).where(eq(users.id, userId)),
  );
  const file = account?.path ? await ctx.files.open(account.path, partOf) : null;
  if (!file) throw notFound();
  return file;
}
