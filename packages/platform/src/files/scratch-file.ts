import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { throwUnwritable } from '@portal/domain/unwritable';

const scratchName = /^scratch\.[0-9a-f]{12}\.part$/;

/**
 * A private file below `dataDir` for the work of one process, such as a download that is checked before it is stored. It has no name, so it
 * disappears with the process. Throws 503 `UNAVAILABLE` if the disk refuses.
 */
export async function openScratchFile({ dataDir }: { dataDir: string }): Promise<FileHandle> {
  const place = join(dataDir, `scratch.${randomBytes(6).toString('hex')}.part`);
  try {
    await mkdir(dataDir, { recursive: true });
    const file = await open(place, 'wx+', 0o600);
    await removeNames(dataDir).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    return file;
  } catch (error) {
    return throwUnwritable(error);
  }
}

/** Also that of a process which was killed before it could. Any may go at any time, because an open file needs none. */
async function removeNames(dataDir: string): Promise<void> {
  const names = await readdir(dataDir);
  await Promise.all(
    names.filter((name) => scratchName.test(name)).map((name) => rm(join(dataDir, name), { force: true })),
  );
}
