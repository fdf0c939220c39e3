import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { serviceBinary } from '@portal/testing/services';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the pages as people get them, for WEB_DIR. */
    webDir: string;
  }
}

const root = new URL('../../../', import.meta.url);

/** Builds the pages unless they are newer than their sources, apart from those of `npm start`. */
export default async function setup(project: TestProject): Promise<void> {
  // Without it, all tests of this project are skipped
  if (serviceBinary('chromium-headless-shell') === null) return;
  const webDir = fileURLToPath(new URL('.cache/web-dist', root));
  const program = fileURLToPath(new URL('scripts/build-web.ts', root));
  await promisify(execFile)(process.execPath, [program, '--if-stale', '--out-dir', webDir]);
  project.provide('webDir', webDir);
}
