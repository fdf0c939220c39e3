import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SmtpConfigInput } from '@portal/domain/mail-settings/smtp-config';
import { builtInWelcomeMail } from '@portal/domain/mail-settings/welcome-mail';
import type { UserContext } from '@portal/platform/context';
import { outboxHandlers } from '@portal/platform/outbox/handlers';
import { testRuntime } from '@portal/testing/runtime';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { startTestWorker, type TestWorker } from '@portal/testing/worker';
import { putSmtpConfig } from '../mail-settings/smtp-config.ts';
import {
  deleteWelcomeTemplate,
  getWelcomeTemplate,
  previewWelcomeMail,
  putWelcomeTemplate,
} from '../mail-settings/welcome-mail-template.ts';
import { signIn } from '../sign-in/sign-in.ts';
import { accounts } from './area.ts';
import { resetPassword } from './password-reset.ts';
import { createUser } from './users.ts';
import { sendWelcomeMail, testWelcomeMail, welcomeMailStatus } from './welcome-mails.ts';

const { url, make, system, signedIn } = await testRuntime();
let server: TestSmtpServer;
let worker: TestWorker;
beforeAll(async () => {
  server = await startSmtpServer({
    failures: (step) =>
      step.at === 'recipient' && step.address.startsWith('refused-') ? { code: 550, text: 'no such user' } : undefined,
  });
  worker = startTestWorker(url, {
    handlers: outboxHandlers([accounts]),
  });
});
afterAll(async () => {
  await worker.stop();
  await server.stop();
});

/** An administrator of a tenant with a mail server. */
const admin = async (): Promise<UserContext> => {
  const ctx = await signedIn(await make.user({ role: 'ADMIN' }));
  await putSmtpConfig(
    ctx,
    SmtpConfigInput.parse({
      host: '127.0.0.1',
      port: server.port,
      security: 'none',
      fromAddress: 'portal@example.org',
    }),
  );
  return ctx;
};
const mailTo = (address: string | null | undefined) =>
  server.messages.filter(({ envelopeTo }) => envelopeTo[0] === address);
const tokenIn = (text: string): string => /reset-password#token=([\w-]+)/.exec(text)?.[1] ?? '';

describe('the template of the welcome mail', () => {
  const own = { ...builtInWelcomeMail, subject: 'Hallo {{vorname}} bei {{firma}}', loginHintLocal: '' };

  it('is built in until a tenant has its own, and again after that is deleted', async () => {
    const ctx = await admin();
    expect(await getWelcomeTemplate(ctx)).toEqual(builtInWelcomeMail);
    await putWelcomeTemplate(ctx, { ...own, loginHintLocal: 'Eigener Hinweis' });
    expect(await getWelcomeTemplate(ctx)).toMatchObject({
      subject: own.subject,
      loginHintLocal: 'Eigener Hinweis',
      loginHintDirectory: null,
    });
    expect(await getWelcomeTemplate(await admin())).toEqual(builtInWelcomeMail);
    await deleteWelcomeTemplate(ctx);
    expect(await getWelcomeTemplate(ctx)).toEqual(builtInWelcomeMail);
  });

  it('refuses an unknown placeholder by its name', async () => {
    const ctx = await admin();
    const bad = { ...builtInWelcomeMail, intro: 'Guten Tag {{nachname}} und {{NAME}}' };
    for (const attempt of [
      () => putWelcomeTemplate(ctx, bad),
      async () => previewWelcomeMail(ctx, bad),
      () => testWelcomeMail(ctx, bad),
    ]) {
      await expect(attempt()).rejects.toMatchObject({
        kind: 'invalid',
        code: 'UNKNOWN_PLACEHOLDER',
        message: expect.stringMatching(/\{\{nachname\}\}.*\{\{NAME\}\}/),
        details: [{ path: 'intro' }, { path: 'intro' }],
      });
    }
  });

  it('can be previewed before saving, with the caller’s tenant as firma and HTML as text', async () => {
    const ctx = await admin();
    const preview = previewWelcomeMail(ctx, { ...own, intro: '<script>alert(1)</script> {{name}}' });
    expect(preview.subject).toBe(`Hallo Erika bei ${ctx.account.tenantName}`);
    expect(preview.html).toContain('&lt;script&gt;');
    expect(preview.html).not.toContain('<script>');
    expect(preview.text).toContain('<script>alert(1)</script> Erika Beispiel');
    expect(preview.html).not.toContain('#token=');
  });
});

