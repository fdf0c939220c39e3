import { describe, expect, it } from 'vitest';
import { mails } from '@portal/db/schema/platform/mails';
import { testApp } from '../../testing/app.ts';

const { make, request, runtime } = await testApp();

type User = Awaited<ReturnType<typeof make.user>>;
const ask = (identifier: string, remoteAddress: string) =>
  request({ method: 'POST', url: '/auth/request-reset', payload: { identifier }, remoteAddress });
const promised = async ({ tenantId, id }: User): Promise<number> =>
  (await runtime.database.inTenant(tenantId).read((db) => db.select({ userId: mails.userId }).from(mails))).filter(
    ({ userId }) => userId === id,
  ).length;

describe('an address past its limit of reset requests', () => {
  it('uses up nobody’s account', async () => {
    const attacker = '198.51.100.1';
    for (let n = 0; n < 20; n += 1) await ask(`nobody-${n}`, attacker);
    const victims = await Promise.all(Array.from({ length: 5 }, () => make.user()));
    await Promise.all(victims.flatMap(({ username }) => Array.from({ length: 6 }, () => ask(username, attacker))));
    for (const victim of victims) {
      expect(await promised(victim)).toBe(0);
      for (let n = 0; n < 3; n += 1) await ask(victim.username, '198.51.100.2');
      expect(await promised(victim)).toBe(3);
    }
  });

  it('uses up at most twenty requests, of however many accounts, however many come at once', async () => {
    const victims = await Promise.all(Array.from({ length: 30 }, () => make.user()));
    const answers = await Promise.all(victims.map(({ username }) => ask(username, '198.51.100.3')));
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(
      new Set(['202 {"accepted":true}']),
    );
    const counts = await Promise.all(victims.map(promised));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
  });
});

it('an account named like somebody’s address does not catch that person’s reset mail', async () => {
  const owner = await make.user({ email: 'owner@example.org' });
  const impostor = await make.user({ username: 'owner@example.org', email: 'impostor@example.org' });
  for (let n = 0; n < 5; n += 1) await ask('Owner@example.org', `198.51.100.${10 + n}`);
  expect([await promised(owner), await promised(impostor)]).toEqual([3, 0]);
  await ask('impostor@example.org', '198.51.100.20');
  expect([await promised(owner), await promised(impostor)]).toEqual([3, 1]);
});
