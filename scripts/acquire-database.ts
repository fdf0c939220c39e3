import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@portal/db/embedded';
import { migrateDatabase } from '@portal/db/migrate';
import { makeDataFolder } from './data-folder.ts';
import { loadOrCreateKeys } from './supervisor-keys.ts';
import { lockDataFolder } from './supervisor-lock.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

export interface AcquiredDatabase {
  /** The settings with the address of this database and its keys. */
  env: NodeJS.ProcessEnv;
  release(): Promise<void>;
}

/** As `acquireDatabase`, but creates none: without a database the settings stay as given, and reading them reports the missing one. */
export async function acquireExistingDatabase(given: NodeJS.ProcessEnv): Promise<AcquiredDatabase> {
  const exists = given['DATABASE_URL'] || existsSync(join(resolve(root, given['DATA_DIR'] || '.data'), 'postgres'));
  return exists ? acquireDatabase(given) : { env: given, release: async () => {} };
}

/**
 * The database the service uses: the one of `DATABASE_URL`, or the embedded one in `DATA_DIR`, which is started unless `npm start` runs it.
 */
export async function acquireDatabase(given: NodeJS.ProcessEnv): Promise<AcquiredDatabase> {
  const dataDir = resolve(root, given['DATA_DIR'] || '.data');
  if (given['DATABASE_URL']) return { env: { ...given, DATA_DIR: dataDir }, release: async () => {} };
  await makeDataFolder(dataDir);
  // If another process holds the lock, it runs the database and keeps running it.
  const unlock = await lockDataFolder(dataDir).catch(() => null);
  const database = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
  const release = async () => {
    if (unlock === null) return;
    await database.stop();
    await unlock();
  };
  try {
    if (unlock !== null) await migrateDatabase(database.url, { appUrl: database.appUrl });
    const stored = await loadOrCreateKeys(dataDir);
    const keys = {
      SESSION_SECRET: given['SESSION_SECRET'] || stored.SESSION_SECRET,
      SECRETS_KEYS: given['SECRETS_KEYS'] || stored.SECRETS_KEYS,
    };
    return { env: { ...given, ...keys, DATA_DIR: dataDir, DATABASE_URL: database.appUrl }, release };
  } catch (error) {
    await release();
    throw error;
  }
}
