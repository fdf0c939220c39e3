import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { handle } from '@portal/platform/jobs/handler';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { deliverMails } from '@portal/platform/outbox/jobs';
import { queueMail } from '@portal/platform/outbox/queue-mail';
import { kinds } from '@portal/testing/mail-kinds';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { jobOrigin, startTestWorker, type TestWorker } from '@portal/testing/worker';
import { passwordChangedMail } from '@portal/usecases/accounts/mails/password-changed';
import { passwordResetMail } from '@portal/usecases/accounts/mails/password-reset';
import { welcomeMail } from '@portal/usecases/accounts/mails/welcome';
import { queueDueReminderMails } from '@portal/usecases/reminders/queue-due-mails';
import { testApp } from '../../testing/app.ts';

const service = await startSmtpServer();
/** A mail server of an ADMIN, who can read all mails there. */
const theirs = await startSmtpServer();
const second = await startSmtpServer();
const env = {
  SMTP_HOST: '127.0.0.1',
  SMTP_PORT: `${service.port}`,
  SMTP_SECURITY: 'none',
  SMTP_FROM: 'service@example.org',
};
const { make, request, runtime, url } = await testApp({ env });
afterAll(() => Promise.all([service.stop(), theirs.stop(), second.stop()]));

type User = Awaited<ReturnType<typeof make.user>>;

const useServer = async (admin: User, port: number) => {
  const payload = { host: '127.0.0.1', port, security: 'none', fromAddress: 'portal@theirs.example.org' };
  const answer = await request({ method: 'PUT', url: '/smtp-config', payload, as: admin });
  expect(answer.statusCode).toBe(200);
};
/** A tenant with a SUPER_ADMIN, whose ADMIN has set their own mail server. */
async function tenantWithOwnServer(): Promise<{ admin: User; boss: User }> {
  const { id: tenantId } = await make.tenant();
  const [admin, boss] = [
    await make.user({ tenantId, role: 'ADMIN' }),
    await make.user({ tenantId, role: 'SUPER_ADMIN' }),
  ];
  await useServer(admin, theirs.port);
  return { admin, boss };
}

let lastAddress = 0;
const askForReset = async ({ username }: User) => {
  const remoteAddress = `198.51.100.${(lastAddress += 1)}`;
  const answer = await request({
    method: 'POST',
    url: '/auth/request-reset',
    payload: { identifier: username },
    remoteAddress,
  });
  expect(answer.statusCode).toBe(202);
};
const deliver = (tenantId: string, signal = AbortSignal.timeout(60_000)) =>
  deliverDueMails(runtime.tenant(jobOrigin(), tenantId), { signal, kinds });
const at = (server: TestSmtpServer, { email }: User) =>
  server.messages.filter(({ envelopeTo }) => envelopeTo[0] === email);
const tokenIn = (text: string | undefined): string => /#token=([\w-]+)/.exec(text ?? '')?.[1] ?? '';
const setPassword = (token: string) =>
  request({ method: 'POST', url: '/auth/reset-password', payload: { token, newPassword: 'nine quiet lanterns' } });
const promote = (boss: User, { id }: User) =>
  request({ method: 'PATCH', url: `/users/${id}`, payload: { role: 'SUPER_ADMIN' }, as: boss });

