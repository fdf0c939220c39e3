import { and, eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { reminders } from '@portal/db/schema/reminders';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { waitingForLocks } from '@portal/testing/locks';
import { kinds } from '@portal/testing/mail-kinds';
import { testConfig, testRuntime } from '@portal/testing/runtime';
import { type SmtpServerOptions, startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { jobOrigin } from '@portal/testing/worker';
import { queueDueReminderMails } from './queue-due-mails.ts';
import { deleteReminder, finishReminder, listReminders, snoozeReminder, updateReminder } from './reminders.ts';
import { changeReminders } from './user-lock.ts';

const { url, runtime, make, system, signedIn } = await testRuntime();

const servers: TestSmtpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function startServer(options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options);
  servers.push(server);
  return server;
}

const someone = async (overrides = {}): Promise<UserContext> => signedIn(await make.user(overrides));
const ago = (ms: number): Date => new Date(Date.now() - ms);
const ahead = (ms: number): Date => new Date(Date.now() + ms);
const due = ({ actor }: Pick<UserContext, 'actor'>, overrides = {}) =>
  make.reminder(actor, { dueAt: ago(MINUTE), emailEnabled: true, ...overrides });
const sweep = () => queueDueReminderMails(system(), new AbortController().signal);

/** Sends the tenant's due mails over this server; without one, no mail server is configured. */
const deliver = ({ tenantId }: { tenantId: string }, server: TestSmtpServer | null) =>
  deliverDueMails(
    {
      ...runtime.tenant(jobOrigin(), tenantId),
      config: testConfig(
        url,
        server
          ? { SMTP_HOST: '127.0.0.1', SMTP_PORT: `${server.port}`, SMTP_SECURITY: 'none', SMTP_FROM: 'p@example.org' }
          : {},
      ),
    },
    { signal: new AbortController().signal, kinds },
  );

const outbox = ({ tenantId }: { tenantId: string }) =>
  runtime.database.inTenant(tenantId).read((db) =>
    db
      .select({
        state: mails.state,
        failure: mails.failure,
        key: mails.key,
        waitSec: sql<number>`extract(epoch from ${mails.dueAt} - now())::int`,
      })
      .from(mails)
      .orderBy(mails.id),
  );

const trace = async (ctx: UserContext, state: 'open' | 'done' = 'open') =>
  (await listReminders(ctx, state)).map(({ emailSentAt, emailAttempts }) => [emailSentAt !== null, emailAttempts]);

describe('a due reminder', () => {
  it('is mailed once, as text, in Berlin time, and records the mail', async () => {
    const server = await startServer();
    const ctx = await someone({ displayName: 'Erika Beispiel' });
    const { occurrenceId } = await due(ctx, {
      title: 'Angebot schicken',
      note: 'Erst Anna fragen.\n– Preis',
      dueAt: new Date('2026-07-03T15:05:00Z'),
    });
    await sweep();
    await sweep();
    await deliver(ctx, server);
    await deliver(ctx, server);
    expect(server.messages).toHaveLength(1);
    const [mail] = server.messages;
    expect(mail).toMatchObject({ envelopeTo: [ctx.account.email], subject: 'Erinnerung: Angebot schicken' });
    expect(mail?.html ?? '').toBe('');
    for (const words of ['Hallo Erika Beispiel', '3. Juli 2026 um 17:05 Uhr', 'Erst Anna fragen.', '– Preis'])
      expect(mail?.text).toContain(words);
    expect(await outbox(ctx)).toMatchObject([{ state: 'sent', key: `reminders/due/${occurrenceId}` }]);
    expect(await trace(ctx)).toEqual([[true, 1]]);
  });

  it('does not wait for the reminders of a user who is changing one', async () => {
    const [busy, other] = [await someone(), await someone()];
    for (let n = 0; n < 210; n++) await due(busy, { dueAt: ago(2 * HOUR) });
    await due(other, { dueAt: ago(HOUR) });
    await changeReminders(busy, async () => {
      await sweep();
      expect(await outbox(busy)).toEqual([]);
      expect(await outbox(other)).toHaveLength(1);
    });
    await sweep();
    expect(await outbox(busy)).toHaveLength(210);
  });

  it('is mailed once if two workers run at the same time', async () => {
    const contexts = await Promise.all(Array.from({ length: 5 }, () => someone()));
    for (const ctx of contexts) for (let n = 0; n < 90; n++) await due(ctx);
    await Promise.all([sweep(), sweep(), sweep()]);
    for (const ctx of contexts) expect(await outbox(ctx)).toHaveLength(90);
  });

  it.each([
    ['it wants no mail', { emailEnabled: false }],
    ['it is not due', { dueAt: ahead(HOUR) }],
    ['it is done', { doneAt: ago(1) }],
  ])('has no mail queued if %s', async (_, overrides) => {
    const ctx = await someone();
    await due(ctx, overrides);
    await sweep();
    expect(await outbox(ctx)).toEqual([]);
  });

  it('that was snoozed is mailed again at its next due time, with another message id', async () => {
    const server = await startServer();
    const ctx = await someone();
    const { id } = await due(ctx);
    await sweep();
    await deliver(ctx, server);
    await snoozeReminder(ctx, id, { minutes: 10 });
    await ctx.tx((tx) =>
      tx
        .update(reminders)
        .set({ dueAt: ago(1) })
        .where(eq(reminders.id, id)),
    );
    await sweep();
    await deliver(ctx, server);
    expect(server.messages).toHaveLength(2);
    expect(new Set(server.messages.map(({ messageId }) => messageId)).size).toBe(2);
    expect(await trace(ctx)).toEqual([[true, 1]]);
  });

  it('in both passes of the hour that repeats is due twice and mailed once each', async () => {
    const server = await startServer();
    const ctx = await someone();
    for (const dueAt of [
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:30:00Z',
      '2026-03-29T00:59:59Z',
      '2026-03-29T01:00:00Z',
    ])
      await due(ctx, { dueAt: new Date(dueAt), title: dueAt });
    await sweep();
    await deliver(ctx, server);
    const shown = server.messages.map(({ subject, text }) => `${subject} ${/\d\d:\d\d Uhr/.exec(text)?.[0] ?? ''}`);
    expect(shown.toSorted()).toEqual([
      'Erinnerung: 2026-03-29T00:59:59Z 01:59 Uhr',
      'Erinnerung: 2026-03-29T01:00:00Z 03:00 Uhr',
      'Erinnerung: 2026-10-25T00:30:00Z 02:30 Uhr',
      'Erinnerung: 2026-10-25T01:30:00Z 02:30 Uhr',
    ]);
  });
});

describe('a mail that is queued and not sent', () => {
  it.each([
    ['snoozed', (ctx: UserContext, id: string) => snoozeReminder(ctx, id, { minutes: 10 }), [[false, 0]]],
    ['done', (ctx: UserContext, id: string) => finishReminder(ctx, id), []],
    ['deleted', (ctx: UserContext, id: string) => deleteReminder(ctx, id), []],
  ])('is not sent if its reminder is %s by then', async (_, change, left) => {
    const server = await startServer();
    const ctx = await someone();
    const { id } = await due(ctx);
    await sweep();
    await change(ctx, id);
    await deliver(ctx, server);
    expect(server.messages).toEqual([]);
    expect(await outbox(ctx)).toMatchObject([{ state: 'skipped', failure: 'outdated' }]);
    expect(await trace(ctx)).toEqual(left);
  });

  it('is not queued while an edit in progress may move the due time', async () => {
    const server = await startServer();
    const ctx = await someone();
    const dueAt = ahead(3 * SECOND);
    const { id } = await due(ctx, { dueAt });
    const isHeld = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const slow: UserContext = {
      ...ctx,
      tx: (work) =>
        ctx.tx(async (tx) => {
          const result = await work(tx);
          isHeld.resolve();
          await release.promise;
          return result;
        }),
    };
    const edit = updateReminder(slow, id, { dueAt: ahead(HOUR) });
    await isHeld.promise;
    await expect.poll(() => Date.now(), { timeout: 20_000 }).toBeGreaterThan(dueAt.getTime() + 50);
    await sweep();
    release.resolve();
    await edit;
    await sweep();
    expect(await outbox(ctx)).toEqual([]);
    await ctx.tx((tx) =>
      tx
        .update(reminders)
        .set({ dueAt: ago(1) })
        .where(eq(reminders.id, id)),
    );
    await sweep();
    await deliver(ctx, server);
    expect(server.messages).toHaveLength(1);
  });

  it.each([
    ['inactive', { isActive: false }],
    ['without an address', { email: null }],
  ])('is not sent to an account that is %s by then', async (_, change) => {
    const server = await startServer();
    const ctx = await someone();
    await due(ctx);
    await sweep();
    await ctx.tx((tx) => tx.update(users).set(change).where(eq(users.id, ctx.actor.id)));
    await deliver(ctx, server);
    expect(server.messages).toEqual([]);
    expect(await outbox(ctx)).toMatchObject([{ state: 'skipped', failure: 'recipient_gone' }]);
    expect(await trace(ctx)).toEqual([[false, 0]]);
  });

  it('ends without an attempt if no mail server is configured', async () => {
    const ctx = await someone();
    await due(ctx);
    await sweep();
    await deliver(ctx, null);
    expect(await outbox(ctx)).toMatchObject([{ state: 'not_configured' }]);
    expect(await trace(ctx)).toEqual([[false, 0]]);
  });
});

describe('a mail the server refuses', () => {
  const busy = { code: 451, text: 'Later' };
  const letPausePass = (ctx: UserContext) =>
    ctx.tx((tx) =>
      tx
        .update(mails)
        .set({ dueAt: sql`now()` })
        .where(eq(mails.state, 'queued')),
    );

  it('temporarily is attempted three times, after half a minute and two minutes, and each attempt counts', async () => {
    const server = await startServer({ failures: ({ at }) => (at === 'recipient' ? busy : undefined) });
    const ctx = await someone();
    await due(ctx);
    await sweep();
    const seen: unknown[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      await deliver(ctx, server);
      const [mail] = await outbox(ctx);
      seen.push([mail?.state, mail?.state === 'queued' ? Math.round((mail?.waitSec ?? 0) / 15) * 15 : 0]);
      expect(await trace(ctx)).toEqual([[false, Math.min(attempt, 3)]]);
      await letPausePass(ctx);
    }
    expect(seen).toEqual([
      ['queued', 30],
      ['queued', 120],
      ['failed', 0],
      ['failed', 0],
    ]);
  });

  it('and accepts later counts both attempts', async () => {
    let isBusy = true;
    const server = await startServer({ failures: ({ at }) => (isBusy && at === 'recipient' ? busy : undefined) });
    const ctx = await someone();
    await due(ctx);
    await sweep();
    await deliver(ctx, server);
    isBusy = false;
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(server.messages).toHaveLength(1);
    expect(await trace(ctx)).toEqual([[true, 2]]);
  });

  it('does not affect the next due time of a reminder snoozed meanwhile', async () => {
    const ctx = await someone();
    const { id } = await due(ctx);
    // The snooze comes while the mail server is receiving the mail.
    const server = await startSmtpServer({
      onMessage: async () => void (await snoozeReminder(ctx, id, { minutes: 10 })),
    });
    servers.push(server);
    await sweep();
    await deliver(ctx, server);
    expect(server.messages).toHaveLength(1);
    expect(await outbox(ctx)).toMatchObject([{ state: 'sent' }]);
    expect(await trace(ctx)).toEqual([[false, 0]]);
  });
});

it('an account that is deleted while its mails are queued delays no other mails', async () => {
  const [going, staying] = [await someone(), await someone()];
  await due(going);
  await due(staying);
  const isHeld = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const deletion = runtime.database.acrossTenants('a test deletes an account', async (tx) => {
    await tx.delete(users).where(and(eq(users.id, going.actor.id)));
    isHeld.resolve();
    await release.promise;
  });
  await isHeld.promise;
  const swept = sweep();
  await expect.poll(() => waitingForLocks(runtime.database), { timeout: 20_000 }).toBe(1);
  release.resolve();
  await Promise.all([deletion, swept]);
  expect(await outbox(going)).toEqual([]);
  expect(await outbox(staying)).toHaveLength(1);
});
