import { inArray } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { SystemContext } from '../context.ts';
import { processEach } from '../process-each.ts';

/** The column that holds the paths of a folder's files. */
export interface FileOwner {
  folder: string;
  table: PgTable;
  path: PgColumn;
}

/** Files per statement. */
const batch = 500;

/**
 * Removes all files that no row names: files of deleted rows, of uploads without a row, and leftovers of killed writers.
 * Keeps files younger than an hour. Goes on with the next folder if one cannot be read. Returns the number of removed files.
 */
export async function sweepOrphanFiles(
  system: Pick<SystemContext, 'acrossTenants' | 'files' | 'log'>,
  owners: readonly FileOwner[],
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  const sweep = async ({ table, path }: FileOwner, paths: string[]) => {
    signal.throwIfAborted();
    const rows = await system.acrossTenants('files are compared with the rows that name them', (tx) =>
      tx.select({ path }).from(table).where(inArray(path, paths)),
    );
    const referenced = new Set(rows.map((row) => row.path));
    for (const orphan of paths.filter((candidate) => !referenced.has(candidate))) {
      if (await system.files.remove(orphan)) removed += 1;
    }
  };
  const sweepFolder = async (owner: FileOwner) => {
    let paths: string[] = [];
    for await (const path of system.files.list(owner.folder)) {
      paths.push(path);
      if (paths.length < batch) continue;
      await sweep(owner, paths);
      paths = [];
    }
    if (paths.length > 0) await sweep(owner, paths);
  };
  await processEach(owners, sweepFolder, {
    signal,
    onFailure: ({ folder }, error) => system.log.error({ folder, err: error }, 'a folder of files could not be swept'),
  });
  system.log.info({ removed }, 'files without a row were removed');
  return removed;
}
