import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Opens a page in a new browser that reaches only 127.0.0.1, and returns the document after it has loaded completely. */
export async function loadedPage(browser: string, url: string): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'portal-test-browser-'));
  try {
    const { stdout } = await run(
      browser,
      [
        '--headless',
        // Tests may run as root, for which Chromium refuses its sandbox.
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        `--user-data-dir=${profile}`,
        // Timers and animations up to this long finish before the document is printed.
        '--virtual-time-budget=3000',
        '--dump-dom',
        url,
      ],
      { timeout: 100_000, maxBuffer: 10_000_000 },
    );
    return stdout;
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}
