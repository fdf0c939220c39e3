import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import { smtpConfigs } from '@portal/db/schema/mail-settings';
import { SmtpConfigInput, SmtpTestInput } from '@portal/domain/mail-settings/smtp-config';
import type { UserContext } from '@portal/platform/context';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { queueMail } from '@portal/platform/outbox/queue-mail';
import { smtpSettingsOf } from '@portal/platform/outbox/smtp-settings-of';
import { kinds } from '@portal/testing/mail-kinds';
import { testRuntime } from '@portal/testing/runtime';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { passwordChangedMail } from '../accounts/mails/password-changed.ts';
import { deleteSmtpConfig, getSmtpConfig, putSmtpConfig } from './smtp-config.ts';
import { testSmtpConfig } from './test-smtp-config.ts';

const fallback = await startSmtpServer();
const { runtime, make, signedIn } = await testRuntime({
  SMTP_HOST: '127.0.0.1',
  SMTP_PORT: String(fallback.port),
  SMTP_SECURITY: 'none',
  SMTP_FROM: 'service@example.org',
});
afterAll(() => fallback.stop());

const admin = async (): Promise<UserContext> => signedIn(await make.user({ role: 'ADMIN' }));
const settings = (overrides: object = {}) =>
  SmtpConfigInput.parse({
    host: '127.0.0.1',
    port: 25,
    security: 'none',
    fromAddress: 'portal@example.org',
    ...overrides,
  });
const storedPassword = async (ctx: UserContext): Promise<string | null | undefined> => {
  const [row] = await ctx.read((db) =>
    db.select({ password: smtpConfigs.password }).from(smtpConfigs).where(eq(smtpConfigs.tenantId, ctx.tenantId)),
  );
  return row?.password;
};

describe('mail settings', () => {
  it('are null while nothing is set, never a 404', async () => {
    expect(await getSmtpConfig(await admin())).toEqual({
      host: null,
      port: null,
      security: null,
      username: null,
      hasPassword: false,
      fromAddress: null,
      fromName: null,
      replyTo: null,
      verifyTls: null,
      bugReportRecipient: null,
      dailyLimit: 2_000,
      sentToday: 0,
      heldBackToday: 0,
    });
  });

  it('are replaced completely except the password: blank, masked and missing keep it, null removes it', async () => {
    const ctx = await admin();
    expect(
      await putSmtpConfig(
        ctx,
        settings({ username: 'u', password: 'first secret', fromName: 'Werke', replyTo: 'It@Example.org' }),
      ),
    ).toMatchObject({
      hasPassword: true,
      username: 'u',
      fromName: 'Werke',
      replyTo: 'it@example.org',
    });
    const sealed = await storedPassword(ctx);
    expect(sealed).toMatch(/^v1:test:/);
    for (const password of ['', '********', undefined]) {
      expect(await putSmtpConfig(ctx, settings({ username: 'u', password }))).toMatchObject({
        hasPassword: true,
        replyTo: null,
        fromName: null,
      });
      expect(await storedPassword(ctx)).toBe(sealed);
    }
    await putSmtpConfig(ctx, settings({ password: 'second secret' }));
    expect((await smtpSettingsOf(ctx, 'USER'))?.password).toBe('second secret');
    expect(await putSmtpConfig(ctx, settings({ password: null }))).toMatchObject({ hasPassword: false });
    expect(await storedPassword(ctx)).toBeNull();
  });

  it('may contain only a recipient of bug reports; mails then use the service’s own server', async () => {
    const ctx = await admin();
    await putSmtpConfig(ctx, SmtpConfigInput.parse({ bugReportRecipient: 'it@example.org' }));
    expect(await getSmtpConfig(ctx)).toMatchObject({ host: null, bugReportRecipient: 'it@example.org' });
    expect(await smtpSettingsOf(ctx, 'USER')).toMatchObject({
      port: fallback.port,
      fromAddress: 'service@example.org',
    });
  });

  it.each([
    ['a host without the rest', { host: 'mail.example.org', port: null, security: null, fromAddress: null }],
    ['a port out of range', { port: 70_000 }],
    ['an unknown encryption', { security: 'ssl' }],
    ['an invalid address', { fromAddress: 'nobody' }],
    ['a line break in a name', { fromName: 'Werke\r\nBcc: x@example.org' }],
    ['a host with a path', { host: 'mail.example.org/x' }],
  ])('refuse %s', (_, fields) => {
    expect(
      SmtpConfigInput.safeParse({ host: 'h', port: 25, security: 'none', fromAddress: 'a@example.org', ...fields })
        .success,
    ).toBe(false);
  });

  it('are deleted with their password', async () => {
    const ctx = await admin();
    await putSmtpConfig(ctx, settings({ password: 'secret' }));
    await deleteSmtpConfig(ctx);
    await deleteSmtpConfig(ctx);
    expect(await getSmtpConfig(ctx)).toMatchObject({ host: null, hasPassword: false });
  });

  it('cannot be opened in another tenant’s row', async () => {
    const [ours, theirs] = [await admin(), await admin()];
    await putSmtpConfig(theirs, settings({ password: 'their secret' }));
    await putSmtpConfig(ours, settings({ password: 'our secret' }));
    await runtime.database.acrossTenants('a test moves a sealed secret', async (tx) => {
      const stolen = await storedPassword(theirs);
      await tx
        .update(smtpConfigs)
        .set({ password: stolen ?? null })
        .where(eq(smtpConfigs.tenantId, ours.tenantId));
    });
    await expect(smtpSettingsOf(ours, 'USER')).rejects.toThrow(/cannot be read/);
  });
});

