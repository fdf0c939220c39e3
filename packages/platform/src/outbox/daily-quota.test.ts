import { eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { mailDays, mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { kinds } from '@portal/testing/mail-kinds';
import { testConfig, testRuntime } from '@portal/testing/runtime';
import { type SmtpServerOptions, startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { jobOrigin } from '@portal/testing/worker';
import type { TenantContext } from '../context.ts';
import { openLog } from '../log.ts';
import { openRuntime, type Runtime } from '../runtime.ts';
import { deliverDueMails } from './deliver-due-mails.ts';
import { type ClaimedMail, claimMails, settleMails } from './outbox.ts';

const { url, make, runtime } = await testRuntime();

const servers: TestSmtpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function startServer(options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options);
  servers.push(server);
  return server;
}

/** A worker's context of the tenant, with a mail server at this port and a daily limit. */
function contextOf(tenantId: string, port: number, limit: number, on: Runtime = runtime): TenantContext {
  const config = testConfig(url, {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: `${port}`,
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'portal@example.org',
    MAIL_DAILY_PER_TENANT: `${limit}`,
  });
  return { ...on.tenant(jobOrigin(), tenantId), config };
}
const deliver = (ctx: TenantContext, signal = new AbortController().signal) => deliverDueMails(ctx, { signal, kinds });
const terms = (dailyLimit: number) => ({ kinds, route: 'service' as const, ownServer: null, dailyLimit });

/** A tenant with this many accounts, each with a queued notice. */
async function tenantWithMails(count: number, overrides: Partial<typeof users.$inferInsert> = {}): Promise<string> {
  const { id: tenantId } = await make.tenant();
  const accounts = Array.from({ length: count }, () => newId());
  await runtime.database.acrossTenants('a test makes accounts and their mails', async (tx) => {
    await tx
      .insert(users)
      .values(accounts.map((id) => ({ id, tenantId, username: id, email: `${id}@example.org`, ...overrides })));
    await tx.insert(mails).values(
      accounts.map((userId) => ({
        id: newId(),
        tenantId,
        userId,
        kind: 'accounts/password-changed',
        key: newId(),
      })),
    );
  });
  return tenantId;
}

const dayOf = async (tenantId: string) =>
  (
    await runtime.database
      .inTenant(tenantId)
      .read((db) => db.select({ counted: mailDays.counted, overQuota: mailDays.overQuota }).from(mailDays))
  )[0];
const states = async (tenantId: string): Promise<Record<string, number>> => {
  const rows = await runtime.database.inTenant(tenantId).read((db) =>
    db
      .select({ state: mails.state, count: sql<number>`count(*)::int` })
      .from(mails)
      .groupBy(mails.state),
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};
const makeDue = (tenantId: string) =>
  runtime.database.inTenant(tenantId).tx((tx) => tx.update(mails).set({ dueAt: sql`now()` }));

it('is exact when several workers send for one tenant at once', async () => {
  const server = await startServer({ delayMs: 5 });
  const tenantId = await tenantWithMails(300);
  const workers = Array.from({ length: 3 }, () =>
    openRuntime(testConfig(url), { process: 'script', log: openLog('silent', 'script') }),
  );
  onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.close()))));
  await Promise.all(workers.map((worker) => deliver(contextOf(tenantId, server.port, 120, worker))));
  expect(server.messages).toHaveLength(120);
  expect(await states(tenantId)).toEqual({ sent: 120, quota: 180 });
  expect(await dayOf(tenantId)).toEqual({ counted: 120, overQuota: 180 });
  const entries = await runtime.database
    .inTenant(tenantId)
    .read((db) => db.select().from(auditEntries).where(eq(auditEntries.action, 'mails.daily_limit')));
  expect(entries).toHaveLength(1);
});

it('is also exact per account when several workers claim at once', async () => {
  const user = await make.user();
  await runtime.database.inTenant(user.tenantId).tx((tx) =>
    tx.insert(mails).values(
      Array.from({ length: 160 }, () => ({
        id: newId(),
        tenantId: user.tenantId,
        userId: user.id,
        kind: 'reminders/due',
        key: newId(),
      })),
    ),
  );
  const scope = runtime.database.inTenant(user.tenantId);
  const claims = await Promise.all(Array.from({ length: 16 }, () => claimMails(scope, 10, terms(10_000))));
  expect(claims.flatMap(({ claimed }) => claimed)).toHaveLength(100);
  expect(claims.flatMap(({ overQuota }) => overQuota)).toHaveLength(60);
  expect(await dayOf(user.tenantId)).toEqual({ counted: 100, overQuota: 60 });
});

