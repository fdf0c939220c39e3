import { expect, it } from 'vitest';
import { testRuntime } from '@portal/testing/runtime';
import { clearHits, type RateLimit, retryAfter, consume } from './rate-limit.ts';

const { runtime } = await testRuntime();
const limit: RateLimit = { name: 'a limit of this test', max: 2, windowSec: 60 };
const hit = (subject: string) => runtime.database.acrossTenants('a test counts', (tx) => consume(tx, limit, subject));

it.each([
  ['an IPv6 network', ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:0DB8:1:2:3:4:5:6']],
  ['an IPv6 network beside a name', ['ada\x002001:db8:1:3::1', 'ada\x002001:db8:1:3::2', 'ada\x002001:db8:1:3::3']],
  ['an IPv4 address, however it is written', ['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207']],
])('counts %s as one', async (_, [first = '', second = '', third = '']) => {
  expect([await hit(first), await hit(second), await hit(third)]).toEqual([true, true, false]);
  await runtime.database.acrossTenants('a test looks', async (tx) => {
    expect(await retryAfter(tx, limit, third)).toBeGreaterThan(50);
    await clearHits(tx, limit, first);
    expect(await retryAfter(tx, limit, third)).toBeNull();
  });
});

it('counts networks and names beside each other apart', async () => {
  for (const subject of [
    '2001:db8:2:1::1',
    '2001:db8:2:2::1',
    'ada\x002001:db8:2:1::1',
    'bob\x002001:db8:2:1::1',
    '192.0.2.8',
  ])
    expect([await hit(subject), await hit(subject), await hit(subject)]).toEqual([true, true, false]);
});
