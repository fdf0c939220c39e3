import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '..');
const key = `test:${Buffer.alloc(32).toString('base64')}`;
// It needs no servers to start.
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

const packagesOf = (urls: string[]): string[] => {
  const found = urls.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? '');
  return [...new Set(found)].filter((name) => named.has(name)).toSorted();
};

it('loads little for the API to start that waits for a call', async () => {
  const child = spawn(process.execPath, ['--import', told, join(root, 'apps/api/src/main.ts')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect((await fetch(`${url}/no-such-path`)).status).toBe(404);
  const answer = once(child, 'message');
  child.send('?');
  const [urls] = (await answer) as [string[]];
  const everywhere = ['drizzle-orm', 'pg', 'pino', 'prom-client', 'zod'];
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
  // 3 ms
  const ofReports = ['bowser'];
  // 8 ms and 1 MB
  const ofDirectories = ['ldapts'];
  expect(packagesOf(urls)).toEqual(
    [...everywhere, ...ofRequests, ...ofAnswers, ...ofReports, ...ofDirectories, ...ofSignIns].toSorted(),
  );
  expect(urls.filter((each) => each.endsWith('/handlers.ts'))).toEqual([]);
  // Fastify's own compilers of schemas.
  expect(urls.filter((each) => /\/node_modules\/ajv\//.test(each))).toEqual([]);
});
