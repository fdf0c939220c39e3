import { expect, it } from 'vitest';
import { openShares } from './shares.ts';

it('each tenant takes its own share, and a place that it leaves is its own again', () => {
  const shares = openShares(2);
  expect([shares.enter('a'), shares.enter('a'), shares.enter('b')]).toEqual([null, null, null]);
  expect(shares.enter('a')).not.toBeNull();
  shares.leave('a');
  expect(shares.enter('a')).toBeNull();
  expect(shares.enter('a')).not.toBeNull();
});

it('those that wait come again at most four in a second, the first of them after a second, and none later than in five minutes', () => {
  const shares = openShares(1);
  shares.enter('a');
  const waits = Array.from({ length: 10_000 }, () => shares.enter('a')?.waitMs ?? 0);
  expect(waits[0]).toBe(1_000);
  // The clock goes on meanwhile.
  expect(waits[40]).toBeGreaterThan(10_000);
  expect(waits[40]).toBeLessThanOrEqual(11_000);
  expect(Math.max(...waits)).toBe(300_000);
  shares.enter('b');
  expect(shares.enter('b')?.waitMs).toBe(1_000);
});
