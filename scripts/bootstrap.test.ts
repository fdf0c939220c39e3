import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const pnpm = `#!/bin/sh
if [ "$1" = --version ]; then echo 12.0.0; exit; fi
sleep 0.3
echo "$@" >> installs
mkdir -p node_modules
exit $(cat install-result)
`;

/** A checkout with nothing but what the bootstrap looks at, and a pnpm that only notes what it is asked to do. */
async function makeCheckout() {
  const root = await mkdtemp(join(tmpdir(), 'portal-bootstrap-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'scripts'));
  await mkdir(join(root, 'bin'));
  await mkdir(join(root, 'packages', 'one'), { recursive: true });
  await cp(join(import.meta.dirname, 'bootstrap.mjs'), join(root, 'scripts', 'bootstrap.mjs'));
  await writeFile(join(root, '.node-version'), `${process.versions.node}\n`);
  for (const path of ['package.json', 'packages/one/package.json']) await writeFile(join(root, path), '{}');
  for (const path of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'installs']) await writeFile(join(root, path), '');
  await writeFile(join(root, 'install-result'), '0');
  await writeFile(join(root, 'bin', 'pnpm'), pnpm);
  await chmod(join(root, 'bin', 'pnpm'), 0o755);

  const run = (...args: string[]) => {
    const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
    const env = { PATH: [join(root, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter) };
    execFile(process.execPath, ['scripts/bootstrap.mjs', ...args], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    return promise;
  };
  const installs = async () => (await readFile(join(root, 'installs'), 'utf8')).split('\n').filter(Boolean).length;
  return { root, run, installs };
}

it('installs before the first command only', async () => {
  const { run, installs } = await makeCheckout();
  expect(await run('exec', 'echo', 'hello')).toMatchObject({ code: 0, stdout: 'hello\n' });
  expect(await installs()).toBe(1);
  expect(await run('exec', 'echo', 'again')).toMatchObject({ code: 0, stdout: 'again\n', stderr: '' });
  expect(await installs()).toBe(1);
});

it.each(['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', 'packages/one/package.json'])(
  'installs again after a change of %s',
  async (path) => {
    const { root, run, installs } = await makeCheckout();
    await run('exec', 'true');
    await writeFile(join(root, path), '{ "changed": true }');
    await run('exec', 'true');
    expect(await installs()).toBe(2);
  },
);

it('installs once for several starts at once, also beside the lock of a killed one', async () => {
  const { root, run, installs } = await makeCheckout();
  await mkdir(join(root, '.cache', 'install-lock'), { recursive: true });
  await writeFile(join(root, '.cache', 'install-lock', '4194999'), '');
  const results = await Promise.all([1, 2, 3, 4].map(() => run('exec', 'true')));
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(await installs()).toBe(1);
});

it('tries again after an install that failed', async () => {
  const { root, run, installs } = await makeCheckout();
  await writeFile(join(root, 'install-result'), '7');
  expect(await run('exec', 'true')).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 7') });
  await writeFile(join(root, 'install-result'), '0');
  expect(await run('exec', 'true')).toMatchObject({ code: 0 });
  expect(await installs()).toBe(2);
});

it("answers with the command's exit code", async () => {
  const { run } = await makeCheckout();
  expect(await run('exec', 'sh', '-c', 'exit 5')).toMatchObject({ code: 5 });
  expect(await run('exec', 'sh', '-c', 'kill -TERM $$')).toMatchObject({ code: 143 });
});

it('explains itself when it does not know the command', async () => {
  const { run } = await makeCheckout();
  expect(await run('dance')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Usage:/) });
});
