import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@portal/db/embedded';
import { migrateDatabase } from '@portal/db/migrate';
import { makeDataFolder } from './data-folder.ts';
import { keptKeys } from './supervisor-keys.ts';
import { lockDataFolder } from './supervisor-lock.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

export interface Place {
  /** Settings of whoever works on this database. */
  env: NodeJS.ProcessEnv;
  release(): Promise<void>;
}

/** As `findPlace`, for what makes no sense on a database that is not there: nothing is made, and the settings say what is missing. */
export async function findExistingPlace(given: NodeJS.ProcessEnv): Promise<Place> {
  const isThere = given['DATABASE_URL'] || existsSync(join(resolve(root, given['DATA_DIR'] || '.data'), 'postgres'));
  return isThere ? findPlace(given) : { env: given, release: async () => {} };
}

/**
 * The database the service would take: that of `DATABASE_URL`, or the one `npm start` keeps in `DATA_DIR`, whether it runs at the moment
 * or not.
 */
export async function findPlace(given: NodeJS.ProcessEnv): Promise<Place> {
  const dataDir = resolve(root, given['DATA_DIR'] || '.data');
  if (given['DATABASE_URL']) return { env: { ...given, DATA_DIR: dataDir }, release: async () => {} };
  await makeDataFolder(dataDir);
  // Whoever holds the folder runs the database and goes on doing so.
  const unlock = await lockDataFolder(dataDir).catch(() => null);
  const database = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
  const release = async () => {
    if (unlock === null) return;
    await database.stop();
    await unlock();
  };
  try {
    if (unlock !== null) await migrateDatabase(database.url, { appUrl: database.appUrl });
    const kept = await keptKeys(dataDir);
    const keys = {
      SESSION_SECRET: given['SESSION_SECRET'] || kept.SESSION_SECRET,
      SECRETS_KEYS: given['SECRETS_KEYS'] || kept.SECRETS_KEYS,
    };
    return { env: { ...given, ...keys, DATA_DIR: dataDir, DATABASE_URL: database.appUrl }, release };
  } catch (error) {
    await release();
    throw error;
  }
}
