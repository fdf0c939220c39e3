import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

export interface StoredKeys {
  SESSION_SECRET: string;
  SECRETS_KEYS: string;
}

/** The keys of an installation that sets none itself: generated once and stored in the data folder, readable by its owner only. */
export async function loadOrCreateKeys(dataDir: string): Promise<StoredKeys> {
  const path = join(dataDir, 'keys.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return makeKeys(path);
    throw error;
  }
  const keys = parseKeys(text);
  if (!keys)
    throw new Error(`${path} is damaged. Put it back from a backup: stored secrets cannot be read without it.`);
  return keys;
}

function parseKeys(text: string): StoredKeys | null {
  try {
    const { SESSION_SECRET, SECRETS_KEYS } = JSON.parse(text) as Partial<StoredKeys>;
    return SESSION_SECRET && SECRETS_KEYS ? { SESSION_SECRET, SECRETS_KEYS } : null;
  } catch {
    return null;
  }
}

async function makeKeys(path: string): Promise<StoredKeys> {
  const keys: StoredKeys = { SESSION_SECRET: newKey(), SECRETS_KEYS: newKey() };
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${JSON.stringify(keys, null, 2)}\n`);
    // A power cut must not lose the key: it would lose the secrets encrypted with it
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  return keys;
}

const newKey = (): string => `k1:${randomBytes(32).toString('base64')}`;
