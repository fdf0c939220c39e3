import { chmod, mkdir } from 'node:fs/promises';

/** Creates the folder for files, keys and the embedded database unless it exists. */
export async function makeDataFolder(dataDir: string): Promise<void> {
  const isNew = (await mkdir(dataDir, { recursive: true, mode: 0o700 })) !== undefined;
  // The database does not run as root, so its account must be able to enter this folder; the files in it have modes of their own
  if (isNew && process.getuid?.() === 0) await chmod(dataDir, 0o711);
}
