import { isUndone } from '@portal/db/database-error';
import type { FileStore } from './store.ts';

/**
 * Runs the change that makes rows name new files, and removes the files if the change was certainly not committed. After a lost
 * connection the rows may name them, so the files stay and the sweep decides later.
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
