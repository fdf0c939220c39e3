import { and, eq, sql } from 'drizzle-orm';
import { OutboundError } from '@portal/connectors/http/outbound-error';
import { fetchIcon, findIcon, type FoundIcon } from '@portal/connectors/icons/find-icon';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { iconMaxBytes } from '@portal/domain/dashboards/favorites';
import { newId } from '@portal/domain/ids';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import { withNewFiles } from '@portal/platform/files/with-new-files';
import { type IconImage, iconImages } from '@portal/platform/images/icon-image';
import { iconExtensionOf } from '@portal/platform/images/icon-type';

/** For each thing that is fetched on the way (specification, Limits: icon discovery page read). */
const searchTimeoutMs = 4 * SECOND;

/**
 * Looks for the icon of a favorite where its address was named, else on its page, and keeps a copy. A favorite that is gone, has an
 * uploaded icon or was changed meanwhile is left alone. A page without an icon, or one nobody can reach, is nothing to complain
 * about: whatever the favorite had stays.
 */
export async function discoverFavoriteIcon(ctx: TenantContext, favoriteId: string, signal: AbortSignal): Promise<void> {
  const [favorite] = await ctx.read((db) =>
    db
      .select({
        url: favorites.url,
        namedIcon: sql<string | null>`case when ${favorites.isIconUrlNamed} then ${favorites.iconUrl} end`,
        iconVersion: favorites.iconVersion,
      })
      .from(favorites)
      .where(and(eq(favorites.id, favoriteId), eq(favorites.isIconUploaded, false))),
  );
  const found = favorite && (await searchQuietly(ctx, favoriteId, favorite, signal));
  if (!found) return;
  const { type, bytes } = found.icon;
  const { path } = await ctx.files.write('favorite-icons', newId(), iconExtensionOf(type), bytes, {
    maxBytes: iconMaxBytes,
    signal,
  });
  const needless = await withNewFiles(ctx.files, [path], () =>
    ctx.tx(async (tx) => {
      const [now] = await tx
        .select({ iconPath: favorites.iconPath, iconVersion: favorites.iconVersion })
        .from(favorites)
        .where(eq(favorites.id, favoriteId))
        .for('update');
      // Uploaded, removed or looked for elsewhere meanwhile: that is what counts.
      if (now?.iconVersion !== favorite.iconVersion) return path;
      await tx
        .update(favorites)
        .set({
          iconPath: path,
          iconType: type,
          iconUrl: found.url,
          iconVersion: sql`${favorites.iconVersion} + 1`,
        })
        .where(eq(favorites.id, favoriteId));
      return now.iconPath;
    }),
  );
  if (needless !== null) await ctx.files.remove(needless);
}

async function searchQuietly(
  ctx: TenantContext,
  favoriteId: string,
  { url, namedIcon }: { url: string; namedIcon: string | null },
  signal: AbortSignal,
): Promise<FoundIcon<IconImage> | null> {
  const search = {
    policy: { ...ctx.config.outbound.byUsers, httpsOnly: false },
    maxBytes: iconMaxBytes,
    timeoutMs: searchTimeoutMs,
    read: (bytes: Uint8Array) => iconImages(ctx).read(bytes, { tenantId: ctx.tenantId, ownerId: favoriteId }),
    signal,
  };
  try {
    if (namedIcon === null) return await findIcon(new URL(url), search);
    const icon = await fetchIcon(new URL(namedIcon), search);
    return icon && { icon, url: namedIcon };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    ctx.log.info({ tenantId: ctx.tenantId, favoriteId, reason: error.reason }, 'no icon was found');
    return null;
  }
}
