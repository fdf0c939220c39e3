import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usualBuild } from './web-sources.ts';

/** Messages from `build-web.ts` to the supervisor. A build that had nothing to do has no line. */
export type FromPagesBuild = { type: 'built'; line: string | null } | { type: 'failed'; line: string; text: string };

export interface PagesPlan {
  env: NodeJS.ProcessEnv;
  /** Builds the pages again after each change. */
  isWatching: boolean;
  /** Whether a source is newer than the pages. */
  areStale: Promise<boolean>;
  signal: AbortSignal;
  say: (line: string) => void;
}

/** Whether the API has pages to serve. */
export const hasPages = ({ WEB_DIR }: NodeJS.ProcessEnv): boolean =>
  WEB_DIR === undefined ? existsSync(join(usualBuild.outDir, 'index.html')) : WEB_DIR !== '';

/**
 * Builds the pages if they are older than their sources. Returns once they are built or cannot be built: the API runs without them.
 * Another process builds, because the bundler takes some 150 MB.
 */
export async function buildPages({ env, isWatching, areStale, signal, say }: PagesPlan): Promise<void> {
  // Pages of another folder are not ours to build
  if (env['WEB_DIR'] !== undefined) return;
  if (!isWatching && hasPages(env) && !(await areStale)) return;
  const args = [join(import.meta.dirname, 'build-web.ts'), isWatching ? '--watch' : '--if-stale'];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env,
    // Out of reach of the terminal's Ctrl-C, as all programs of the supervisor
    detached: process.platform !== 'win32',
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  let isReported = false;
  const end = (): boolean => child.kill();
  signal.addEventListener('abort', end, { once: true });
  const fail = (why: string): void => {
    const instead = hasPages(env) ? 'Those built before are shown' : 'The API runs without them';
    say(`The pages could not be built: ${why}. ${instead}; pnpm build:web says more.`);
  };
  child.on('message', (message: FromPagesBuild) => {
    isReported = true;
    // Who watches sees the faulty lines at once
    if (message.type === 'failed' && isWatching) say(`The pages could not be built.\n${message.text}`);
    else if (message.type === 'failed') fail(message.line);
    else if (message.line !== null) say(message.line);
    resolve();
  });
  const ended = (how: string): void => {
    signal.removeEventListener('abort', end);
    if (!signal.aborted && (isWatching || !isReported)) fail(how);
    isReported = true;
    resolve();
  };
  child.once('error', (error) => ended(error.message));
  child.once('close', (code, endedBy) => ended(`the build ended with ${endedBy ?? `exit code ${code}`}`));
  return promise;
}
