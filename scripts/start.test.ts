import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { appendFile, chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { stopEmbeddedPostgres } from '@portal/db/embedded';
import { noSources } from '@portal/testing/no-sources';
import { programEnv } from '@portal/testing/program';
import { serviceBinary } from '@portal/testing/services';
import { expectDocumentedStatuses } from './document-calls.ts';
import { commandsOf } from './document-commands.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'portal-start-'));
// As root, the database runs under another account, which must be able to enter the folder
if (process.getuid?.() === 0) await chmod(dataDir, 0o711);

const started: Start[] = [];

afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await stopEmbeddedPostgres(join(dataDir, 'postgres'));
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
});

interface Start {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
}

const plain: [string, ...string[]] = [process.execPath, '--max-semi-space-size=1', 'scripts/start.ts'];
/** The same command in a terminal. */
const inTerminal: typeof plain = ['script', '--quiet', '--return', '--command', plain.join(' '), '/dev/null'];

const root = join(import.meta.dirname, '..');

function start(env: Record<string, string> = {}, [program, ...args] = plain, cwd = root): Start {
  const child = spawn(program, args, {
    cwd,
    env: { ...programEnv, PORT: '0', DATA_DIR: dataDir, ...noSources, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const result = { child, output: () => output, ended: once(child, 'close').then(([code]) => code as number | null) };
  started.push(result);
  return result;
}

const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 60_000, interval: 50 });

async function addressOf({ output }: Start): Promise<string> {
  return eventually(() => {
    expect(output()).toContain('Portal is running.');
    return /Address +(\S+)/.exec(output())?.[1] ?? '';
  });
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

/** Process id of an app under the supervisor. Waits for it, as the worker starts after the API. */
const pidOf = ({ child }: Start, app: string): Promise<number> =>
  eventually(() => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join('apps', app)));
    expect(found).toBeDefined();
    return Number(found);
  });

const databasePid = (): number =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10);

const hasCurl = serviceBinary('curl') !== null;

