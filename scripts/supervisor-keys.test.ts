import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadOrCreateKeys } from './supervisor-keys.ts';

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-keys-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it('generates two keys of 32 bytes once, readable only by their owner', async () => {
  const folder = await emptyFolder();
  const keys = await loadOrCreateKeys(folder);
  for (const key of [keys.SESSION_SECRET, keys.SECRETS_KEYS]) expect(key).toMatch(/^k1:[A-Za-z0-9+/]{43}=$/);
  expect(keys.SESSION_SECRET).not.toBe(keys.SECRETS_KEYS);
  expect((await stat(join(folder, 'keys.json'))).mode & 0o777).toBe(0o600);
  expect(await loadOrCreateKeys(folder)).toEqual(keys);
});

it('does not replace a damaged file, because the secrets encrypted with its keys would be lost', async () => {
  const folder = await emptyFolder();
  await writeFile(join(folder, 'keys.json'), '{"SESSION_SECRET":');
  await expect(loadOrCreateKeys(folder)).rejects.toThrow(/keys\.json is damaged/);
});
