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
/** A mail server that an ADMIN runs: what comes here, the ADMIN reads. */
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
/** A tenant whose ADMIN has set a mail server of their own, and a SUPER_ADMIN in it. */
async function captured(): Promise<{ admin: User; boss: User }> {
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
  it('never sees the link of a SUPER_ADMIN; everybody else’s mail goes their way', async () => {
    const before = service.messages.length;
    const { admin, boss } = await captured();
    const user = await make.user({ tenantId: boss.tenantId });
    for (const account of [user, boss, admin]) await askForReset(account);
    await deliver(boss.tenantId);
    expect(at(theirs, boss)).toEqual([]);
    expect([at(theirs, user), at(theirs, admin)].map(({ length }) => length)).toEqual([1, 1]);
    const [mail] = at(service, boss);
    expect(mail?.envelopeFrom).toBe('service@example.org');
    expect(service.messages.slice(before).filter(({ envelopeTo }) => envelopeTo[0] !== boss.email)).toEqual([]);
    expect((await setPassword(tokenIn(mail?.text))).statusCode).toBe(204);
    // The notice of that change neither.
    await deliver(boss.tenantId);
    expect(at(service, boss)).toHaveLength(2);
    expect(at(theirs, boss)).toEqual([]);
  });

  it('does not see it either when the account became a SUPER_ADMIN after its mail was promised', async () => {
    const { boss } = await captured();
    const risen = await make.user({ tenantId: boss.tenantId });
    await askForReset(risen);
    expect((await promote(boss, risen)).statusCode).toBe(200);
    await deliver(boss.tenantId);
    expect(at(theirs, risen)).toEqual([]);
    expect(at(service, risen)).toHaveLength(1);
  });

  it('cannot keep a link for the day its account becomes a SUPER_ADMIN', async () => {
    const { admin, boss } = await captured();
    const [risen, other] = [await make.user({ tenantId: boss.tenantId }), await make.user({ tenantId: boss.tenantId })];
    await askForReset(risen);
    await askForReset(other);
    await deliver(boss.tenantId);
    const kept = tokenIn(at(theirs, risen)[0]?.text);
    expect(kept).not.toBe('');
    expect((await promote(boss, risen)).statusCode).toBe(200);
    const refused = await setPassword(kept);
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'TOKEN_INVALID']);
    // It is the promotion that ended it.
    expect((await setPassword(tokenIn(at(theirs, other)[0]?.text))).statusCode).toBe(204);
    // Nor does taking the server away afterwards bring the link back.
    expect((await request({ method: 'DELETE', url: '/smtp-config', as: admin })).statusCode).toBe(204);
    expect((await setPassword(kept)).statusCode).toBe(400);
  });

  it('gets no kind of mail to a SUPER_ADMIN', async () => {
    const { boss } = await captured();
    await runtime.database.inTenant(boss.tenantId).tx(async (tx) => {
      const promised = { tenantId: boss.tenantId, userId: boss.id, data: {} };
      await queueMail(tx, welcomeMail, { ...promised, key: newId() });
      await queueMail(tx, passwordChangedMail, { ...promised, key: newId() });
      await queueMail(tx, passwordResetMail, { ...promised, key: newId() });
    });
    await make.reminder(boss, { dueAt: new Date(Date.now() - 1_000), emailEnabled: true });
    await queueDueReminderMails(runtime.system(jobOrigin()), AbortSignal.timeout(20_000));
    await deliver(boss.tenantId);
    expect(at(theirs, boss)).toEqual([]);
    expect(at(service, boss)).toHaveLength(4);
  });

  it('whose server is dead holds up no mail to a SUPER_ADMIN', async () => {
    const dead = await startSmtpServer();
    await dead.stop();
    const { admin, boss } = await captured();
    await useServer(admin, dead.port);
    for (let n = 0; n < 5; n += 1) await askForReset(await make.user({ tenantId: boss.tenantId }));
    await deliver(boss.tenantId);
    await askForReset(boss);
    await deliver(boss.tenantId);
    expect(at(service, boss)).toHaveLength(1);
  });
});

describe('changed mail settings', () => {
  it('count for the next mail, in the middle of a long delivery too', async () => {
    const { id: tenantId } = await make.tenant();
    const admin = await make.user({ tenantId, role: 'ADMIN' });
    const accounts = Array.from({ length: 300 }, () => ({ id: newId() }));
    await runtime.database.acrossTenants('a test makes accounts and their mails', async (tx) => {
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
    // What had been claimed by then: twenty in the making, and what one more claim had taken.
    expect(first.messages.length - atChange).toBeLessThanOrEqual(40);
    await first.stop();
  });

  it('that go back to the service’s server and away from it again are followed at once', async () => {
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

  it('leaves over the service’s server and says that it was sent', async () => {
    const { boss } = await captured();
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
