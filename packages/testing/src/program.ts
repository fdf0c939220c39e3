import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** This checkout. */
export const root = new URL('../../../', import.meta.url);

const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  scripts: Record<'start:api' | 'start:worker', string>;
};
const heapFlags = (name: keyof typeof scripts): string[] => scripts[name].match(/--max-\S+/g) ?? [];

/** The flags for memory with which the programs are started, from `package.json`. */
export const heap = { api: heapFlags('start:api'), worker: heapFlags('start:worker') };

/** What any of our programs needs of this environment. The compile cache halves the processor time of a start. */
export const programEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'node-compile-cache'),
};

/**
 * Command line and environment of one of our programs, by its path in the checkout. It gets only these settings. It uses the loader of the
 * supervisor, which saves processor time as well. `checkout` may hold another release.
 */
export function programOf(
  path: string,
  settings: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
  checkout = root,
): { command: string; args: string[]; env: Record<string, string | undefined> } {
  return {
    command: process.execPath,
    args: [
      ...nodeOptions,
      '--import',
      new URL('scripts/supervised-process.ts', checkout).href,
      fileURLToPath(new URL(path, checkout)),
    ],
    env: { ...programEnv, ...settings },
  };
}
