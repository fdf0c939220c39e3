import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { programEnv } from '@portal/testing/program';

const MB = 1_000_000;

it.runIf(process.platform === 'linux')('drops the compiler once, where Node keeps what it compiled', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portal-supervisor-memory-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, 'supervisor.mjs');
  const url = (name: string) => pathToFileURL(join(import.meta.dirname, `${name}.ts`)).href;
  await writeFile(
    program,
    `import { dropCompiler } from '${url('supervisor-memory')}';
    import '${url('supervisor-child')}';
    import '${url('supervisor-database')}';
    dropCompiler();
    console.log(JSON.stringify({ args: process.argv.slice(2), bytes: process.memoryUsage.rss() }));`,
  );
  const run = async (cache: string): Promise<unknown> => {
    const env = { ...programEnv, NODE_COMPILE_CACHE: cache };
    return JSON.parse((await promisify(execFile)(process.execPath, [program, '--watch'], { env })).stdout);
  };
  const small = expect.toSatisfy((bytes: number) => bytes < 68 * MB);
  const cache = join(folder, 'compiled');
  expect(await run(cache)).toEqual({ args: ['--watch', '--restarted'], bytes: small });
  expect(await run(cache)).toEqual({ args: ['--watch'], bytes: small });
  // Nowhere to keep it: it would be compiled again each time
  const large = expect.toSatisfy((bytes: number) => bytes > 75 * MB);
  expect(await run('')).toEqual({ args: ['--watch'], bytes: large });
});
