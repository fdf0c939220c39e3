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
import type { OpenedFile, PartOf } from '@portal/platform/files/opened-file';
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

/** The current icon of a favorite. Throws 404, also if it has none. */
export async function getIcon(ctx: UserContext, favoriteId: string): Promise<StoredIcon> {
  const [icon] = await ctx.run(iconOf, { favoriteId, userId: ctx.actor.id });
  if (!icon?.path) throw notFound();
  return { path: icon.path, type: icon.type as IconType, version: icon.version };
}

/** Opens the file of an icon. Throws 404 if it has been removed meanwhile. */
export async function openIcon(ctx: UserContext, { path }: StoredIcon, partOf?: PartOf): Promise<OpenedFile> {
  const file = await ctx.files.open(path, partOf);
  if (!file) throw notFound();
  return file;
}

/**
 * Makes an upload the icon of a favorite. Receives the upload only after checking that the favorite belongs to the caller.
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
      if (!changed) throw new Error('an update of a locked row returned no row');
      return { favorite: changed, fileBefore: before.iconPath };
    }),
  );
  if (fileBefore !== null) await ctx.files.remove(fileBefore);
  return favorite;
}

/**
 * Removes the icon of a favorite. After an uploaded icon, starts a search for the page's own; a found icon is removed with its address.
 * Does nothing if there is no icon. Throws 404.
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

/** Maximum number of unfinished searches of one account: silent pages occupy slots that all other searches wait for. */
const maxSearches = 50;

/**
 * Starts a search for the icon of a favorite as a run, or joins one that has not begun yet. An uploaded icon stays. Throws 404, and 429
 * if the account has the maximum number of unfinished searches.
 */
export async function startIconDiscovery(ctx: UserContext, favoriteId: string): Promise<{ runId: string }> {
  const runId = await ctx.tx(async (tx) => {
    await lockOwnFavorite(tx, ctx, favoriteId);
    return addIconSearch(tx, ctx, favoriteId);
  });
  if (runId === null) throw busy('The portal is already searching for many of your icons. Please try again later.', 10);
  await ctx.enqueue(discoverIcon, { tenantId: ctx.tenantId, favoriteId }, { runId });
  return { runId };
}

/**
 * The run that will search for a favorite's icon after this transaction: one that has not begun yet, otherwise a new one. A run in
 * progress may have read the favorite already and does not count. Null if the account has the maximum number of unfinished searches; the
 * favorite then has no icon until the user requests a search. The caller enqueues the job after the commit.
 */
export async function addIconSearch(tx: Tx, ctx: UserContext, favoriteId: string): Promise<string | null> {
  // The lock makes a worker that is about to begin the run wait for this transaction.
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
  const unfinished = await tx.$count(
    runs,
    and(eq(runs.startedBy, startedBy), eq(runs.kind, discoverIcon.name), isUnfinished),
  );
  if (unfinished >= maxSearches) return null;
  return addRun(tx, discoverIcon, { tenantId: ctx.tenantId, favoriteId }, { startedBy });
}
