import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openClient } from '@portal/client/client';
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
      const admin = openClient(api.url);
      const first = await admin.POST('/auth/login', { body: { username: 'admin', password: seedPassword } });
      expect(first.data).toMatchObject({ user: { role: 'SUPER_ADMIN', mustChangePassword: true } });
      expect((await admin.GET('/users')).error).toMatchObject({ code: 'PASSWORD_CHANGE_REQUIRED' });
      await admin.POST('/auth/change-password', {
        body: { currentPassword: seedPassword, newPassword: 'the second password' },
      });
      const tenant = await admin.POST('/tenants', { body: { name: 'Stadtwerke' } });
      const user = await admin.POST('/users', {
        body: { username: 'anna', email: 'anna@example.org', tenantId: tenant.data?.id ?? '' },
      });
      expect(user.response.status).toBe(201);

      const anna = openClient(api.url);
      await anna.POST('/auth/request-reset', { body: { identifier: 'Anna', language: 'en' } });
      const mail = await server.waitFor(({ envelopeTo }) => envelopeTo.includes('anna@example.org'), 30_000);
      expect(mail.subject).toBe('Reset your password');
      const token = /reset-password#token=([\w-]{43})/.exec(mail.text)?.[1] ?? '';
      const newPassword = 'four candles and a fork';
      const reset = await anna.POST('/auth/reset-password', { body: { token, newPassword } });
      expect(reset.response.status).toBe(204);
      expect((await anna.GET('/auth/me')).error?.code).toBe('UNAUTHENTICATED');
      await anna.POST('/auth/login', { body: { username: 'anna', password: newPassword } });
      const notice = await server.waitFor(({ subject }) => subject.includes('Passwort wurde geändert'), 30_000);
      expect(notice.text).not.toContain('http');

      const reminder = { title: 'Angebot schicken', dueAt: '2036-01-08T08:00:00.000Z' };
      const { data } = await anna.POST('/reminders', { body: reminder });
      const path = { id: data?.id ?? '' };
      expect((await anna.PATCH('/reminders/{id}', { params: { path }, body: { note: 'Heute' } })).data?.note).toBe(
        'Heute',
      );
      expect((await anna.GET('/reminders', { params: { query: { state: 'open' } } })).data).toMatchObject([reminder]);
      expect((await admin.GET('/reminders')).data).toEqual([]);
      await anna.POST('/auth/logout');
      expect((await anna.GET('/auth/me')).response.status).toBe(401);

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