describe('testing mail settings', () => {
  it('sends a test mail to the given address, otherwise to the caller’s own', async () => {
    const server = await startSmtpServer({ auth: { username: 'u', password: 'right' } });
    const ctx = await admin();
    const input = settings({ port: server.port, username: 'u', password: 'right' });
    expect(await testSmtpConfig(ctx, input)).toEqual({ ok: true });
    expect(await testSmtpConfig(ctx, { ...input, to: 'somebody@example.org' })).toEqual({ ok: true });
    expect(server.messages.map(({ envelopeTo }) => envelopeTo)).toEqual([
      [ctx.account.email],
      ['somebody@example.org'],
    ]);
    await server.stop();
  });

  it('uses the stored password if none is given', async () => {
    const server = await startSmtpServer({ auth: { username: 'u', password: 'saved' } });
    const ctx = await admin();
    await putSmtpConfig(ctx, settings({ port: server.port, username: 'u', password: 'saved' }));
    expect(await testSmtpConfig(ctx, settings({ port: server.port, username: 'u', password: '' }))).toEqual({
      ok: true,
    });
    await expect(
      testSmtpConfig(ctx, settings({ port: server.port, username: 'u', password: null })),
    ).rejects.toMatchObject({ code: 'MAIL_DELIVERY_FAILED' });
    await server.stop();
  });

  it('says in plain words what went wrong, without the password', async () => {
    const server = await startSmtpServer({ auth: { username: 'u', password: 'right' } });
    const ctx = await admin();
    const failure = await testSmtpConfig(
      ctx,
      settings({ port: server.port, username: 'u', password: 'wrong-and-secret' }),
    ).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'upstream', code: 'MAIL_DELIVERY_FAILED', failure: 'auth' });
    expect(String(failure)).not.toContain('wrong-and-secret');
    await server.stop();
    // Another process may take the port of a stopped server at once.
    await expect(testSmtpConfig(ctx, settings({ port: 1 }))).rejects.toMatchObject({
      code: 'MAIL_DELIVERY_FAILED',
      failure: 'connect',
    });
  });

  it('only signs in if there is no address, and tests the service’s server if no host is given', async () => {
    const server = await startSmtpServer();
    const ctx = await signedIn(await make.user({ role: 'ADMIN', email: null }));
    expect(await testSmtpConfig(ctx, settings({ port: server.port }))).toEqual({ ok: true });
    expect(server.messages).toEqual([]);
    const before = fallback.messages.length;
    expect(await testSmtpConfig(ctx, SmtpTestInput.parse({ to: 'a@example.org' }))).toEqual({ ok: true });
    expect(fallback.messages).toHaveLength(before + 1);
    await server.stop();
  });
});

describe('mail of a tenant', () => {
  it('never uses another tenant’s server; a tenant without one uses the service’s', async () => {
    const [first, second] = [await startSmtpServer(), await startSmtpServer()];
    const contexts = [await admin(), await admin(), await admin()];
    await putSmtpConfig(contexts[0] as UserContext, settings({ port: first.port, fromAddress: 'first@example.org' }));
    await putSmtpConfig(contexts[1] as UserContext, settings({ port: second.port, fromAddress: 'second@example.org' }));
    const before = fallback.messages.length;
    await Promise.all(contexts.map(sendNotices));
    const recipients = (messages: TestSmtpServer['messages']) => messages.flatMap(({ envelopeTo }) => envelopeTo);
    expect(recipients(first.messages)).toEqual([contexts[0]?.account.email, contexts[0]?.account.email]);
    expect(recipients(second.messages)).toEqual([contexts[1]?.account.email, contexts[1]?.account.email]);
    expect(recipients(fallback.messages.slice(before))).toEqual([
      contexts[2]?.account.email,
      contexts[2]?.account.email,
    ]);
    expect(first.messages.every(({ envelopeFrom }) => envelopeFrom === 'first@example.org')).toBe(true);
    await Promise.all([first.stop(), second.stop()]);
  });
});

/** Sends two mails of the tenant through the outbox. */
async function sendNotices(ctx: UserContext): Promise<void> {
  await ctx.tx(async (tx) => {
    for (const key of ['one', 'two']) {
      await queueMail(tx, passwordChangedMail, {
        tenantId: ctx.tenantId,
        key,
        userId: ctx.actor.id,
        data: {},
      });
    }
  });
  await deliverDueMails(ctx, { signal: AbortSignal.timeout(20_000), kinds });
}
