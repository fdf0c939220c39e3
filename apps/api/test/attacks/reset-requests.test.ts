import { describe, expect, it } from 'vitest';
import { mails } from '@portal/db/schema/platform/mails';
import { testApp } from '../../testing/app.ts';

const { make, request, runtime } = await testApp();

type User = Awaited<ReturnType<typeof make.user>>;
const ask = (identifier: string, remoteAddress: string) =>
  request({ method: 'POST', url: '/auth/request-reset', payload: { identifier }, remoteAddress });
const queuedMails = async ({ tenantId, id }: User): Promise<number> =>
  (await runtime.database.inTenant(tenantId).read((db) => db.select({ userId: mails.userId }).from(mails))).filter(
    ({ userId }) => userId === id,
  ).length;

describe('an IP address over its limit of reset requests', () => {
  it('does not use up the limits of accounts', async () => {
    const attacker = '198.51.100.1';
    for (let n = 0; n < 20; n += 1) await ask(`unknown-${n}`, attacker);
    const victims = await Promise.all(Array.from({ length: 5 }, () => make.user()));
    await Promise.all(victims.flatMap(({ username }) => Array.from({ length: 6 }, () => ask(username, attacker))));
    for (const victim of victims) {
      expect(await queuedMails(victim)).toBe(0);
      for (let n = 0; n < 3; n += 1) await ask(victim.username, '198.51.100.2');
      expect(await queuedMails(victim)).toBe(3);
    }
  });

  it('has at most twenty requests over all accounts, even concurrent ones', async () => {
    const victims = await Promise.all(Array.from({ length: 30 }, () => make.user()));
    const answers = await Promise.all(victims.map(({ username }) => ask(username, '198.51.100.3')));
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(
      new Set(['202 {"accepted":true}']),
    );
    const counts = await Promise.all(victims.map(queuedMails));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
  });
});

it('an account named like another account’s address does not get its reset mails', async () => {
  const owner = await make.user({ email: 'owner@example.org' });
  const impostor = await make.user({ username: 'owner@example.org', email: 'impostor@example.org' });
  for (let n = 0; n < 5; n += 1) await ask('Owner@example.org', `198.51.100.${10 + n}`);
  expect([await queuedMails(owner), await queuedMails(impostor)]).toEqual([3, 0]);
  await ask('impostor@example.org', '198.51.100.20');
  expect([await queuedMails(owner), await queuedMails(impostor)]).toEqual([3, 1]);
});
