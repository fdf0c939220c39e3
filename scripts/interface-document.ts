import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

/** Writes the OpenAPI document of the routes as they are into a file. */
export async function writeDocument(path: string): Promise<void> {
  await writeFile(path, await run(process.execPath, join(root, 'scripts/openapi.ts')));
}

const typesOf = (document: string): Promise<string> =>
  run(
    join(root, 'packages/client/node_modules/.bin/openapi-typescript'),
    document,
    '--root-types',
    '--root-types-no-schema-prefix',
  );

/** Gives the client the types of this document. */
export async function writeClientTypes(document: string): Promise<void> {
  await writeFile(typesFile, await typesOf(document));
}

export async function hasClientTypes(document: string): Promise<boolean> {
  const [made, kept] = await Promise.all([typesOf(document), readFile(typesFile, 'utf8').catch(() => '')]);
  return made === kept.replaceAll('\r\n', '\n');
}
