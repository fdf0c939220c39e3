import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

export interface KeptKeys {
  SESSION_SECRET: string;
  SECRETS_KEYS: string;
}

/** The keys of an installation that sets none of its own: made once, kept in the data folder for its owner's eyes only. */
export async function keptKeys(dataDir: string): Promise<KeptKeys> {
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

function parseKeys(text: string): KeptKeys | null {
  try {
    const { SESSION_SECRET, SECRETS_KEYS } = JSON.parse(text) as Partial<KeptKeys>;
    return SESSION_SECRET && SECRETS_KEYS ? { SESSION_SECRET, SECRETS_KEYS } : null;
  } catch {
    return null;
  }
}

async function makeKeys(path: string): Promise<KeptKeys> {
  const keys: KeptKeys = { SESSION_SECRET: newKey(), SECRETS_KEYS: newKey() };
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${JSON.stringify(keys, null, 2)}\n`);
    // Secrets encrypted with a key that a power cut then takes away are lost
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  return keys;
}

const newKey = (): string => `k1:${randomBytes(32).toString('base64')}`;
