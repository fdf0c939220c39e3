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

/** Timeout of each request of a search (icon discovery page read). */
const searchTimeoutMs = 4 * SECOND;

/**
 * Fetches the icon of a favorite from the address the user entered, otherwise searches its page, and stores a copy. Does nothing if the
 * favorite was deleted, has an uploaded icon or was changed meanwhile. An unreachable page or one without an icon is not an error: the
 * favorite keeps its icon.
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
  const unusedFile = await withNewFiles(ctx.files, [path], () =>
    ctx.tx(async (tx) => {
      const [now] = await tx
        .select({ iconPath: favorites.iconPath, iconVersion: favorites.iconVersion })
        .from(favorites)
        .where(eq(favorites.id, favoriteId))
        .for('update');
      // The user uploaded, removed or redirected the icon meanwhile; that change wins.
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
  if (unusedFile !== null) await ctx.files.remove(unusedFile);
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
