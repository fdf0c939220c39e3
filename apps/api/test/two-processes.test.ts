import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { testConfig } from '@portal/testing/runtime';
import { startRedis } from '@portal/testing/servers/redis';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { serviceBinary } from '@portal/testing/services';
import { seedFirstStart } from '@portal/usecases/tenants/seed-first-start';

const main = (app: 'api' | 'worker') => fileURLToPath(new URL(`../../${app}/src/main.ts`, import.meta.url));
const seedPassword = 'the first password';

interface Running {
  child: ChildProcess;
  url: string;
}

/** One of the two programs as its own process; resolves when it says that it is up. */
async function startProgram(app: 'api' | 'worker', env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, [main(app)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { url } = await new Promise<{ url?: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { url?: string }));
    child.once('exit', (code) => reject(new Error(`${app} ended with ${code}`)));
  });
  return { child, url: url ?? '' };
}

async function stopProgram({ child }: Running): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return ended;
}

const withRedis = serviceBinary('redis-server') !== null;

for (const backend of withRedis ? (['postgres', 'redis'] as const) : (['postgres'] as const)) {
  it(
    `two processes take a new account from its reset mail to its first sign-in, jobs in ${backend}`,
    { timeout: 60_000 },
    async () => {
      const { api, worker, server } = await start(backend);
      const call = async (method: string, path: string, body?: object, cookie?: string) => {
        const answer = await fetch(`${api.url}${path}`, {
          method,
          headers: { ...(body && { 'content-type': 'application/json' }), ...(cookie && { cookie }) },
          ...(body && { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        return {
          status: answer.status,
          cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '',
          body: text === '' ? null : JSON.parse(text),
        };
      };

      const first = await call('POST', '/auth/login', { username: 'admin', password: seedPassword });
      expect(first.body).toMatchObject({ user: { role: 'SUPER_ADMIN', mustChangePassword: true } });
      expect((await call('GET', '/users', undefined, first.cookie)).body).toMatchObject({
        code: 'PASSWORD_CHANGE_REQUIRED',
      });
      const { cookie } = await call(
        'POST',
        '/auth/change-password',
        { currentPassword: seedPassword, newPassword: 'the second password' },
        first.cookie,
      );
      const tenant = await call('POST', '/tenants', { name: 'Stadtwerke' }, cookie);
      const user = await call(
        'POST',
        '/users',
        { username: 'anna', email: 'anna@example.org', tenantId: tenant.body.id },
        cookie,
      );
      expect(user.status).toBe(201);

      await call('POST', '/auth/request-reset', { identifier: 'Anna', language: 'en' });
      const mail = await server.waitFor(({ envelopeTo }) => envelopeTo.includes('anna@example.org'), 30_000);
      expect(mail.subject).toBe('Reset your password');
      const token = /reset-password#token=([\w-]{43})/.exec(mail.text)?.[1];
      expect(
        (await call('POST', '/auth/reset-password', { token, newPassword: 'four candles and a fork' })).status,
      ).toBe(204);
      expect(
        (await call('POST', '/auth/login', { username: 'anna', password: 'four candles and a fork' })).status,
      ).toBe(200);
      const notice = await server.waitFor(({ subject }) => subject.includes('Passwort wurde geändert'), 30_000);
      expect(notice.text).not.toContain('http');

      expect(await Promise.all([stopProgram(api), stopProgram(worker)])).toEqual([0, 0]);
      await server.stop();
    },
  );
}

let redis: Awaited<ReturnType<typeof startRedis>> | null = null;
beforeAll(async () => {
  if (withRedis) redis = await startRedis();
});
afterAll(() => redis?.stop());

const databases = { postgres: await testDatabase(), redis: await testDatabase() };

async function start(
  backend: 'postgres' | 'redis',
): Promise<{ api: Running; worker: Running; server: TestSmtpServer }> {
  const server = await startSmtpServer();
  const env = {
    DATABASE_URL: databases[backend].url,
    ...(backend === 'redis' && redis && { REDIS_URL: redis.url }),
    SESSION_SECRET: `test:${Buffer.alloc(32, 3).toString('base64')}`,
    SECRETS_KEYS: `test:${Buffer.alloc(32, 4).toString('base64')}`,
    SEED_ADMIN_PASSWORD: seedPassword,
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(server.port),
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'portal@example.org',
    PORT: '0',
    LOG_LEVEL: 'silent',
  };
  await seedFirstStart(testConfig(databases[backend].url, { SEED_ADMIN_PASSWORD: seedPassword }));
  const [api, worker] = await Promise.all([startProgram('api', env), startProgram('worker', { ...env, PORT: '3000' })]);
  return { api, worker, server };
}