describe('a mail is counted once', () => {
  it('when the worker that claimed it dies', async () => {
    const server = await startServer();
    const tenantId = await tenantWithMails(2);
    const ctx = contextOf(tenantId, server.port, 1);
    expect((await claimMails(ctx, 1, terms(1))).claimed).toHaveLength(1);
    await makeDue(tenantId);
    await deliver(ctx);
    expect(server.messages).toHaveLength(1);
    expect(await states(tenantId)).toEqual({ sent: 1, quota: 1 });
    expect(await dayOf(tenantId)).toEqual({ counted: 1, overQuota: 1 });
  });

  it('when it is attempted several times on one day, and once more on the next day', async () => {
    const server = await startServer({
      failures: (step) => (step.at === 'recipient' ? { code: 451, text: 'Later' } : undefined),
    });
    const tenantId = await tenantWithMails(1);
    const ctx = contextOf(tenantId, server.port, 1);
    for (let n = 0; n < 2; n += 1) {
      await deliver(ctx);
      await makeDue(tenantId);
    }
    expect(await dayOf(tenantId)).toEqual({ counted: 1, overQuota: 0 });
    await ctx.tx(async (tx) => {
      await tx.update(mailDays).set({ day: sql`${mailDays.day} - 1` });
      await tx.update(mails).set({ countedOn: sql`${mails.countedOn} - 1` });
    });
    await deliver(ctx);
    const days = await ctx.read((db) => db.select({ counted: mailDays.counted }).from(mailDays));
    expect(days).toEqual([{ counted: 1 }, { counted: 1 }]);
  });
});

describe('a mail is not counted', () => {
  it('when it has no recipient', async () => {
    const server = await startServer();
    const tenantId = await tenantWithMails(5, { isActive: false });
    await deliver(contextOf(tenantId, server.port, 100));
    expect(await states(tenantId)).toEqual({ skipped: 5 });
    expect(await dayOf(tenantId)).toEqual({ counted: 0, overQuota: 0 });
  });

  it('when it is returned without an attempt', async () => {
    const stopping = new AbortController();
    const server = await startServer({
      delayMs: 50,
      onMessage: () => {
        if (server.messages.length === 5) stopping.abort(new Error('stop'));
      },
    });
    const tenantId = await tenantWithMails(60);
    const ctx = contextOf(tenantId, server.port, 100);
    await expect(deliver(ctx, stopping.signal)).rejects.toThrow('stop');
    const { sent = 0, queued = 0 } = await states(tenantId);
    expect([sent, sent + queued]).toEqual([server.messages.length, 60]);
    expect(await dayOf(tenantId)).toEqual({ counted: sent, overQuota: 0 });
    await deliver(ctx);
    expect(await dayOf(tenantId)).toEqual({ counted: 60, overQuota: 0 });
  });

  it('when there is no mail server at all', async () => {
    const tenantId = await tenantWithMails(3);
    await deliver({ ...runtime.tenant(jobOrigin(), tenantId), config: testConfig(url) });
    expect(await states(tenantId)).toEqual({ not_configured: 3 });
    expect(await dayOf(tenantId)).toBeUndefined();
  });
});

it('cannot be returned by a worker whose lease has expired', async () => {
  const tenantId = await tenantWithMails(1);
  const scope = runtime.database.inTenant(tenantId);
  const [slept] = (await claimMails(scope, 1, terms(10))).claimed;
  await makeDue(tenantId);
  await claimMails(scope, 1, terms(10));
  const settlement = { outcome: 'skipped', failure: 'outdated', message: 'late', isUntried: true } as const;
  await settleMails(scope, kinds, [{ mail: slept as ClaimedMail, settlement }]);
  expect(await dayOf(tenantId)).toEqual({ counted: 1, overQuota: 0 });
});
