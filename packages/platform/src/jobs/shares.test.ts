import { expect, it } from 'vitest';
import { openShares } from './shares.ts';

it('each tenant has its own share and can reuse a slot that it has left', () => {
  const shares = openShares(2);
  expect([shares.enter('a'), shares.enter('a'), shares.enter('b')]).toEqual([null, null, null]);
  expect(shares.enter('a')).not.toBeNull();
  shares.leave('a');
  expect(shares.enter('a')).toBeNull();
  expect(shares.enter('a')).not.toBeNull();
});

it('deferred jobs return at most four a second, the first after a second, and all within five minutes', () => {
  const shares = openShares(1);
  shares.enter('a');
  const waits = Array.from({ length: 10_000 }, () => shares.enter('a')?.waitMs ?? 0);
  expect(waits[0]).toBe(1_000);
  // The clock advances meanwhile.
  expect(waits[40]).toBeGreaterThan(10_000);
  expect(waits[40]).toBeLessThanOrEqual(11_000);
  expect(Math.max(...waits)).toBe(300_000);
  shares.enter('b');
  expect(shares.enter('b')?.waitMs).toBe(1_000);
});
