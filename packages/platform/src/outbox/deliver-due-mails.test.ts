import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TenantScope } from '@portal/db/open';
import { passwordTokens } from '@portal/db/schema/accounts/sessions';
import { mails } from '@portal/db/schema/platform/mails';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import { messageIdFor } from '@portal/mail/message-id';
import { kinds } from '@portal/testing/mail-kinds';
import { testConfig, testRuntime } from '@portal/testing/runtime';
import { type SmtpServerOptions, startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { openTcpGate } from '@portal/testing/servers/tcp-gate';
import { jobOrigin } from '@portal/testing/worker';
import { hashToken } from '@portal/usecases/accounts/links';
import { passwordChangedMail } from '@portal/usecases/accounts/mails/password-changed';
import { passwordResetMail } from '@portal/usecases/accounts/mails/password-reset';
import { resetPassword } from '@portal/usecases/accounts/password-reset';
import type { TenantContext } from '../context.ts';
import { openLog } from '../log.ts';
import { openRuntime, type Runtime } from '../runtime.ts';
import { deliverDueMails } from './deliver-due-mails.ts';
import { claimMails, type Settlement, settleMails } from './outbox.ts';
import { queueMail } from './queue-mail.ts';

const { url, make, runtime, system } = await testRuntime();

const servers: TestSmtpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function startServer(options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options);
  servers.push(server);
  return server;
}

/** A tenant's context with a mail server at this port. */
function contextOf(
  tenantId: string,
  port: number,
  env: Record<string, string> = {},
  on: Runtime = runtime,
): TenantContext {
  const config = testConfig(url, {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: `${port}`,
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'portal@example.org',
    ...env,
  });
  return { ...on.tenant(jobOrigin(), tenantId), config };
}

const outcomes: [string, string][] = [];
const deliver = (ctx: TenantContext, signal = new AbortController().signal) =>
  deliverDueMails(
    { ...ctx, metrics: { ...ctx.metrics, countMail: (kind, outcome) => void outcomes.push([kind, outcome]) } },
    { kinds, signal },
  );

const claim = async (scope: TenantScope, limit: number) =>
  (await claimMails(scope, limit, { kinds, route: 'service', ownServer: null, dailyLimit: null })).claimed;

type User = { id: string; tenantId: string };
async function queue(
  user: User,
  overrides: { key?: string; dueAt?: Date; data?: { language?: 'de' | 'en' } } = {},
): Promise<string> {
  const { mailId } = await runtime.database.inTenant(user.tenantId).tx((tx) =>
    queueMail(tx, passwordChangedMail, {
      tenantId: user.tenantId,
      key: `test/${newId()}`,
      userId: user.id,
      data: {},
      ...overrides,
    }),
  );
  return mailId;
}
const queueReset = (user: User): Promise<string> =>
  runtime.database
    .inTenant(user.tenantId)
    .tx((tx) =>
      queueMail(tx, passwordResetMail, {
        tenantId: user.tenantId,
        key: `test/${newId()}`,
        userId: user.id,
        data: { language: 'en' },
      }),
    )
    .then(({ mailId }) => mailId);

const outbox = (tenantId: string) =>
  runtime.database.inTenant(tenantId).read((db) =>
    db
      .select({
        id: mails.id,
        key: mails.key,
        state: mails.state,
        attempts: mails.attempts,
        interruptions: mails.interruptions,
        failure: mails.failure,
        failureMessage: mails.failureMessage,
        data: mails.data,
        settledAt: mails.settledAt,
        leaseId: mails.leaseId,
        waitSec: sql<number>`extract(epoch from ${mails.dueAt} - now())::int`,
      })
      .from(mails)
      .orderBy(mails.id),
  );

const countOf = async (tenantId: string, like: { state: string; attempts?: number }): Promise<number> =>
  (await outbox(tenantId)).filter(
    ({ state, attempts }) => state === like.state && attempts === (like.attempts ?? attempts),
  ).length;

/** Makes the next attempt due now. */
const makeDue = (tenantId: string) =>
  runtime.database.inTenant(tenantId).tx((tx) =>
    tx
      .update(mails)
      .set({ dueAt: sql`now()` })
      .where(eq(mails.state, 'queued')),
  );

const tokenIn = (text: string): string => /#token=([\w-]+)/.exec(text)?.[1] ?? '';

