import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedProgram } from '../services.ts';
import type { TestObjectStore } from './object-store.ts';
import { freePort, isReady } from './private-process.ts';

const run = promisify(execFile);

/** What the long runs need of an object store. */
export type RunningStore = Pick<TestObjectStore, 'env' | 'keys' | 'uploads' | 'halt' | 'resume' | 'stop'>;

const packages = {
  'swift-ring-builder': 'swift',
  'swift-proxy-server': 'swift-proxy',
  'swift-account-server': 'swift-account',
  'swift-container-server': 'swift-container',
  'swift-object-server': 'swift-object',
  'swift-object-updater': 'swift-object',
  memcached: 'memcached',
} as const;

type Program = keyof typeof packages;
type Kind = 'proxy' | 'account' | 'container' | 'object';

/** The Debian packages that `startSwift` needs and this machine does not have. */
export const missingSwiftPackages = (): string[] => [
  ...new Set(
    Object.entries(packages)
      .filter(([program]) => installedProgram(program) === null)
      .map(([, debianPackage]) => debianPackage),
  ),
];

const account = 'AUTH_portal';
const accessKeyId = 'portal:files';
const bucket = 'portal-files';
// Not the default, so that a client which ignores its region is refused
const region = 'berlin-1';
const secretAccessKey = 'the-secret-of-a-test';

// `<key>/<upload>/<part>`, where the S3 interface keeps parts; without a part, its mark of an upload
const uploadName = /^(?<upload>(?<key>.*)\/[\w=-]{20,})(?:\/(?<part>\d+))?$/;

/** The kernel ends a server with this process, even if that is killed. */
const endsWithUs = ['setpriv', '--pdeathsig', 'KILL'];

// Swift's programs always read the system's swift.conf, besides their own configuration
const startedBy = `
import runpy, sys
from swift.common import utils
utils.SWIFT_CONF_FILE = sys.argv[1]
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name='__main__')
`;

const swiftConf = `
[swift-hash]
swift_hash_path_suffix = portal-test
[storage-policy:0]
name = only
default = yes
`;

const common = (folder: string, port: number): string => `
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${folder}/devices
recon_cache_path = ${folder}/recon
lock_path = ${folder}/lock
mount_check = false
workers = 0
log_level = ERROR
`;

const storageServer = (kind: Kind, folder: string, port: number): string => `${common(folder, port)}
[pipeline:main]
pipeline = healthcheck ${kind}-server
[filter:healthcheck]
use = egg:swift#healthcheck
[app:${kind}-server]
use = egg:swift#${kind}
${kind === 'object' ? updates : ''}`;

// The object server tells the container server about an object before it answers. What is not told within the time limit, the updater tells later.
const updates = `
container_update_timeout = 10
[object-updater]
interval = 1
concurrency = 1
updater_workers = 0
`;

// As Swift's manual sets up its S3 interface; clock skew, sizes and counts are its defaults
const proxyServer = (folder: string, port: number, cachePort: number): string => `${common(folder, port)}
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:s3api]
use = egg:swift#s3api
location = ${region}
[filter:tempauth]
use = egg:swift#tempauth
user_portal_files = ${secretAccessKey} .admin
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${cachePort}
${['catch_errors', 'gatekeeper', 'healthcheck', 'listing_formats', 'bulk', 'copy', 'slo', 'dlo']
  .map((name) => `[filter:${name}]\nuse = egg:swift#${name}`)
  .join('\n')}
