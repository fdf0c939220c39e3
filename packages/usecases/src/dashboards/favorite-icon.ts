import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { runs } from '@portal/db/schema/platform/operations';
import { type Favorite, iconMaxBytes } from '@portal/domain/dashboards/favorites';
import { busy, invalid, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import type { OpenedFile } from '@portal/platform/files/plain-file';
import { withNewFiles } from '@portal/platform/files/with-new-files';
import { iconImages } from '@portal/platform/images/icon-image';
import { iconExtensionOf, type IconType } from '@portal/platform/images/icon-type';
import { addRun } from '@portal/platform/runs/start';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { discoverIcon } from './jobs.ts';
import { checkOwnFavorite, favoriteColumns, lockOwnFavorite, widgetOfFavorite } from './own-favorite.ts';
import { tabOfWidget } from './widgets.ts';

export interface StoredIcon {
  path: string;
  type: IconType;
  version: number;
}

const iconOf = prepared<{ favoriteId: string; userId: string }>()('favorite_icon', (db) =>
  db
    .select({ path: favorites.iconPath, type: favorites.iconType, version: favorites.iconVersion })
    .from(favorites)
    .innerJoin(dashboardWidgets, widgetOfFavorite)
    .innerJoin(dashboardTabs, tabOfWidget)
    .where(and(eq(favorites.id, sql.placeholder('favoriteId')), eq(dashboardTabs.userId, sql.placeholder('userId')))),
);

/** Which icon a favorite has now. Throws 404, also without one. */
export async function getIcon(ctx: UserContext, favoriteId: string): Promise<StoredIcon> {
  const [icon] = await ctx.run(iconOf, { favoriteId, userId: ctx.actor.id });
  if (!icon?.path) throw notFound();
  return { path: icon.path, type: icon.type as IconType, version: icon.version };
}

/** Its bytes. Throws 404 when they are gone since. */
export async function openIcon(ctx: UserContext, { path }: StoredIcon): Promise<OpenedFile> {
  const file = await ctx.files.open(path);
  if (!file) throw notFound();
  return file;
}

/**
 * Makes an upload the icon of a favorite. It is taken in and looked at once the favorite is known to be the caller's.
 * Throws 400 `UNSUPPORTED_IMAGE`, 404, and what `takeUpload` throws.
 */
export async function uploadIcon(
  ctx: UserContext,
  favoriteId: string,
  takeUpload: () => Promise<Uint8Array>,
): Promise<Favorite> {
  await checkOwnFavorite(ctx, favoriteId);
  const icon = await iconImages(ctx).read(await takeUpload(), { tenantId: ctx.tenantId, ownerId: ctx.actor.id });
  if (!icon) {
    throw invalid(
      'UNSUPPORTED_IMAGE',
      'The file is not a PNG, JPEG, GIF, WebP, ICO or SVG that can be shown as an icon. Please choose another one.',
    );
  }
  const { path } = await ctx.files.write('favorite-icons', newId(), iconExtensionOf(icon.type), icon.bytes, {
    maxBytes: iconMaxBytes,
  });
  const { favorite, fileBefore } = await withNewFiles(ctx.files, [path], () =>
    ctx.tx(async (tx) => {
      const before = await lockOwnFavorite(tx, ctx, favoriteId);
      const [changed] = await tx
        .update(favorites)
        .set({ iconPath: path, iconType: icon.type, isIconUploaded: true, iconVersion: before.iconVersion + 1 })
        .where(eq(favorites.id, favoriteId))
        .returning(favoriteColumns);
      if (!changed) throw new Error('an update of a locked row answered none');
      return { favorite: changed, fileBefore: before.iconPath };
    }),
  );
  if (fileBefore !== null) await ctx.files.remove(fileBefore);
  return favorite;
}

/**
 * Removes the icon of a favorite. Behind an uploaded one the page's own is looked for again; a found one is gone with the address
 * it came from. None at all is fine. Throws 404.
 */
export async function removeIcon(ctx: UserContext, favoriteId: string): Promise<void> {
  const search = { tenantId: ctx.tenantId, favoriteId };
  const { file, runId } = await ctx.tx(async (tx) => {
    const { isIconUploaded, iconUrl, iconPath } = await lockOwnFavorite(tx, ctx, favoriteId);
    if (iconUrl === null && iconPath === null) return { file: null, runId: null };
    await tx
      .update(favorites)
      .set({
        iconPath: null,
        iconType: null,
        isIconUploaded: false,
        iconVersion: sql`${favorites.iconVersion} + 1`,
        ...(!isIconUploaded && { iconUrl: null, isIconUrlNamed: false }),
      })
      .where(eq(favorites.id, favoriteId));
    return {
      file: iconPath,
      runId: isIconUploaded ? await addIconSearch(tx, ctx, favoriteId) : null,
    };
  });
  if (file !== null) await ctx.files.remove(file);
  if (runId !== null) await ctx.enqueue(discoverIcon, search, { runId });
}

/** How many searches of one account may be under way or wait: silent pages hold places for which all others wait. */
const maxSearches = 50;

/**
 * Has the icon of a favorite looked for, as a run; a search that has not begun yet will do. An uploaded icon stays. Throws 404,
 * and 429 while as many of the account as may be are under way.
 */
export async function startIconDiscovery(ctx: UserContext, favoriteId: string): Promise<{ runId: string }> {
  const runId = await ctx.tx(async (tx) => {
    await lockOwnFavorite(tx, ctx, favoriteId);
    return addIconSearch(tx, ctx, favoriteId);
  });
  if (runId === null) throw busy('Many icons are already being searched for. Please wait before you try again.', 10);
  await ctx.enqueue(discoverIcon, { tenantId: ctx.tenantId, favoriteId }, { runId });
  return { runId };
}

/**
 * The run that will look for a favorite's icon as it stands after this transaction: one that has not begun yet, else a new one.
 * One at work may have read the favorite already, and does not count. Null while as many of the account as may be are under way: the
 * favorite then goes without until it is asked for. The job is handed over after the commit.
 */
export async function addIconSearch(tx: Tx, ctx: UserContext, favoriteId: string): Promise<string | null> {
  // Locked: a worker about to begin it waits for what is written here.
  const [waiting] = await tx
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(
        eq(runs.state, 'queued'),
        eq(runs.kind, discoverIcon.name),
        sql`${runs.payload}->>'favoriteId' = ${favoriteId}`,
      ),
    )
    .limit(1)
    .for('update');
  if (waiting) return waiting.id;
  const startedBy = ctx.actor.id;
  const underWay = await tx.$count(
    runs,
    and(eq(runs.startedBy, startedBy), eq(runs.kind, discoverIcon.name), isUnfinished),
  );
  if (underWay >= maxSearches) return null;
  return addRun(tx, discoverIcon, { tenantId: ctx.tenantId, favoriteId }, { startedBy });
}