describe('an ADMIN who sets the mail server of the tenant', () => {
  it('never sees the link of a SUPER_ADMIN, but gets all other mails', async () => {
    const before = service.messages.length;
    const { admin, boss } = await tenantWithOwnServer();
    const user = await make.user({ tenantId: boss.tenantId });
    for (const account of [user, boss, admin]) await askForReset(account);
    await deliver(boss.tenantId);
    expect(at(theirs, boss)).toEqual([]);
    expect([at(theirs, user), at(theirs, admin)].map(({ length }) => length)).toEqual([1, 1]);
    const [mail] = at(service, boss);
    expect(mail?.envelopeFrom).toBe('service@example.org');
    expect(service.messages.slice(before).filter(({ envelopeTo }) => envelopeTo[0] !== boss.email)).toEqual([]);
    expect((await setPassword(tokenIn(mail?.text))).statusCode).toBe(204);
    // Nor does the ADMIN see the notice of that change.
    await deliver(boss.tenantId);
    expect(at(service, boss)).toHaveLength(2);
    expect(at(theirs, boss)).toEqual([]);
  });

  it('does not see it either if the account becomes SUPER_ADMIN after its mail is queued', async () => {
    const { boss } = await tenantWithOwnServer();
    const promoted = await make.user({ tenantId: boss.tenantId });
    await askForReset(promoted);
    expect((await promote(boss, promoted)).statusCode).toBe(200);
    await deliver(boss.tenantId);
    expect(at(theirs, promoted)).toEqual([]);
    expect(at(service, promoted)).toHaveLength(1);
  });

  it('cannot use a saved link after its account becomes SUPER_ADMIN', async () => {
    const { admin, boss } = await tenantWithOwnServer();
    const [promoted, other] = [
      await make.user({ tenantId: boss.tenantId }),
      await make.user({ tenantId: boss.tenantId }),
    ];
    await askForReset(promoted);
    await askForReset(other);
    await deliver(boss.tenantId);
    const saved = tokenIn(at(theirs, promoted)[0]?.text);
    expect(saved).not.toBe('');
    expect((await promote(boss, promoted)).statusCode).toBe(200);
    const refused = await setPassword(saved);
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'TOKEN_INVALID']);
    // Only the promotion invalidated the link: the other account's link works.
    expect((await setPassword(tokenIn(at(theirs, other)[0]?.text))).statusCode).toBe(204);
    // Removing the server afterwards does not restore the link.
    expect((await request({ method: 'DELETE', url: '/smtp-config', as: admin })).statusCode).toBe(204);
    expect((await setPassword(saved)).statusCode).toBe(400);
  });

  it('gets no kind of mail to a SUPER_ADMIN', async () => {
    const { boss } = await tenantWithOwnServer();
    await runtime.database.inTenant(boss.tenantId).tx(async (tx) => {
      const common = { tenantId: boss.tenantId, userId: boss.id, data: {} };
      await queueMail(tx, welcomeMail, { ...common, key: newId() });
      await queueMail(tx, passwordChangedMail, { ...common, key: newId() });
      await queueMail(tx, passwordResetMail, { ...common, key: newId() });
    });
    await make.reminder(boss, { dueAt: new Date(Date.now() - 1_000), emailEnabled: true });
    await queueDueReminderMails(runtime.system(jobOrigin()), AbortSignal.timeout(20_000));
    await deliver(boss.tenantId);
    expect(at(theirs, boss)).toEqual([]);
    expect(at(service, boss)).toHaveLength(4);
  });

  it('cannot delay mails to a SUPER_ADMIN with an unreachable server', async () => {
    const dead = await startSmtpServer();
    await dead.stop();
    const { admin, boss } = await tenantWithOwnServer();
    await useServer(admin, dead.port);
    for (let n = 0; n < 5; n += 1) await askForReset(await make.user({ tenantId: boss.tenantId }));
    await deliver(boss.tenantId);
    await askForReset(boss);
    await deliver(boss.tenantId);
    expect(at(service, boss)).toHaveLength(1);
  });
});

describe('changed mail settings', () => {
  it('apply to the next mail, even during a long delivery', async () => {
    const { id: tenantId } = await make.tenant();
    const admin = await make.user({ tenantId, role: 'ADMIN' });
    const accounts = Array.from({ length: 300 }, () => ({ id: newId() }));
    await runtime.database.acrossTenants('a test creates accounts and their mails', async (tx) => {
      await tx
        .insert(users)
        .values(accounts.map(({ id }) => ({ id, tenantId, username: id, email: `${id}@example.org` })));
      await tx.insert(mails).values(
        accounts.map(({ id }) => ({
          id: newId(),
          tenantId,
          userId: id,
          kind: 'accounts/password-changed',
          key: newId(),
        })),
      );
    });
    let isChanged = Promise.resolve();
    let atChange = Number.NaN;
    const first: TestSmtpServer = await startSmtpServer({
      delayMs: 20,
      onMessage: () => {
        if (first.messages.length === 60)
          isChanged = useServer(admin, second.port).then(() => void (atChange = first.messages.length));
      },
    });
    await useServer(admin, first.port);
    const before = second.messages.length;
    await deliver(tenantId);
    await isChanged;
    expect(first.messages.length + second.messages.length - before).toBe(300);
    // Mails already claimed: twenty in progress and one more claim.
    expect(first.messages.length - atChange).toBeLessThanOrEqual(40);
    await first.stop();
  });

  it('that switch to the service’s server and back apply at once', async () => {
    const { id: tenantId } = await make.tenant();
    const [admin, user] = [await make.user({ tenantId, role: 'ADMIN' }), await make.user({ tenantId })];
    await askForReset(user);
    await deliver(tenantId);
    await useServer(admin, second.port);
    await askForReset(user);
    await deliver(tenantId);
    await request({ method: 'DELETE', url: '/smtp-config', as: admin });
    await askForReset(user);
    await deliver(tenantId);
    expect([at(service, user), at(second, user)].map(({ length }) => length)).toEqual([2, 1]);
  });
});

describe('a welcome mail to a SUPER_ADMIN', () => {
  let worker: TestWorker;
  beforeAll(() => {
    worker = startTestWorker(
      url,
      {
        handlers: [handle(deliverMails, (ctx, _payload, { signal }) => deliverDueMails(ctx, { signal, kinds }))],
      },
      { env },
    );
  });
  afterAll(() => worker.stop());

  it('is sent over the service’s server and reported as sent', async () => {
    const { boss } = await tenantWithOwnServer();
    const other = await make.user({ tenantId: boss.tenantId, role: 'SUPER_ADMIN' });
    const answer = await request({ method: 'POST', url: `/users/${other.id}/welcome-mail`, as: boss });
    expect(answer.json()).toMatchObject({ sent: true });
    expect(at(theirs, other)).toEqual([]);
    const [mail] = at(service, other);
    expect((await setPassword(tokenIn(mail?.text))).statusCode).toBe(204);
    const [row] = await runtime.database
      .inTenant(other.tenantId)
      .read((db) => db.select({ sentAt: users.welcomeMailSentAt }).from(users).where(eq(users.id, other.id)));
    expect(row?.sentAt).not.toBeNull();
  });
});
