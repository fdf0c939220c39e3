import { inArray } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { users } from '@portal/db/schema/accounts/users';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import type { Visit } from '../context.ts';
import { type FileArea, fileAreas, type FileRoom } from './store.ts';

/** The column that keeps the paths of an area's files. */
const owners: Record<FileArea, { table: PgTable; path: PgColumn }> = {
  avatars: { table: users, path: users.avatarPath },
  'dashboard-images': { table: dashboardImages, path: dashboardImages.storagePath },
  'favorite-icons': { table: favorites, path: favorites.iconPath },
};

/** Files asked about in one statement. */
const batch = 500;

/**
 * Removes every file no row points at: those of deleted rows, of uploads that never got a row, and what killed writers left.
 * Files younger than an hour are left alone. Answers how many went.
 */
export async function sweepOrphanFiles(
  visit: Pick<Visit, 'acrossTenants' | 'log'>,
  room: FileRoom,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  const sweep = async (area: FileArea, paths: string[]) => {
    signal.throwIfAborted();
    const { table, path } = owners[area];
    const rows = await visit.acrossTenants('files are compared with the rows that keep them', (tx) =>
      tx.select({ path }).from(table).where(inArray(path, paths)),
    );
    const kept = new Set(rows.map((row) => row.path));
    for (const orphan of paths.filter((candidate) => !kept.has(candidate))) {
      await room.remove(orphan);
      removed += 1;
    }
  };
  for (const area of fileAreas) {
    let paths: string[] = [];
    for await (const path of room.list(area)) {
      paths.push(path);
      if (paths.length < batch) continue;
      await sweep(area, paths);
      paths = [];
    }
    if (paths.length > 0) await sweep(area, paths);
  }
  visit.log.info({ removed }, 'files without a row were removed');
  return removed;
}
