import { describe, expect, it } from 'vitest';
import { FairShare, type FairShareLimits, type TaskOwner } from './fair-share.ts';

/** One slot, and a clock that advances only with the work. */
function turns(given: Partial<FairShareLimits> = {}) {
  const refusal = () => new Error('refused');
  const fair = new FairShare({ slots: 1, queueLimit: 100, tenantQueueLimit: 100, refusal, ...given });
  const done: string[] = [];
  const work = (name: string, owner: TaskOwner, kind = 'reading', ms = 5) =>
    fair.run(owner, kind, async () => {
      const end = performance.now() + ms;
      while (performance.now() < end);
      done.push(name);
    });
  return { fair, work, done };
}

describe('a free slot', () => {
  it('goes to the tenant with the least use, then to the owner, then to the kind', async () => {
    const { work, done } = turns();
    await Promise.all([
      work('a anna mail', { tenantId: 'a', ownerId: 'anna' }, 'mail', 50),
      work('a anna mail again', { tenantId: 'a', ownerId: 'anna' }, 'mail'),
      work('a anna feed', { tenantId: 'a', ownerId: 'anna' }, 'feed'),
      work('a bert', { tenantId: 'a', ownerId: 'bert' }),
      work('b', { tenantId: 'b' }),
      work('platform', { tenantId: null }),
    ]);
    expect(done.slice(0, 1)).toEqual(['a anna mail']);
    expect(done.slice(1, 3).toSorted()).toEqual(['b', 'platform']);
    expect(done.slice(3)).toEqual(['a bert', 'a anna feed', 'a anna mail again']);
  });

  it('is available to another tenant while one has more work than slots', async () => {
    const { fair } = turns({ slots: 4 });
    let begun = 0;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const all = Array.from({ length: 8 }, () =>
      fair.run({ tenantId: 'a' }, 'hanging', async () => {
        begun += 1;
        await end;
      }),
    );
    expect(await fair.run({ tenantId: 'b' }, 'reading', async () => begun)).toBe(2);
    resolve();
    await Promise.all(all);
    expect(begun).toBe(8);
  });
});

it('a task that has waited too long is refused and takes no turn', async () => {
  const { fair } = turns();
  const { promise: end, resolve } = Promise.withResolvers<string>();
  const hanging = fair.run({ tenantId: 'a' }, 'hanging', () => end);
  let begun = 0;
  const work = async () => (begun += 1);
  await expect(fair.run({ tenantId: 'b' }, 'reading', work, performance.now() + 50)).rejects.toThrow('refused');
  const patient = fair.run({ tenantId: 'b' }, 'reading', work);
  resolve('done');
  expect(await Promise.all([hanging, patient])).toEqual(['done', 1]);
});

it('refuses a tenant whose part of the queue is full, but not others', async () => {
  const { work, done } = turns({ queueLimit: 4, tenantQueueLimit: 2 });
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 5 }, () => work('a', { tenantId: 'a' })),
    work('b', { tenantId: 'b' }),
    work('c', { tenantId: 'c' }),
    work('d', { tenantId: 'd' }),
  ]);
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
  expect(done).toHaveLength(5);
});

it('past use counts half after the half-life', async () => {
  let time = 0;
  const { fair, work } = turns({ halfLifeMs: 60_000, now: () => time });
  await work('a', { tenantId: 'a' }, 'reading', 200);
  const waitSec = fair.secondsUntil({ tenantId: 'a' }, 50) ?? 0;
  expect(waitSec).toBeGreaterThanOrEqual(120);
  expect(fair.secondsUntil({ tenantId: 'b' }, 50)).toBeNull();
  time = waitSec * 1_000;
  expect(fair.secondsUntil({ tenantId: 'a' }, 50)).toBeNull();
});
