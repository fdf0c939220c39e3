import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPortal } from '@portal/client/client';
import { rememberCookies } from '@portal/client/cookies';
import { testDatabase } from '@portal/testing/database';
import { programOf } from '@portal/testing/program';
import { testConfig } from '@portal/testing/runtime';
import { startRedis } from '@portal/testing/servers/redis';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { serviceBinary } from '@portal/testing/services';
import { seedFirstStart } from '@portal/usecases/tenants/seed-first-start';

const seedPassword = 'the first password';

interface Running {
  child: ChildProcess;
  url: string;
}

/** Starts one of the two programs as its own process; resolves when it reports that it is ready. */
async function startProgram(app: 'api' | 'worker', env: Record<string, string>): Promise<Running> {
  const program = programOf(`apps/${app}/src/main.ts`, env);
  const child = spawn(program.command, program.args, {
    env: program.env,
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
    `a new account gets its reset mail and signs in, with API and worker as two processes and jobs in ${backend}`,
    { timeout: 60_000 },
    async () => {
      const { api, worker, server } = await start(backend);
      const admin = openPortal({ baseUrl: api.url, fetch: rememberCookies() });
      const first = await admin.post('/auth/login', { body: { username: 'admin', password: seedPassword } });
      expect(first).toMatchObject({ user: { role: 'SUPER_ADMIN', mustChangePassword: true } });
      await expect(admin.get('/users')).rejects.toMatchObject({ status: 403, code: 'PASSWORD_CHANGE_REQUIRED' });
      await admin.post('/auth/change-password', {
        body: { currentPassword: seedPassword, newPassword: 'the second password' },
      });
      const tenant = await admin.post('/tenants', { body: { name: 'Stadtwerke' } });
      await admin.post('/users', { body: { username: 'anna', email: 'anna@example.org', tenantId: tenant.id } });

      const anna = openPortal({ baseUrl: api.url, fetch: rememberCookies() });
      await anna.post('/auth/request-reset', { body: { identifier: 'Anna', language: 'en' } });
      const mail = await server.waitFor(({ envelopeTo }) => envelopeTo.includes('anna@example.org'), 30_000);
      expect(mail.subject).toBe('Reset your password');
      const token = /reset-password#token=([\w-]{43})/.exec(mail.text)?.[1] ?? '';
      const newPassword = 'four candles and a fork';
      await anna.post('/auth/reset-password', { body: { token, newPassword } });
      await expect(anna.get('/auth/me')).rejects.toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
      await anna.post('/auth/login', { body: { username: 'anna', password: newPassword } });
      const notice = await server.waitFor(({ subject }) => subject.includes('Passwort wurde geändert'), 30_000);
      expect(notice.text).not.toContain('http');

      const reminder = { title: 'Angebot schicken', dueAt: '2036-01-08T08:00:00.000Z' };
      const { id } = await anna.post('/reminders', { body: reminder });
      const changed = await anna.patch('/reminders/{id}', { params: { path: { id } }, body: { note: 'Heute' } });
      expect(changed.note).toBe('Heute');
      expect(await anna.get('/reminders', { params: { query: { state: 'open' } } })).toMatchObject([reminder]);
      expect(await admin.get('/reminders')).toEqual([]);
      await anna.post('/auth/logout');
      await expect(anna.get('/auth/me')).rejects.toMatchObject({ status: 401 });

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
