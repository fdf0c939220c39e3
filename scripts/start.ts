// npm start, pnpm dev (--watch): builds the pages if need be, runs the API, the worker and, without DATABASE_URL, the database; keeps
// them running and stops them in order.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { makeDataFolder } from './data-folder.ts';
import { explainFailure } from './explain-failure.ts';
import { banner } from './supervisor-banner.ts';
import { superviseProgram, type SupervisedChild } from './supervisor-child.ts';
import { superviseDatabase, type SupervisedDatabase } from './supervisor-database.ts';
import { loadOrCreateKeys } from './supervisor-keys.ts';
import { lockDataFolder } from './supervisor-lock.ts';
import { dropCompiler } from './supervisor-memory.ts';
import { buildPages, hasPages } from './supervisor-pages.ts';
import { expectFree, freePort } from './supervisor-ports.ts';
import { type Preparation, startPreparation } from './supervisor-preparation.ts';

// Everything must have ended within 20 s; the rest of it is for the database, which stops last
const graceMs = 17_000;
// A second signal within this time is an echo of the first: the terminal, npm and the bootstrap may each send one
const echoMs = 500;
// The worker starts when the API is up, and at the latest after this time
const headStartMs = 5_000;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isWatching = process.argv.includes('--watch');

dropCompiler();

const stop = new AbortController();
let stopAskedAt = 0;
let exitCode = 0;
let preparation: Preparation | null = null;
let database: SupervisedDatabase | null = null;
let children: SupervisedChild[] = [];
let unlock: (() => Promise<void>) | null = null;
let unshownPassword: string | null = null;

const say = (line: string): void => console.log(`portal: ${line}`);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, askToStop);
// The reader of our output is gone
process.stdout.on('error', askToStop);
const parents = parentsUnderNpm();
setInterval(() => {
  // Under npm or pnpm a signal may end our parents alone
  if (parentsUnderNpm() !== parents) askToStop();
}, 500);

try {
  await bringUp();
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
} catch (error) {
  if (!stop.signal.aborted) {
    console.error(explainFailure(await withPanic(error)));
    exitCode = 1;
  }
}
await takeDown();
process.exit(exitCode);

/** A lost connection says less than the database that gave it up. */
async function withPanic(error: unknown): Promise<unknown> {
  const panic = (await database?.panic()) ?? null;
  return panic === null ? error : new Error(`The database gave up: ${panic}`, { cause: error });
}

async function bringUp(): Promise<void> {
  const dataDir = resolve(root, process.env['DATA_DIR'] || '.data');
  await makeDataFolder(dataDir);
  unlock = await lockDataFolder(dataDir);

  const isEmbedded = !process.env['DATABASE_URL'];
  // Only the migration gets the login that owns the tables
  const { DATABASE_MIGRATION_URL: migrationUrl, ...given } = process.env;
  const env: NodeJS.ProcessEnv = {
    // Otherwise each thread keeps several megabytes of heap that other threads cannot use
    MALLOC_ARENA_MAX: '2',
    // A line for each job would scroll these messages out of sight within a minute
    ...(process.stdout.isTTY && { LOG_LEVEL: 'warn' }),
    ...given,
    DATA_DIR: dataDir,
  };
  if (isEmbedded) await addKeys(env, dataDir);
  preparation = startPreparation({ ...env, DATABASE_MIGRATION_URL: migrationUrl });
  const currentEnv = () => (database ? { ...env, DATABASE_URL: database.appUrl() } : env);
  const programs = await preloadApi(currentEnv);
  await fixPorts(env, await preparation.settings);
  const { arePagesStale: areStale } = preparation;
  const pagesBuilt = buildPages({ env: process.env, isWatching, areStale, signal: stop.signal, say });

  if (isEmbedded) await startDatabase(join(dataDir, 'postgres'));
  stop.signal.throwIfAborted();
  const ownerUrl = database?.ownerUrl() ?? (migrationUrl || null);
  const prepared = await preparation.prepare({ env: currentEnv(), ownerUrl });
  unshownPassword = prepared.generatedPassword;
  stop.signal.throwIfAborted();

  await programs.begin(async (url) => {
    // The API need not wait for the pages, but people who read that the portal runs open them
    await pagesBuilt;
    if (stop.signal.aborted) return;
    const databaseFolder = database?.folder ?? null;
    const address = url ?? prepared.publicUrl;
    console.log(banner({ ...prepared, address, hasPages: hasPages(process.env), dataDir, databaseFolder }));
    unshownPassword = null;
  });
}

