import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const scripts = dirname(fileURLToPath(import.meta.url));

/** The modules that the database package loads, in order, with or without our cached resolution. */
async function loaded(isCached: boolean): Promise<string[]> {
  const program = `
    import { registerHooks } from 'node:module';
    import { cacheResolution } from './cached-resolution.ts';
    const found = [];
    ${isCached ? 'cacheResolution();' : ''}
    registerHooks({
      load(url, context, nextLoad) {
        found.push(context.format + ' ' + url);
        return nextLoad(url, context);
      },
    });
    await import('@portal/db/open');
    await import('@portal/db/schema/accounts/users');
    process.stdout.write(JSON.stringify(found));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: scripts,
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout) as string[];
}

it('finds the same modules as Node', async () => {
  const [ours, nodes] = await Promise.all([loaded(true), loaded(false)]);
  expect(ours.filter((module) => module.includes('/drizzle-orm/')).length).toBeGreaterThan(50);
  expect(ours).toEqual(nodes);
});