describe('delivering due mails', () => {
  it('sends each mail once over at most ten connections and settles its row', async () => {
    const server = await startServer({ delayMs: 5 });
    const { id: tenantId } = await make.tenant();
    const users = [];
    for (let n = 0; n < 60; n++) users.push(await make.user({ tenantId }));
    for (const user of users) await queue(user);
    outcomes.splice(0);
    await deliver(contextOf(tenantId, server.port));
    const rows = await outbox(tenantId);
    expect(
      rows.every(
        ({ state, settledAt, attempts, leaseId }) => state === 'sent' && settledAt && attempts === 1 && !leaseId,
      ),
    ).toBe(true);
    expect(server.messages.map(({ envelopeTo }) => envelopeTo[0]).toSorted()).toEqual(
      users.map(({ email }) => email).toSorted(),
    );
    expect(server.messages.map(({ messageId }) => messageId).toSorted()).toEqual(
      rows.map(({ key }) => messageIdFor(`${tenantId}/${key}`, 'example.org')).toSorted(),
    );
    expect(server.connectionCount()).toBeLessThanOrEqual(10);
    expect(outcomes).toHaveLength(60);
    expect(new Set(outcomes.map(([, outcome]) => outcome))).toEqual(new Set(['sent']));
  });

  it('holds no transaction open while it talks to the mail server', async () => {
    const server = await startServer({ delayMs: 400 });
    const user = await make.user();
    await queueReset(user);
    const delivering = deliver(contextOf(user.tenantId, server.port));
    await vi.waitFor(() => expect(server.messages).toHaveLength(1), 20_000);
    const { rows } = await runtime.database.acrossTenants('a test looks', (tx) =>
      tx.execute(
        sql`select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      ),
    );
    expect(rows).toHaveLength(0);
    await delivering;
  });

  it('leaves mails that are not due and mails of inactive tenants', async () => {
    const server = await startServer();
    const [later, resting] = [await make.user(), await make.user()];
    await queue(later, { dueAt: new Date(Date.now() + 3_600_000) });
    await queue(resting);
    await runtime.database.acrossTenants('a test deactivates', (tx) =>
      tx.update(tenants).set({ isActive: false }).where(eq(tenants.id, resting.tenantId)),
    );
    for (const { tenantId } of [later, resting]) await deliver(contextOf(tenantId, server.port));
    expect(server.messages).toHaveLength(0);
    expect(await outbox(later.tenantId)).toMatchObject([{ state: 'queued', attempts: 0 }]);
    expect(await outbox(resting.tenantId)).toMatchObject([{ state: 'queued', attempts: 0 }]);
  });

  it('keeps one mail per key', async () => {
    const user = await make.user();
    const [first, second] = [await queue(user, { key: 'the occasion' }), await queue(user, { key: 'the occasion' })];
    expect(second).toBe(first);
    expect(await outbox(user.tenantId)).toHaveLength(1);
  });

  it('shares the work between two workers without sending a mail twice', async () => {
    const server = await startServer({ delayMs: 10 });
    const { id: tenantId } = await make.tenant();
    for (let n = 0; n < 30; n++) await queue(await make.user({ tenantId }));
    await Promise.all([deliver(contextOf(tenantId, server.port)), deliver(contextOf(tenantId, server.port))]);
    expect(server.messages).toHaveLength(30);
    expect(new Set(server.messages.map(({ messageId }) => messageId)).size).toBe(30);
  });

  it('skips an account that has become inactive or has lost its address', async () => {
    const server = await startServer();
    const { id: tenantId } = await make.tenant();
    await queue(await make.user({ tenantId, isActive: false }));
    await queue(await make.user({ tenantId, email: null }));
    await deliver(contextOf(tenantId, server.port));
    expect(server.messages).toHaveLength(0);
    expect(await outbox(tenantId)).toMatchObject([
      { state: 'skipped', failure: 'recipient_gone' },
      { state: 'skipped', failure: 'recipient_gone' },
    ]);
  });

  it('ends mails at once if there is no mail server', async () => {
    const user = await make.user();
    await queue(user);
    await deliver({ ...runtime.tenant(jobOrigin(), user.tenantId), config: testConfig(url) });
    expect(await outbox(user.tenantId)).toMatchObject([{ state: 'not_configured', attempts: 1 }]);
    expect((await outbox(user.tenantId))[0]?.settledAt).not.toBeNull();
  });

  it('ends a mail that cannot be rendered, and sends the others', async () => {
    const server = await startServer();
    const user = await make.user();
    const broken = await queue(user, { data: { language: 'fr' as 'de' } });
    const unknown = newId();
    await runtime.database
      .inTenant(user.tenantId)
      .tx((tx) =>
        tx
          .insert(mails)
          .values({ id: unknown, tenantId: user.tenantId, kind: 'of/another-release', key: 'x', userId: user.id }),
      );
    const fine = await queue(user);
    await deliver(contextOf(user.tenantId, server.port));
    const rows = new Map((await outbox(user.tenantId)).map((row) => [row.id, row]));
    expect(rows.get(broken)).toMatchObject({ state: 'failed', failure: 'content' });
    expect(rows.get(unknown)).toMatchObject({ state: 'failed', failure: 'content' });
    expect(rows.get(fine)).toMatchObject({ state: 'sent' });
  });
});

describe('a mail that fails', () => {
  it('permanently is not attempted again', async () => {
    const server = await startServer({
      failures: (step) => (step.at === 'recipient' ? { code: 550, text: 'No such user' } : undefined),
    });
    const user = await make.user();
    await queue(user);
    await deliver(contextOf(user.tenantId, server.port));
    expect(await outbox(user.tenantId)).toMatchObject([{ state: 'failed', failure: 'recipient', attempts: 1 }]);
  });

  it('temporarily is attempted again after 30 seconds, 2, 10 and 45 minutes, then ends', async () => {
    const server = await startServer({
      failures: (step) => (step.at === 'recipient' ? { code: 451, text: 'Greylisted' } : undefined),
    });
    const user = await make.user();
    await queue(user);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      await deliver(contextOf(user.tenantId, server.port));
      const [row] = await outbox(user.tenantId);
      expect(row).toMatchObject({
        attempts: attempt,
        failure: 'temporary',
        state: attempt === 5 ? 'failed' : 'queued',
      });
      if (attempt < 5) waits.push(row?.waitSec ?? 0);
      await makeDue(user.tenantId);
    }
    expect(waits.map((sec) => Math.round(sec / 15) * 15)).toEqual([30, 120, 600, 2_700]);
  });

  it('and succeeds later counts both attempts and clears the failure', async () => {
    let isBusy = true;
    const server = await startServer({
      failures: (step) => (isBusy && step.at === 'recipient' ? { code: 451, text: 'Later' } : undefined),
    });
    const user = await make.user();
    await queue(user);
    await deliver(contextOf(user.tenantId, server.port));
    isBusy = false;
    await makeDue(user.tenantId);
    await deliver(contextOf(user.tenantId, server.port));
    expect(await outbox(user.tenantId)).toMatchObject([
      { state: 'sent', attempts: 2, failure: null, failureMessage: null },
    ]);
  });

  it.each<[string, SmtpServerOptions | 'refused', Record<string, string>, { failure: string; state: string }]>([
    ['nothing listens', 'refused', {}, { failure: 'connect', state: 'queued' }],
    [
      'the password is wrong',
      { auth: { username: 'portal', password: 'right' } },
      { SMTP_USERNAME: 'portal', SMTP_PASSWORD: 'wrong' },
      { failure: 'auth', state: 'failed' },
    ],
    [
      'the certificate is wrong',
      { tls: 'starttls' },
      { SMTP_SECURITY: 'starttls' },
      { failure: 'certificate', state: 'failed' },
    ],
    ['encryption is not offered', {}, { SMTP_SECURITY: 'starttls' }, { failure: 'protocol', state: 'failed' }],
  ])('because %s costs one try, not one of every mail', async (_, options, env, expected) => {
    const server = await startServer(options === 'refused' ? {} : options);
    if (options === 'refused') await server.stop();
    const { id: tenantId } = await make.tenant();
    for (let n = 0; n < 25; n++) await queue(await make.user({ tenantId }));
    await deliver(contextOf(tenantId, server.port, env));
    const rows = await outbox(tenantId);
    const tried = rows.filter(({ attempts }) => attempts > 0);
    expect(tried).toMatchObject([{ attempts: 1, ...expected }]);
    expect(tried[0]?.failureMessage).toContain(`127.0.0.1:${server.port}`);
    expect(
      rows.filter(({ state, attempts, waitSec }) => state === 'queued' && attempts === 0 && waitSec > 20),
    ).toHaveLength(24);
  });
});

describe('a worker that dies', () => {
  it('between claim and settlement has its mail sent again with the same Message-ID', async () => {
    const server = await startServer();
    const user = await make.user();
    await queue(user);
    const ctx = contextOf(user.tenantId, server.port);
    const [dead] = await claim(ctx, 10);
    await deliver(ctx);
    expect(server.messages).toHaveLength(0);
    await runtime.database.inTenant(user.tenantId).tx((tx) => tx.update(mails).set({ dueAt: sql`now()` }));
    await deliver(ctx);
    expect(await outbox(user.tenantId)).toMatchObject([{ state: 'sent', attempts: 2, interruptions: 1 }]);
    expect(server.messages.map(({ messageId }) => messageId)).toEqual([
      messageIdFor(`${user.tenantId}/${dead?.key ?? ''}`, 'example.org'),
    ]);
  });

  it('or was only asleep cannot settle a mail that another worker has claimed', async () => {
    const user = await make.user();
    await queue(user);
    const scope = runtime.database.inTenant(user.tenantId);
    const [slept] = await claim(scope, 1);
    await scope.tx((tx) => tx.update(mails).set({ dueAt: sql`now()` }));
    const [awake] = await claim(scope, 1);
    const settle = async (mail: typeof slept, settlement: Settlement) =>
      mail && (await settleMails(scope, kinds, [{ mail, settlement }])).has(mail.id);
    expect(await settle(slept, { outcome: 'failed', failure: 'connect', message: 'late' })).toBe(false);
    expect(await settle(awake, { outcome: 'sent' })).toBe(true);
    expect(await outbox(user.tenantId)).toMatchObject([{ state: 'sent' }]);
  });

  it('again and again over one mail ends that mail', async () => {
    const server = await startServer();
    const user = await make.user();
    await queue(user);
    await runtime.database
      .inTenant(user.tenantId)
      .tx((tx) =>
        tx
          .update(mails)
          .set({ state: 'sending', attempts: 21, interruptions: 20, leaseId: newId(), dueAt: sql`now()` }),
      );
    await deliver(contextOf(user.tenantId, server.port));
    expect(server.messages).toHaveLength(0);
    expect(await outbox(user.tenantId)).toMatchObject([{ state: 'failed', failure: 'interrupted' }]);
  });

  it('does not make a mail fail sooner: only failures count', async () => {
    const server = await startServer({
      failures: (step) => (step.at === 'recipient' ? { code: 451, text: 'Later' } : undefined),
    });
    const user = await make.user();
    await queue(user);
    await runtime.database
      .inTenant(user.tenantId)
      .tx((tx) =>
        tx.update(mails).set({ state: 'sending', attempts: 6, interruptions: 5, leaseId: newId(), dueAt: sql`now()` }),
      );
    await deliver(contextOf(user.tenantId, server.port));
    expect(await outbox(user.tenantId)).toMatchObject([{ state: 'queued', attempts: 7, interruptions: 6 }]);
  });
});

it('stops early on abort: finishes the current mails and returns the rest unchanged', async () => {
  const stopping = new AbortController();
  const server = await startServer({
    delayMs: 50,
    onMessage: () => {
      if (server.messages.length === 5) stopping.abort(new Error('stop'));
    },
  });
  const { id: tenantId } = await make.tenant();
  for (let n = 0; n < 60; n++) await queue(await make.user({ tenantId }));
  await expect(deliver(contextOf(tenantId, server.port), stopping.signal)).rejects.toThrow('stop');
  const rows = await outbox(tenantId);
  const sent = rows.filter(({ state }) => state === 'sent');
  expect(sent).toHaveLength(server.messages.length);
  expect(rows.filter(({ state, attempts, leaseId }) => state === 'queued' && attempts === 0 && !leaseId)).toHaveLength(
    60 - sent.length,
  );
  expect(sent.length).toBeLessThan(60);
});

describe('a mail server that is slow', () => {
  it('gets one mail per connection, with none claimed ahead', async () => {
    const seen: number[] = [];
    const server = await startServer({
      delayMs: 1_100,
      onMessage: async () => void seen.push(await countOf(tenantId, { state: 'sending' })),
    });
    const { id: tenantId } = await make.tenant();
    for (let n = 0; n < 25; n++) await queue(await make.user({ tenantId }));
    await deliver(contextOf(tenantId, server.port));
    expect(Math.max(...seen)).toBeLessThanOrEqual(10);
    expect(await countOf(tenantId, { state: 'sent', attempts: 1 })).toBe(25);
  });

  it('lets no lease expire when it becomes slow: mails claimed ahead are returned without an attempt', async () => {
    const gates = Array.from({ length: 2 }, () => Promise.withResolvers<void>());
    const server = await startServer({
      // The first mail passes. The next ten, one per connection, wait for the first gate, all others for the second.
      onMessage: () =>
        server.messages.length === 1 ? undefined : gates[server.messages.length <= 11 ? 0 : 1]?.promise,
    });
    const { id: tenantId } = await make.tenant();
    for (let n = 0; n < 40; n++) await queue(await make.user({ tenantId }));
    const delivering = deliver(contextOf(tenantId, server.port));
    await expect.poll(() => countOf(tenantId, { state: 'sending' }), { timeout: 20_000 }).toBe(39);
    await expect.poll(() => server.messages.length, { timeout: 20_000 }).toBe(11);
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
    onTestFinished(() => clock.mockRestore());
    gates[0]?.resolve();
    await expect.poll(() => countOf(tenantId, { state: 'queued', attempts: 0 }), { timeout: 20_000 }).toBe(19);
    gates[1]?.resolve();
    await delivering;
    expect(await countOf(tenantId, { state: 'sent', attempts: 1 })).toBe(40);
    expect(server.messages).toHaveLength(40);
  });
});

it('settles a sent mail despite a short outage of the database', async () => {
  const gate = await openTcpGate(url);
  const behindGate = openRuntime(testConfig(gate.url), { process: 'script', log: openLog('silent', 'script') });
  onTestFinished(async () => {
    await behindGate.close();
    await gate.shut();
  });
  let cut = Promise.resolve();
  const server = await startServer({
    delayMs: 100,
    onMessage: () => {
      cut = gate
        .shut()
        .then(() => pause(600))
        .then(() => gate.open());
    },
  });
  const user = await make.user();
  await queue(user);
  await deliver(contextOf(user.tenantId, server.port, {}, behindGate));
  await cut;
  expect(await outbox(user.tenantId)).toMatchObject([{ state: 'sent', attempts: 1 }]);
  expect(server.messages).toHaveLength(1);
});

describe('the reset mail', () => {
  const openTokens = (user: User) =>
    runtime.database
      .inTenant(user.tenantId)
      .read((db) => db.select().from(passwordTokens).where(eq(passwordTokens.userId, user.id)));

  it('carries a token that sets a new password; the clear token is stored nowhere', async () => {
    const server = await startServer();
    const user = await make.user();
    await queueReset(user);
    await deliver(contextOf(user.tenantId, server.port, { PUBLIC_URL: 'https://portal.example.org' }));
    const [received] = server.messages;
    expect(received?.text).toContain('https://portal.example.org/reset-password#token=');
    expect(received?.html).toBeNull();
    const token = tokenIn(received?.text ?? '');
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const [stored] = await openTokens(user);
    expect(stored?.tokenHash).toEqual(hashToken(token));
    const days = ((stored?.expiresAt.getTime() ?? 0) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    expect(JSON.stringify(await outbox(user.tenantId))).not.toContain(token);
    await resetPassword(system(), { token, newPassword: 'a sturdy new passphrase' });
    expect(await openTokens(user)).toHaveLength(0);
  });

  it('sent twice keeps both links valid until one is used; a newer mail invalidates the older mail’s link', async () => {
    const server = await startServer();
    const user = await make.user();
    const first = await queueReset(user);
    const ctx = contextOf(user.tenantId, server.port);
    await deliver(ctx);
    await runtime.database.inTenant(user.tenantId).tx((tx) =>
      tx
        .update(mails)
        .set({ state: 'queued', dueAt: sql`now()` })
        .where(and(eq(mails.id, first), eq(mails.state, 'sent'))),
    );
    await deliver(ctx);
    const [one, two] = server.messages.map(({ text }) => tokenIn(text));
    expect(one).not.toBe(two);
    expect(server.messages[0]?.messageId).toBe(server.messages[1]?.messageId);
    expect(await openTokens(user)).toHaveLength(2);
    await queueReset(user);
    await deliver(ctx);
    const latest = tokenIn(server.messages[2]?.text ?? '');
    expect((await openTokens(user)).map(({ tokenHash }) => tokenHash)).toEqual([hashToken(latest)]);
  });

  it('is not sent to an account that now belongs to the directory', async () => {
    const server = await startServer();
    const user = await make.user({ ldapDn: 'uid=x,dc=example,dc=org' });
    await queueReset(user);
    await deliver(contextOf(user.tenantId, server.port));
    expect(server.messages).toHaveLength(0);
    expect(await outbox(user.tenantId)).toMatchObject([{ state: 'skipped', failure: 'outdated' }]);
  });
});