// The tests share one data folder: the first start creates it for the later ones.
describe.runIf(process.platform === 'linux' && hasCurl)('npm start', { timeout: 120_000, shuffle: false }, () => {
  it('names every wrong setting and does not start', async () => {
    const wrong = start({ PORT: 'abc', LOG_LEVEL: 'loud' });
    expect(await wrong.ended).toBe(1);
    expect(wrong.output()).toMatch(/^These settings are wrong:\n {2}PORT: .*\n {2}LOG_LEVEL: .*\n$/);
  });

  it('says what to do about a port in use or an address the machine does not have', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const taken = start({ PORT: String(port) });
    expect(await taken.ended).toBe(1);
    expect(taken.output()).toBe(
      `Cannot use port ${port} of 127.0.0.1: another program uses it. End that program, or choose another port with PORT.\n`,
    );
    // Reserved for documentation (RFC 5737), so no machine has it
    const elsewhere = start({ HOST: '192.0.2.1', PORT: '3000' });
    expect(await elsewhere.ended).toBe(1);
    expect(elsewhere.output()).toBe(
      'Cannot use port 3000 of 192.0.2.1: this machine does not have that address. Choose another one with HOST.\n',
    );
  });

  it('runs everything, answers the first calls of README.md, restarts killed processes and stops cleanly', async () => {
    const first = start();
    const address = await addressOf(first);
    const [, trouble = ''] = /Trouble +(\S+) /.exec(first.output()) ?? [];
    expect(trouble).toBe('docs/operating.md');
    const password = /admin, password (\S+)/.exec(first.output())?.[1] ?? '';
    const [, firstCalls = ''] = commandsOf('README.md');
    expect(await expectDocumentedStatuses(firstCalls.replaceAll('THE PRINTED ONE', password), address)).toContain(
      '"title":"Renew the certificate"',
    );

    // It has 60 MB; with the packages of migration and seed it had 150 MB
    const [, resident] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${first.child.pid}/status`, 'utf8')) ?? [];
    expect(Number(resident)).toBeLessThan(72_000);

    const reset = spawnSync(process.execPath, ['scripts/reset-password.ts', 'admin'], {
      cwd: join(import.meta.dirname, '..'),
      env: { ...programEnv, DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    expect([reset.status, reset.stderr]).toEqual([0, '']);
    expect(reset.stdout).toMatch(/^Temporary password of admin: \S+\n/);
    const rotated = spawnSync(process.execPath, ['scripts/rotate-secrets.ts'], {
      cwd: join(import.meta.dirname, '..'),
      env: { ...programEnv, DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    expect([rotated.status, rotated.stderr]).toEqual([0, '']);

    const addressesOf = async (app: string): Promise<string[]> =>
      readFileSync(`/proc/${await pidOf(first, app)}/environ`, 'utf8')
        .split('\0')
        .filter((setting) => setting.includes('postgres://'));
    const ofTheApps = [expect.stringMatching(/^DATABASE_URL=postgres:\/\/portal_login:/)];
    expect(await addressesOf('worker')).toEqual(ofTheApps);
    // The first API got its address by a message, so its environment at the start has none
    expect(await addressesOf('api')).toEqual([]);
    expect(first.output()).not.toContain('stronger than the apps need');

    process.kill(await pidOf(first, 'api'), 'SIGKILL');
    await eventually(() => expect(first.output()).toContain('The API answers again.'));
    expect(await statusOf(`${address}/health`)).toBe(200);
    expect(await addressesOf('api')).toEqual(ofTheApps);

    process.kill(databasePid(), 'SIGKILL');
    await eventually(() => expect(first.output()).toContain('PostgreSQL is running again.'));
    await eventually(async () => expect(await statusOf(`${address}/health/ready`)).toBe(200));

    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toBe(
      `Portal already runs on ${dataDir} (process ${first.child.pid}). Stop it first, or set DATA_DIR to another folder.\n`,
    );

    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await expect(fetch(`${address}/health`)).rejects.toThrow('fetch failed');
    expect(() => databasePid()).toThrow('ENOENT');
  });

  it('continues after the supervisor was killed, without a new password and without building the pages again', async () => {
    const killed = start();
    const address = await addressOf(killed);
    const [database, worker] = [databasePid(), await pidOf(killed, 'worker')];
    killed.child.kill('SIGKILL');
    await eventually(() => expect(fetch(`${address}/health`)).rejects.toThrow('fetch failed'));
    await eventually(() => expect(() => process.kill(worker, 0)).toThrow('ESRCH'));

    const next = start({ PORT: new URL(address).port });
    expect(await addressOf(next)).toBe(address);
    expect(databasePid()).toBe(database);
    expect(next.output()).not.toMatch(/password|The pages|Built/);
    await eventually(() => expect(next.output()).toContain('"msg":"the API is up"'));
    next.child.kill('SIGINT');
    expect(await next.ended).toBe(0);
  });

  it('logs only warnings and errors in a terminal, so that messages to people stay in sight', async () => {
    const shown = start({}, inTerminal);
    const address = await addressOf(shown);
    expect(shown.output()).toMatch(/Log +warnings and errors/);
    await eventually(async () => expect(await statusOf(`${address}/health/ready`)).toBe(200));
    shown.child.kill('SIGTERM');
    await shown.ended;
    await eventually(() => expect(fetch(`${address}/health`)).rejects.toThrow('fetch failed'));
    expect(shown.output()).not.toContain('"level":"info"');
  });
});

/** A copy of this checkout without a build, and with the packages of this one. */
async function copyCheckout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-start-checkout-'));
  await chmod(folder, 0o711);
  const leftOut = /apps\/web\/dist|client\/src\/interface\.ts$/;
  for (const name of ['apps', 'packages', 'scripts', 'drizzle', 'package.json', 'tsconfig.base.json', 'pnpm-lock.yaml'])
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !leftOut.test(path),
    });
  // Our own packages by links that lead to the copies
  await mkdir(join(folder, 'node_modules'));
  for (const name of await readdir(join(root, 'node_modules'))) {
    const [from, to] = [join(root, 'node_modules', name), join(folder, 'node_modules', name)];
    if (name === '@portal') await cp(from, to, { recursive: true, verbatimSymlinks: true });
    else await symlink(from, to);
  }
  return folder;
}

const startIn = (checkout: string, ...args: string[]): Start =>
  start({ DATA_DIR: join(checkout, '.data') }, [...plain, ...args], checkout);

// The tests share one checkout, whose first start prepares the database for the later ones.
describe.runIf(process.platform === 'linux')('the pages', { timeout: 240_000, shuffle: false }, () => {
  let checkout: string;
  beforeAll(async () => {
    checkout = await copyCheckout();
  });
  afterAll(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await stopEmbeddedPostgres(join(checkout, '.data', 'postgres'));
    await rm(checkout, { recursive: true, force: true, maxRetries: 3 });
  });
  const stop = async ({ child, ended }: Start): Promise<void> => {
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  };

  it('are built by the first start', async () => {
    const first = startIn(checkout);
    const address = await addressOf(first);
    expect(first.output()).toMatch(/portal: Built the pages in .*\n/);
    expect(first.output()).toMatch(/Portal is running\.\n\n {2}Open +(\S+)\/app\n {2}Address +\1\n/);
    const page = await fetch(`${address}/app`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? [];
    expect(await statusOf(address + script)).toBe(200);
    await stop(first);
  });

  it('are built again after each change under a watcher, which has no settings before the database is prepared', async () => {
    const main = join(checkout, 'apps/web/src/main.tsx');
    const source = readFileSync(main, 'utf8');
    const watched = startIn(checkout, '--watch');
    const address = await addressOf(watched);
    await eventually(async () => expect(await statusOf(`${address}/health/ready`)).toBe(200));
    expect(watched.output()).not.toMatch(/Restarting|These settings are wrong/);
    const pageOf = async (): Promise<string> => (await fetch(`${address}/app`)).text();
    const before = await pageOf();
    expect(before).toContain('/assets/');

    await writeFile(main, 'const broken = ;');
    await eventually(() => expect(watched.output()).toMatch(/The pages could not be built\.\n.*[\s\S]*main\.tsx:1:16/));
    expect(await pageOf()).toBe(before);
    await writeFile(main, `${source}\nconsole.info('changed');\n`);
    await eventually(async () => expect(await pageOf()).not.toBe(before));
    await stop(watched);
  });

  it('of the build before are shown if a source is faulty; without one, the API runs alone', async () => {
    await appendFile(join(checkout, 'apps/web/src/main.tsx'), '\nconst broken = ;\n');
    const faulty = startIn(checkout);
    expect(await statusOf(`${await addressOf(faulty)}/app`)).toBe(200);
    expect(faulty.output()).toMatch(
      /portal: The pages could not be built: .*main\.tsx:\d+:\d+\)\. Those built before are shown; .*\n/,
    );
    await stop(faulty);

    await rm(join(checkout, 'apps/web/dist'), { recursive: true });
    const withoutPages = startIn(checkout);
    const address = await addressOf(withoutPages);
    expect(withoutPages.output()).toMatch(/portal: The pages could not be built: .*\. The API runs without them; .*\n/);
    expect(withoutPages.output()).toMatch(/Portal is running\.\n\n {2}Address +\S+\n/);
    expect(await statusOf(`${address}/app`)).toBe(404);
    expect(await statusOf(`${address}/health`)).toBe(200);
    await stop(withoutPages);
  });
});
