import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const typesFile = join(root, 'packages/client/src/interface.ts');

const run = async (program: string, ...args: string[]): Promise<string> =>
  (
    await promisify(execFile)(program, args, {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === 'win32',
    })
  ).stdout;

/** Writes the current OpenAPI document to a temporary file, passes its path from the root to `work`, and removes the file afterwards. */
export async function withDocument<T>(work: (document: string) => Promise<T>): Promise<T> {
  await mkdir(join(root, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, '.cache', 'document-'));
  try {
    const document = join(folder, 'openapi.json');
    await writeFile(document, await run(process.execPath, join(root, 'scripts/openapi.ts')));
    return await work(relative(root, document));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the client's types for this document. */
export async function writeClientTypes(document: string): Promise<void> {
  const generator = join(root, 'packages/client/node_modules/.bin/openapi-typescript');
  await writeFile(typesFile, await run(generator, document, '--root-types', '--root-types-no-schema-prefix'));
}
