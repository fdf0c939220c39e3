import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { queueMail } from '@portal/platform/outbox/queue-mail';
import { noSources } from '@portal/testing/no-sources';
import { programOf } from '@portal/testing/program';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { testRuntime } from '@portal/testing/runtime';
import { startRedis } from '@portal/testing/servers/redis';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { openTcpGate } from '@portal/testing/servers/tcp-gate';
import { serviceBinary } from '@portal/testing/services';
import { passwordResetMail } from '@portal/usecases/accounts/mails/password-reset';

const { url, ownerUrl, make, runtime } = await testRuntime();

const settings = {
  DATABASE_URL: url,
  SESSION_SECRET: `test:${Buffer.alloc(32).toString('base64')}`,
  SECRETS_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
  ...noSources,
};

interface Program {
  child: ChildProcess;
  output: () => string;
  exitCode: Promise<number | null>;
}

const running: Program[] = [];
function start(env: Record<string, string>): Program {
  const program = programOf('apps/worker/src/main.ts', { ...settings, ...env });
  const child = spawn(program.command, program.args, {
    env: program.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (output += data.toString()));
  const started = {
    child,
    output: () => output,
    exitCode: once(child, 'exit').then(([code]) => code as number | null),
  };
  running.push(started);
  return started;
}
const whenReady = async ({ child, output }: Program): Promise<void> => {
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [output()]),
  ])) as unknown[];
  expect(message).toEqual({ type: 'ready' });
};
afterEach(async () => {
  for (const { child, exitCode } of running.splice(0)) {
    child.kill('SIGKILL');
    await exitCode;
  }
});

const withMail = ({ port }: TestSmtpServer) => ({
  SMTP_HOST: '127.0.0.1',
  SMTP_PORT: `${port}`,
  SMTP_SECURITY: 'none',
  SMTP_FROM: 'portal@example.org',
});

const queueReset = (user: { id: string; tenantId: string }) =>
  runtime.database.inTenant(user.tenantId).tx((tx) =>
    queueMail(tx, passwordResetMail, {
      tenantId: user.tenantId,
      key: newId(),
      userId: user.id,
      data: {},
    }),
  );
const statesOf = async (tenantId: string): Promise<string[]> => {
  const rows = await runtime.database.inTenant(tenantId).read((db) => db.select({ state: mails.state }).from(mails));
  return rows.map(({ state }) => state);
};