async function addKeys(env: NodeJS.ProcessEnv, dataDir: string): Promise<void> {
  const stored = await loadOrCreateKeys(dataDir);
  env['SESSION_SECRET'] ||= stored.SESSION_SECRET;
  env['SECRETS_KEYS'] ||= stored.SECRETS_KEYS;
}

/** Fixes every port before the first start: links in mails contain it, and a restart must not change it. */
async function fixPorts(env: NodeJS.ProcessEnv, { host, port }: Awaited<Preparation['settings']>): Promise<void> {
  if (port === 0) env['PORT'] = String(await freePort(host));
  else await expectFree(host, port);
  env['WORKER_METRICS_PORT'] ||= String(await freePort(host));
}

async function startDatabase(folder: string): Promise<void> {
  database = await superviseDatabase(folder, {
    say,
    onMoved() {
      for (const child of children) child.replace();
    },
  });
}

/** Lets the API load its modules while the database is prepared. `begin` starts the API, and the worker after it. */
async function preloadApi(env: () => NodeJS.ProcessEnv) {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const watch = isWatching ? ['--watch', '--watch-preserve-output'] : [];
  const args = (app: string): string[] => [
    ...(manifest.scripts[`start:${app}`]?.match(/--max-\S+/g) ?? []),
    ...watch,
    '--import',
    pathToFileURL(join(root, 'scripts', 'supervised-process.ts')).href,
    join(root, 'apps', app, 'src', 'main.ts'),
  ];
  const plan = {
    env,
    say,
    onWrongSettings() {
      exitCode = 1;
      stop.abort();
    },
  };
  let isFirst = true;
  const firstReady = Promise.withResolvers<string | null>();
  const startApi = (preload?: string): SupervisedChild =>
    superviseProgram({
      ...plan,
      name: 'API',
      args: args('api'),
      ...(preload !== undefined && { preload }),
      onReady(url) {
        if (!isFirst) say('The API answers again.');
        isFirst = false;
        firstReady.resolve(url);
      },
    });
  // The program of a watcher starts more often than the watcher, and would wait for settings each time
  const preloaded = isWatching ? null : startApi(pathToFileURL(join(root, 'apps', 'api', 'src', 'app.ts')).href);
  if (preloaded) children = [preloaded];
  return {
    async begin(onFirstReady: (url: string | null) => Promise<void>): Promise<void> {
      void firstReady.promise.then(onFirstReady);
      if (preloaded) preloaded.begin();
      else children = [startApi()];
      // On few cores both would take twice as long side by side, and people wait for the API.
      await Promise.race([firstReady.promise, pause(headStartMs, null, { signal: stop.signal })]).catch(() => {});
      if (!stop.signal.aborted)
        children.push(superviseProgram({ ...plan, name: 'worker', args: args('worker'), onReady() {} }));
    },
  };
}

/** Identifies the parent processes up to npm, as far as they are visible; empty without npm. */
function parentsUnderNpm(): string {
  if (!process.env['npm_lifecycle_event']) return '';
  // npm runs scripts through a shell, which may remain between npm and this process
  const shell = /\((?:ba|da|z)?sh\) \S+ (\d+)/.exec(readIfThere(`/proc/${process.ppid}/stat`));
  return `${process.ppid} ${shell?.[1] ?? ''}`;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function askToStop(): void {
  if (!stop.signal.aborted) {
    stopAskedAt = performance.now();
    say('Stopping …');
    stop.abort();
    return;
  }
  if (performance.now() - stopAskedAt < echoMs) return;
  if (children.length === 0) process.exit(1);
  for (const child of children.splice(0)) child.kill();
}

async function takeDown(): Promise<void> {
  preparation?.end();
  if (unshownPassword !== null) say(`The password of the first administrator is ${unshownPassword} (shown this once).`);
  await Promise.all(children.map((child) => child.stop(graceMs)));
  await database?.stop().catch((error: unknown) => say(explainFailure(error)));
  await unlock?.();
}
