import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { throwUnwritable } from '@portal/domain/unwritable';

/**
 * A private file below `dataDir` for the work of one process, such as a download that is checked before it is stored. It has no name, so it
 * disappears with the process. Throws 503 `UNAVAILABLE` if the disk refuses.
 */
export async function openScratchFile({ dataDir }: { dataDir: string }): Promise<FileHandle> {
  const place = join(dataDir, `scratch.${randomBytes(6).toString('hex')}.part`);
  try {
    await mkdir(dataDir, { recursive: true });
    const file = await open(place, 'wx+', 0o600);
    await unlink(place);
    return file;
  } catch (error) {
    return throwUnwritable(error);
  }
}
