import { isUndone } from '@portal/db/database-error';
import type { FileStore } from './store.ts';

/**
 * Runs the change by which rows name new files, and removes these where it certainly did not happen. After a lost connection the rows may
 * well name them; then the sweep finds out, and until then they stay.
 */
export async function withNewFiles<T>(
  files: Pick<FileStore, 'remove'>,
  paths: Iterable<string>,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (isUndone(error)) for (const path of paths) await files.remove(path);
    throw error;
  }
}
