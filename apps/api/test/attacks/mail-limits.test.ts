import { and, eq, sql } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import { mails } from '@portal/db/schema/platform/mails';
import { reminders } from '@portal/db/schema/reminders';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { kinds } from '@portal/testing/mail-kinds';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { jobOrigin } from '@portal/testing/worker';
import { queueDueReminderMails } from '@portal/usecases/reminders/queue-due-mails';
import { testApp } from '../../testing/app.ts';

const service = await startSmtpServer();
const own = await startSmtpServer();
const { make, request, runtime } = await testApp({
  env: {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: `${service.port}`,
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'service@example.org',
    MAIL_DAILY_PER_TENANT: '150',
  },
});
afterAll(() => Promise.all([service.stop(), own.stop()]));

type User = Awaited<ReturnType<typeof make.user>>;

const at = (server: TestSmtpServer, { email }: User) =>
  server.messages.filter(({ envelopeTo }) => envelopeTo[0] === email).length;
const outcomes: { tenantId: string; outcome: string }[] = [];
/** Makes all reminders of the tenant due and delivers its mails. */
async function letTimePass({ tenantId }: User): Promise<void> {
  await runtime.database.inTenant(tenantId).tx((tx) => tx.update(reminders).set({ dueAt: sql`now()` }));
  await queueDueReminderMails(runtime.system(jobOrigin()), AbortSignal.timeout(20_000));
  const ctx = runtime.tenant(jobOrigin(), tenantId);
  const metrics = {
    ...ctx.metrics,
    countMail: (_: string, outcome: string) => void outcomes.push({ tenantId, outcome }),
  };
  await deliverDueMails({ ...ctx, metrics }, { kinds, signal: AbortSignal.timeout(60_000) });
}
async function remind(user: User, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, () =>
      make.reminder(user, { title: 'Jetzt günstig kaufen: https://example.com', emailEnabled: true }),
    ),
  );
}
const askForReset = ({ username }: User, remoteAddress: string) =>
  request({ method: 'POST', url: '/auth/request-reset', payload: { identifier: username }, remoteAddress });
const mailCounts = async (admin: User) => {
  const { dailyLimit, sentToday, heldBackToday } = (
    await request({ method: 'GET', url: '/smtp-config', as: admin })
  ).json();
  return { dailyLimit, sentToday, heldBackToday };
};

describe('users of a tenant who send as many mails as possible', () => {
  it('get at most 100 reminder mails each and 90 % of the tenant’s daily quota together; resets are still sent', async () => {
    const { id: tenantId } = await make.tenant();
    const admin = await make.user({ tenantId, role: 'ADMIN' });
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => make.user({ tenantId })));
    if (!one || !two || !three) throw new Error('a user is missing');

    await remind(one, 110);
    await letTimePass(one);
    expect(at(service, one)).toBe(100);
    expect(await mailCounts(admin)).toEqual({ dailyLimit: 150, sentToday: 100, heldBackToday: 10 });
    const entries = async () =>
      (await request({ method: 'GET', url: '/audit-log?action=mails.daily_limit', as: admin })).json();
    expect(await entries()).toEqual([]);

    await remind(two, 50);
    await remind(three, 50);
    await letTimePass(two);
    expect(at(service, two) + at(service, three)).toBe(35);
    expect(await mailCounts(admin)).toEqual({ dailyLimit: 150, sentToday: 135, heldBackToday: 75 });
    expect(await entries()).toMatchObject([
      { action: 'mails.daily_limit', actorId: null, summary: expect.stringMatching(/mail settings/) },
    ]);
    await remind(three, 1);
    await letTimePass(three);
    expect(await entries()).toHaveLength(1);
    const overQuota = outcomes.filter((one) => one.tenantId === tenantId && one.outcome === 'quota');
    expect(overQuota).toHaveLength(76);

    const victims = await Promise.all(Array.from({ length: 20 }, () => make.user({ tenantId })));
    for (const [n, victim] of victims.entries()) await askForReset(victim, `203.0.113.${n}`);
    await letTimePass(one);
    // Each victim requests one reset; the reserve is fifteen mails, and none exceeds the daily quota.
    expect(victims.map((victim) => at(service, victim)).filter((count) => count === 1)).toHaveLength(15);
    expect((await mailCounts(admin)).sentToday).toBe(150);
    const [held] = await runtime.database.inTenant(tenantId).read((db) =>
      db
        .select({ failure: mails.failure, message: mails.failureMessage })
        .from(mails)
        .where(and(eq(mails.state, 'quota'), eq(mails.kind, 'accounts/password-reset'))),
    );
    expect(held).toEqual({ failure: 'tenant_limit', message: expect.stringMatching(/Set up .* mail server/) });

    // Deleting accounts together with their mails does not free quota.
    for (const { id } of [one, two]) await request({ method: 'DELETE', url: `/users/${id}`, as: admin });
    await remind(three, 5);
    await letTimePass(three);
    expect(await mailCounts(admin)).toMatchObject({ sentToday: 150 });

    // An administrator’s test mail does not exceed the limit either.
    const before = service.messages.length;
    const test = await request({
      method: 'POST',
      url: '/smtp-config/test',
      payload: { to: 'stranger@example.net' },
      as: admin,
    });
    expect([test.statusCode, test.json().code]).toEqual([409, 'LIMIT_REACHED']);
    expect(service.messages).toHaveLength(before);

    // Other tenants have their own quota.
    const neighbour = await make.user();
    await remind(neighbour, 3);
    await letTimePass(neighbour);
    expect(at(service, neighbour)).toBe(3);

    // Mails over the tenant's own server are not counted.
    const payload = { host: '127.0.0.1', port: own.port, security: 'none', fromAddress: 'portal@own.example.org' };
    await request({ method: 'PUT', url: '/smtp-config', payload, as: admin });
    await remind(three, 120);
    await letTimePass(three);
    expect(at(own, three)).toBe(120);
    expect(await mailCounts(admin)).toMatchObject({ sentToday: 150 });
  });

  it('cannot use up the reserve with their own notices: each account has a limited share', async () => {
    const { id: tenantId } = await make.tenant();
    const [hostile, victim] = [await make.user({ tenantId }), await make.user({ tenantId })];
    await runtime.database.inTenant(tenantId).tx((tx) =>
      tx.insert(mails).values(
        Array.from({ length: 200 }, (_, n) => ({
          id: crypto.randomUUID(),
          tenantId,
          userId: hostile.id,
          kind: 'accounts/password-changed',
          key: `change/${n}`,
        })),
      ),
    );
    await letTimePass(hostile);
    expect(at(service, hostile)).toBe(135);
    await askForReset(victim, '203.0.113.100');
    await letTimePass(victim);
    expect(at(service, victim)).toBe(1);
  });
});

it('an administrator’s test mails over the service’s server count', async () => {
  const admin = await make.user({ role: 'ADMIN' });
  const test = () => request({ method: 'POST', url: '/smtp-config/test', payload: { to: 'a@example.net' }, as: admin });
  expect((await test()).statusCode).toBe(200);
  expect(await mailCounts(admin)).toMatchObject({ sentToday: 1 });
});
