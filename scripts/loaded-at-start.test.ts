import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { programEnv } from '@portal/testing/program';

const root = join(import.meta.dirname, '..');
const key = `test:${Buffer.alloc(32).toString('base64')}`;
// API and worker start without their servers.
const env = {
  ...programEnv,
  DATABASE_URL: 'postgres://portal@127.0.0.1:9/portal',
  SESSION_SECRET: key,
  SECRETS_KEYS: key,
  PORT: '0',
  LOG_LEVEL: 'fatal',
};

/** Preloaded before the program: answers each message with the modules loaded so far, including those of Node. */
const moduleReporter = `data:text/javascript,${encodeURIComponent(`
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

/** The direct dependencies of apps and packages; the others load because of these. */
const direct = new Set(
  globSync('{apps,packages}/*/package.json', { cwd: root }).flatMap((path) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    return Object.keys(dependencies).filter((name) => !name.startsWith('@portal/'));
  }),
);

const packagesOf = (urls: string[]): string[] => {
  const found = urls.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? '');
  return [...new Set(found)].filter((name) => direct.has(name)).toSorted();
};

/** Starts a program without its servers. Returns its first message, and a function that asks which modules it has loaded. */
async function start(app: 'api' | 'worker') {
  const child = spawn(process.execPath, ['--import', moduleReporter, join(root, `apps/${app}/src/main.ts`)], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [ready] = (await once(child, 'message')) as [{ url?: string }];
  const loaded = async (): Promise<string[]> => {
    const answer = once(child, 'message');
    child.send('?');
    const [urls] = (await answer) as [string[]];
    return urls;
  };
  return { ready, loaded };
}

it('loads few packages before the API has handled requests', async () => {
  const { ready, loaded } = await start('api');
  expect((await fetch(`${ready.url}/health`)).status).toBe(200);
  expect((await fetch(`${ready.url}/no-such-path`)).status).toBe(404);
  const urls = await loaded();
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
  // Fastify's own schema compiler.
  expect(urls.filter((each) => /\/node_modules\/ajv\//.test(each))).toEqual([]);
});

it('loads no mailbox client before the worker reads a mailbox', async () => {
  const { loaded } = await start('worker');
  const packages = packagesOf(await loaded());
  expect(packages).toContain('nodemailer');
  expect(packages).not.toContain('imapflow');
});
