import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';

const root = join(import.meta.dirname, '..');
const key = `test:${Buffer.alloc(32).toString('base64')}`;
// Neither needs its servers to start, and a worker without a queue has no job that would load anything.
const env = {
  PATH: process.env['PATH'],
  DATABASE_URL: 'postgres://portal@127.0.0.1:9/portal',
  SESSION_SECRET: key,
  SECRETS_KEYS: key,
  PORT: '0',
  LOG_LEVEL: 'fatal',
};

/** Loaded ahead of the program: tells what has been loaded, also of Node itself, whenever it is asked. */
const told = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({
    load(url, context, nextLoad) {
      urls.push(url);
      return nextLoad(url, context);
    },
  });
  process.on('message', () => process.send([...urls, ...process.moduleLoadList]));
`)}`;

/** What the manifests of apps and packages name: each of these packages is loaded for a reason of ours. */
const named = new Set(
  globSync('{apps,packages}/*/package.json', { cwd: root }).flatMap((path) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    return Object.keys(dependencies).filter((name) => !name.startsWith('@portal/'));
  }),
);

const started: ChildProcess[] = [];
afterAll(async () => {
  for (const child of started) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

/** Starts an app and asks what it has loaded by the time it is up. */
async function start(app: 'api' | 'worker') {
  const child = spawn(process.execPath, ['--import', told, join(root, 'apps', app, 'src', 'main.ts')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  started.push(child);
  const [{ url }] = (await once(child, 'message')) as [{ url?: string }];
  const loaded = async (): Promise<string[]> => {
    const answer = once(child, 'message');
    child.send('?');
    return ((await answer) as [string[]])[0];
  };
  return { url, loaded };
}

const packagesOf = (urls: string[]): string[] => {
  const found = urls.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? '');
  return [...new Set(found)].filter((name) => named.has(name)).toSorted();
};

const inBoth = ['drizzle-orm', 'pg', 'pino', 'prom-client', 'zod'];

it('loads nothing for the API to start that waits for a call', async () => {
  const { url, loaded } = await start('api');
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect((await fetch(`${url}/no-such-path`)).status).toBe(404);
  const urls = await loaded();
  const ofRequests = [
    '@fastify/busboy',
    '@fastify/cookie',
    '@fastify/cors',
    'content-disposition',
    'fastify',
    'find-my-way',
  ];
  const ofAnswers = ['fastify-type-provider-zod', 'range-parser'];
  const ofSignIns = ['@node-rs/argon2', 'fast-jwt'];
  expect(packagesOf(urls)).toEqual([...inBoth, ...ofRequests, ...ofAnswers, ...ofSignIns].toSorted());
  // Fastify's own compilers of schemas.
  expect(urls.filter((each) => /\/node_modules\/ajv\//.test(each))).toEqual([]);
});

it('loads nothing for the worker to start that waits for a job', async () => {
  const { loaded } = await start('worker');
  await vi.waitFor(async () => expect((await loaded()).join()).toContain('/queues/postgres-backend.ts'), 20_000);
  const urls = await loaded();
  expect(packagesOf(urls)).toEqual([...inBoth, 'bullmq'].toSorted());
});