`;

/**
 * Starts Debian's OpenStack Swift with its S3 interface as private processes on 127.0.0.1: proxy, account, container and object server, one
 * copy of each object. The file system of the temporary folder must support extended attributes.
 */
export async function startSwift(): Promise<RunningStore> {
  const missing = missingSwiftPackages();
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-swift-'));
  const ports = { account: await freePort(), container: await freePort(), object: await freePort() };
  const proxyPort = await freePort();
  const cachePort = await freePort();
  const all: Record<Kind, number> = { ...ports, proxy: proxyPort };
  const stores = Object.entries(ports) as [Exclude<Kind, 'proxy'>, number][];
  let running: ChildProcess[] = [];

  async function configure(): Promise<void> {
    for (const name of ['devices/disk', 'recon', 'lock']) await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, 'swift.conf'), swiftConf);
    await writeFile(join(folder, 'proxy.conf'), proxyServer(folder, proxyPort, cachePort), { mode: 0o600 });
    await Promise.all(
      stores.map(async ([kind, port]) => {
        await writeFile(join(folder, `${kind}.conf`), storageServer(kind, folder, port));
        await buildRing(kind, port);
      }),
    );
  }

  /** The ring says where objects lie: with a single partition, all are at one server. */
  async function buildRing(kind: Kind, port: number): Promise<void> {
    const build = (...args: string[]) =>
      run(pathOf('swift-ring-builder'), [join(folder, `${kind}.builder`), ...args], { timeout: 60_000 });
    await build('create', '0', '1', '0');
    await build('add', `r1z1-127.0.0.1:${port}/disk`, '1');
    await build('rebalance');
  }

  function start(command: string, args: string[]): ChildProcess {
    const [program = command, ...rest] = [...endsWithUs, command, ...args];
    const server = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
    running.push(server);
    return server;
  }

  const startSwiftProgram = (name: Program, kind: Kind): ChildProcess =>
    start('/usr/bin/python3', [
      '-c',
      startedBy,
      join(folder, 'swift.conf'),
      pathOf(name),
      join(folder, `${kind}.conf`),
      '-v',
    ]);

  async function resume(): Promise<void> {
    const cache = ['-l', '127.0.0.1', '-p', `${cachePort}`, '-u', userInfo().username, '-m', '16'];
    collectComplaint(start(pathOf('memcached'), cache));
    await Promise.all(
      (Object.entries(all) as [Kind, number][]).map(async ([kind, port]) => {
        const server = startSwiftProgram(`swift-${kind}-server`, kind);
        const complaint = collectComplaint(server);
        const isUp = await isReady(server, () => answers(`http://127.0.0.1:${port}/healthcheck`));
        if (!isUp) throw new Error(`Swift's ${kind} server did not start: ${complaint()}`);
      }),
    );
    collectComplaint(startSwiftProgram('swift-object-updater', 'object'));
  }

  async function halt(): Promise<void> {
    const ending = running;
    running = [];
    await Promise.all(
      ending.map(async (server) => {
        if (server.exitCode !== null || server.signalCode !== null) return;
        const ended = once(server, 'exit');
        server.kill('SIGKILL');
        await ended;
      }),
    );
  }

  async function stop(): Promise<void> {
    await halt();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  const containerUrl = (container: string): string =>
    `http://127.0.0.1:${ports.container}/disk/0/${account}/${encodeURIComponent(container)}`;

  async function makeBucket(): Promise<void> {
    const headers = { 'X-Timestamp': (Date.now() / 1_000).toFixed(5), 'X-Backend-Storage-Policy-Index': '0' };
    for (const url of [`http://127.0.0.1:${ports.account}/disk/0/${account}`, containerUrl(bucket)]) {
      const { status } = await fetch(url, { method: 'PUT', headers, signal: AbortSignal.timeout(10_000) });
      if (status >= 300) throw new Error(`Swift did not create ${url}: ${status}`);
    }
  }

  /** The names in a container as its server lists them, without the S3 interface. */
  async function namesIn(container: string): Promise<string[]> {
    const names: string[] = [];
    for (;;) {
      const url = `${containerUrl(container)}?format=json&marker=${encodeURIComponent(names.at(-1) ?? '')}`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) });
      if (answer.status === 404) return names;
      if (!answer.ok) throw new Error(`Swift did not list ${container}: ${answer.status}`);
      const page = (await answer.json()) as { name: string }[];
      if (page.length === 0) return names;
      names.push(...page.map(({ name }) => name));
    }
  }

  async function uploads(): Promise<string[]> {
    const parts = await namesIn(`${bucket}+segments`);
    const complete = new Set(await namesIn(bucket));
    const found = parts.map((name) => uploadName.exec(name)?.groups ?? { upload: name });
    // The S3 interface marks an upload by an object without a number, until it ends.
    const open = found.filter(({ key, part }) => part === undefined || !complete.has(key ?? ''));
    return [...new Set(open.map(({ upload = '' }) => upload))];
  }

  try {
    await configure();
    await resume();
    await makeBucket();
  } catch (error) {
    await stop();
    throw error;
  }
  let prefixes = 0;
  return {
    env: (prefix = `run-${(prefixes += 1)}`) => ({
      FILES_URL: `s3://${bucket}/${prefix}?endpoint=http://127.0.0.1:${proxyPort}&region=${region}`,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    }),
    keys: async (prefix) => (await namesIn(bucket)).filter((name) => name.startsWith(prefix)),
    uploads,
    halt,
    resume,
    stop,
  };
}

function pathOf(name: Program): string {
  const path = installedProgram(name);
  if (path === null) throw new Error(`${name} is not installed`);
  return path;
}

/** Reads the server's messages, so that it never waits for a reader. Returns a function that returns the last ones. */
function collectComplaint(server: ChildProcess): () => string {
  let complaint = '';
  server.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = `${complaint}${text}`.slice(-2_000)));
  return () => complaint;
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