describe('a welcome mail', () => {
  it('contains a link for a local account that sets its password once, and its time is stored', async () => {
    const ctx = await admin();
    const user = await createUser(ctx, {
      username: `neu-${ctx.actor.id}`,
      email: `neu-${ctx.actor.id}@example.org`,
      displayName: 'Ärger & Söhne "<b>"',
      firstName: 'Änne',
      role: 'USER',
      isActive: true,
    });
    const answer = await sendWelcomeMail(ctx, user.id);
    expect(answer).toMatchObject({ sent: true, welcomeMailSentAt: expect.any(Date) });
    const [mail] = mailTo(user.email);
    expect(mail?.subject).toContain(ctx.account.tenantName);
    expect(mail?.html).toContain('Ärger &amp; Söhne');
    expect(mail?.html).not.toContain('<b>');
    expect(mail?.headers).toMatchObject(expect.objectContaining({}));
    const token = tokenIn(mail?.text ?? '');
    await resetPassword(system(), { token, newPassword: 'four candles and a fork' });
    await expect(resetPassword(system(), { token, newPassword: 'another long password' })).rejects.toMatchObject({
      code: 'TOKEN_INVALID',
    });
    await expect(
      signIn(system({ ip: '203.0.113.20' }), { username: user.username, password: 'four candles and a fork' }),
    ).resolves.toBeDefined();
  });

  it('contains the hint about the directory password for a directory account and no link to set one', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId, ldapDn: 'uid=x,dc=example' });
    expect(await sendWelcomeMail(ctx, user.id)).toMatchObject({ sent: true });
    const [mail] = mailTo(user.email);
    expect(mail?.text).toContain('Netzwerk');
    expect(mail?.text).not.toContain('token=');
  });

  it('invalidates the link of the previous mail', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId });
    await sendWelcomeMail(ctx, user.id);
    await sendWelcomeMail(ctx, user.id);
    const [first, second] = mailTo(user.email).map(({ text }) => tokenIn(text));
    await expect(
      resetPassword(system(), { token: first ?? '', newPassword: 'four candles and a fork' }),
    ).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
    await resetPassword(system(), { token: second ?? '', newPassword: 'four candles and a fork' });
  });

  it('reports a refused mail as not sent and stores no time for it', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId, email: `refused-${ctx.actor.id}@example.org` });
    expect(await sendWelcomeMail(ctx, user.id)).toEqual({ sent: false, welcomeMailSentAt: null });
  });

  it('needs an address, a mail server, and the rights to edit the account', async () => {
    const ctx = await admin();
    const noAddress = await make.user({ tenantId: ctx.tenantId, email: null });
    await expect(sendWelcomeMail(ctx, noAddress.id)).rejects.toMatchObject({ kind: 'conflict', code: 'NO_ADDRESS' });
    const boss = await make.user({ tenantId: ctx.tenantId, role: 'SUPER_ADMIN' });
    await expect(sendWelcomeMail(ctx, boss.id)).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(sendWelcomeMail(ctx, (await make.user()).id)).rejects.toMatchObject({ kind: 'not_found' });
    const withoutServer = await signedIn(await make.user({ role: 'ADMIN' }));
    await expect(
      sendWelcomeMail(withoutServer, (await make.user({ tenantId: withoutServer.tenantId })).id),
    ).rejects.toMatchObject({ code: 'MAIL_NOT_CONFIGURED' });
    expect(await welcomeMailStatus(withoutServer)).toEqual({ available: false, reason: 'MAIL_NOT_CONFIGURED' });
    expect(await welcomeMailStatus(ctx)).toEqual({ available: true, reason: null });
  });

  it('leaves through the account’s own tenant if a SUPER_ADMIN of another sends it', async () => {
    const ctx = await admin();
    const user = await make.user({ tenantId: ctx.tenantId });
    const boss = await signedIn(await make.user({ role: 'SUPER_ADMIN' }));
    expect(await sendWelcomeMail(boss, user.id)).toMatchObject({ sent: true });
    expect(mailTo(user.email)).toHaveLength(1);
  });

  it('can be tested with an unsaved template, a link to the sign-in page and no token', async () => {
    const ctx = await admin();
    expect(await testWelcomeMail(ctx, { ...builtInWelcomeMail, closing: 'Nur ein Versuch.' })).toEqual({ sent: true });
    const [mail] = mailTo(ctx.account.email);
    expect(mail?.text).toContain('Nur ein Versuch.');
    expect(mail?.text).toContain('/login');
    expect(mail?.text).not.toContain('token=');
    const withoutAddress = await signedIn(await make.user({ role: 'ADMIN', email: null }));
    await expect(testWelcomeMail(withoutAddress, builtInWelcomeMail)).rejects.toMatchObject({ code: 'NO_ADDRESS' });
    const unconfigured = await signedIn(await make.user({ role: 'ADMIN' }));
    expect(await testWelcomeMail(unconfigured, builtInWelcomeMail)).toEqual({
      sent: false,
      reason: 'No mail server is configured.',
    });
  });
});
