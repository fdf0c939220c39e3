import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const typesFile = join(root, 'packages/client/src/interface.ts');

/** Writes the current OpenAPI document to a temporary file, passes its path from the root to `work`, and removes the file afterwards. */
export async function withDocument<T>(work: (document: string) => Promise<T>): Promise<T> {
  await mkdir(join(root, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, '.cache', 'document-'));
  try {
    const document = join(folder, 'openapi.json');
    const program = [join(root, 'scripts/openapi.ts')];
    const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    await writeFile(document, stdout);
    return await work(relative(root, document));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the client's types for this document. */
export async function writeClientTypes(document: string): Promise<void> {
  // Loaded here: it comes with a TypeScript of its own.
  const { typesOf } = await import('../packages/client/generate-types.ts');
  await writeFile(typesFile, await typesOf(pathToFileURL(join(root, document))));
}
