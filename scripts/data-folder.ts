import { chmod, mkdir } from 'node:fs/promises';

/** Makes the folder for files, keys and the embedded database unless it is there. */
export async function makeDataFolder(dataDir: string): Promise<void> {
  const isNew = (await mkdir(dataDir, { recursive: true, mode: 0o700 })) !== undefined;
  // The database does not run as root, so its account has to get through this folder; what lies in it has its own mode
  if (isNew && process.getuid?.() === 0) await chmod(dataDir, 0o711);
}