describeOnEachQueue('the worker process', (env) => {
  let smtp: TestSmtpServer | undefined;
  afterEach(() => smtp?.stop());

  it('reports that it is ready, sends the mails of the outbox, and stops gracefully on SIGTERM', async () => {
    smtp = await startSmtpServer();
    const user = await make.user();
    await queueReset(user);
    const worker = start({ ...env, ...withMail(smtp) });
    await whenReady(worker);
    const mail = await smtp.waitFor(({ envelopeTo }) => envelopeTo[0] === user.email, 20_000);
    expect(mail.text).toContain('/reset-password#token=');
    await vi.waitFor(async () => expect(await statesOf(user.tenantId)).toEqual(['sent']), 20_000);
    worker.child.kill('SIGTERM');
    expect(await worker.exitCode).toBe(0);
    expect(worker.output()).toContain('the worker has stopped');
    expect(worker.output()).not.toContain(/#token=([\w-]+)/.exec(mail.text)?.[1]);
  });

  it('leaves its work to the next worker if it is killed', { timeout: 60_000 }, async () => {
    let victim: Program | undefined;
    smtp = await startSmtpServer({
      delayMs: 20,
      onMessage: () => void (smtp?.messages.length === 8 && victim?.child.kill('SIGKILL')),
    });
    const { id: tenantId } = await make.tenant();
    const people = await Promise.all(Array.from({ length: 100 }, () => make.user({ tenantId })));
    for (const user of people) await queueReset(user);
    victim = start({ ...env, ...withMail(smtp) });
    await victim.exitCode;
    // The worker had claimed some of the mails.
    expect(await statesOf(tenantId)).toEqual(expect.arrayContaining(['sending', 'queued']));
    // Let the dead worker's leases expire.
    await runtime.database.inTenant(tenantId).tx((tx) =>
      tx
        .update(mails)
        .set({ dueAt: sql`now()` })
        .where(eq(mails.state, 'sending')),
    );
    start({ ...env, ...withMail(smtp) });
    await vi.waitFor(async () => expect(new Set(await statesOf(tenantId))).toEqual(new Set(['sent'])), {
      timeout: 40_000,
      interval: 250,
    });
    const recipients = new Set(smtp.messages.map(({ envelopeTo }) => envelopeTo[0]));
    expect(people.filter(({ email }) => !recipients.has(email ?? ''))).toEqual([]);
  });
});

describe.skipIf(!serviceBinary('redis-server'))('the worker process while Redis is unreachable', () => {
  it('continues and catches up, even if Redis loses all data', { timeout: 90_000 }, async () => {
    const redis = await startRedis();
    const smtp = await startSmtpServer();
    onTestFinished(async () => {
      await redis.stop();
      await smtp.stop();
    });
    const worker = start({ REDIS_URL: redis.url, ...withMail(smtp) });
    await whenReady(worker);
    const [before, during, after] = [await make.user(), await make.user(), await make.user()];
    await queueReset(before);
    await smtp.waitFor(({ envelopeTo }) => envelopeTo[0] === before.email, 20_000);
    await redis.halt();
    await queueReset(during);
    await vi.waitFor(() => expect(worker.output()).toContain('the job queue cannot be reached'), 20_000);
    await redis.resume();
    await smtp.waitFor(({ envelopeTo }) => envelopeTo[0] === during.email, 30_000);
    await redis.empty();
    await queueReset(after);
    await smtp.waitFor(({ envelopeTo }) => envelopeTo[0] === after.email, 45_000);
    expect(worker.child.exitCode).toBeNull();
    expect(worker.output().match(/the job queue cannot be reached/g)).toHaveLength(1);
    expect(worker.output().match(/the job queue is back/g)).toHaveLength(1);
  });
});

describe('the worker process while the database is unreachable', () => {
  it('continues and catches up', { timeout: 60_000 }, async () => {
    const gate = await openTcpGate(url);
    const smtp = await startSmtpServer();
    onTestFinished(async () => {
      await gate.shut();
      await smtp.stop();
    });
    const worker = start({ DATABASE_URL: gate.url, ...withMail(smtp) });
    await whenReady(worker);
    const [before, during] = [await make.user(), await make.user()];
    await queueReset(before);
    await smtp.waitFor(({ envelopeTo }) => envelopeTo[0] === before.email, 20_000);
    await gate.shut();
    await queueReset(during);
    await vi.waitFor(() => expect(worker.output()).toContain('the job queue cannot be reached'), 20_000);
    await gate.open();
    await smtp.waitFor(({ envelopeTo }) => envelopeTo[0] === during.email, 30_000);
    expect(worker.child.exitCode).toBeNull();
  });
});

describe('the worker process', () => {
  it('warns about a database login with more rights than it needs, and still works', async () => {
    const worker = start({ DATABASE_URL: ownerUrl });
    await whenReady(worker);
    await expect.poll(worker.output, { timeout: 10_000 }).toContain('is stronger than the apps need');
    worker.child.kill('SIGTERM');
    expect(await worker.exitCode).toBe(0);
  });

  it('names every invalid setting and exits with code 78', async () => {
    const worker = start({ DATABASE_URL: 'mysql://x', LOG_LEVEL: 'loud' });
    expect(await worker.exitCode).toBe(78);
    expect(worker.output()).toContain('DATABASE_URL');
    expect(worker.output()).toContain('LOG_LEVEL');
  });

  it('exits with code 78 if the database refuses its login, and says what to correct', async () => {
    const worker = start({ DATABASE_URL: Object.assign(new URL(ownerUrl), { username: 'nobody_at_all' }).href });
    expect(await worker.exitCode).toBe(78);
    expect(worker.output()).toContain('The database refuses the login nobody_at_all: correct');
  });

  it('starts while its servers are unreachable, and still stops on SIGINT', async () => {
    const worker = start({ DATABASE_URL: 'postgres://x:x@127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' });
    await whenReady(worker);
    await vi.waitFor(() => expect(worker.output()).toContain('the job queue cannot be reached'), 20_000);
    worker.child.kill('SIGINT');
    expect(await worker.exitCode).toBe(0);
    expect(worker.output().match(/the job queue cannot be reached/g)).toHaveLength(1);
  });
});
