import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder for `WEB_DIR` with these files, by their path in it. It goes with the calling test file. */
export async function builtPages(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-pages-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'assets'));
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content);
  return folder;
}
