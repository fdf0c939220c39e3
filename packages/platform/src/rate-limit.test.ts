import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { testRuntime } from '@portal/testing/runtime';
import { clearHits, consume, giveBack, type Hit, type RateLimit, retryAfter, takeHit } from './rate-limit.ts';

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

it('counts each combination of network and name separately', async () => {
  for (const subject of [
    '2001:db8:2:1::1',
    '2001:db8:2:2::1',
    'ada\x002001:db8:2:1::1',
    'bob\x002001:db8:2:1::1',
    '192.0.2.8',
  ])
    expect([await hit(subject), await hit(subject), await hit(subject)]).toEqual([true, true, false]);
});

describe('a returned hit', () => {
  const five: RateLimit = { name: 'five of this test', max: 5, windowSec: 60 };
  const across = <T>(work: Parameters<typeof runtime.database.acrossTenants<T>>[1]) =>
    runtime.database.acrossTenants('a test counts', work);
  const take = (subject: string, limit = five) => across((tx) => takeHit(tx, limit, subject));
  const back = (hit: Hit | null) => across(async (tx) => hit && giveBack(tx, hit));
  const takeAtOnce = async (count: number, subject: string) =>
    (await Promise.all(Array.from({ length: count }, () => take(subject)))).filter((hit) => hit !== null);

  it('allows one more: five of twelve concurrent hits pass, then as many as were returned', async () => {
    const taken = await takeAtOnce(12, 'twelve');
    expect(taken).toHaveLength(5);
    await Promise.all(taken.slice(0, 2).map(back));
    expect(await takeAtOnce(12, 'twelve')).toHaveLength(2);
    await Promise.all(taken.map(back));
    expect(await takeAtOnce(12, 'twelve')).toHaveLength(3);
  });

  it('is removed only once, however often it is returned', async () => {
    // now() is constant within a transaction.
    const [first, second] = await across(async (tx) => [
      await takeHit(tx, five, 'twice'),
      await takeHit(tx, five, 'twice'),
    ]);
    await takeAtOnce(3, 'twice');
    await Promise.all(Array.from({ length: 6 }, () => back(first ?? null)));
    expect(await takeAtOnce(12, 'twice')).toHaveLength(1);
    await back(second ?? null);
    expect(await takeAtOnce(12, 'twice')).toHaveLength(1);
  });

  it('does not affect other subjects or limits', async () => {
    const hit = await take('ada');
    const others = [await takeAtOnce(5, 'bob'), await takeAtOnce(4, 'ada')].flat();
    expect(others).toHaveLength(9);
    await back(hit);
    expect([await take('bob'), (await take('ada')) !== null]).toEqual([null, true]);
  });

  it('stays counted if the transaction that returns it does not commit', async () => {
    const [hit] = await takeAtOnce(5, 'rollback');
    await expect(
      across(async (tx) => {
        if (hit) await giveBack(tx, hit);
        throw new Error('not after all');
      }),
    ).rejects.toThrow('not after all');
    expect(await take('rollback')).toBeNull();
  });

  it('changes nothing once its window has ended or was cleared', async () => {
    const brief: RateLimit = { name: 'a second of this test', max: 1, windowSec: 1 };
    const old = await take('late', brief);
    await expect.poll(() => take('late', brief)).not.toBeNull();
    await back(old);
    expect(await take('late', brief)).toBeNull();
    const forgotten = await take('forgotten');
    await across((tx) => clearHits(tx, five, 'forgotten'));
    await back(forgotten);
    expect(await takeAtOnce(12, 'forgotten')).toHaveLength(5);
  });

  it('allows exactly five in any order of taking and returning', async () => {
    let held = 0;
    let most = 0;
    const one = async () => {
      for (let round = 0; round < 20; round += 1) {
        const hit = await take('race');
        if (hit === null) continue;
        most = Math.max(most, (held += 1));
        await pause(10);
        // Before it is free for others.
        held -= 1;
        await back(hit);
      }
    };
    await Promise.all(Array.from({ length: 12 }, one));
    // More than one at a time, otherwise the test proves nothing.
    expect([2, 3, 4, 5]).toContain(most);
    expect(await takeAtOnce(12, 'race')).toHaveLength(5);
  });
});
