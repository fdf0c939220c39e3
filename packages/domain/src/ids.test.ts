import { afterEach, beforeEach, expect, it, vi } from 'vitest';

// Ids never go back in time, so a test that moves the clock would affect the next one.
let newId: () => string;
beforeEach(async () => {
  vi.resetModules();
  ({ newId } = await import('./ids.ts'));
});
afterEach(() => void vi.useRealTimers());

const isAscending = (ids: string[]): boolean => ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? ''));
const msOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

it('generates UUIDs of version 7 that start with the time', () => {
  const before = Date.now();
  const id = newId();
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(msOf(id)).toBeGreaterThanOrEqual(before);
  expect(msOf(id)).toBeLessThanOrEqual(Date.now());
});

it('generates ascending ids, even many in one millisecond', () => {
  const ids = Array.from({ length: 100_000 }, newId);
  expect(isAscending(ids)).toBe(true);
  // The last group is random.
  expect(new Set(ids.map((id) => id.slice(24))).size).toBeGreaterThan(99_990);
});

it('generates ascending ids while the clock stands still or goes back, and then follows it again', () => {
  vi.useFakeTimers({ now: Date.now() + 1_000 });
  const still = Array.from({ length: 1_000 }, newId);
  vi.setSystemTime(Date.now() - 60_000);
  const back = Array.from({ length: 1_000 }, newId);
  vi.setSystemTime(Date.now() + 120_000);
  const ahead = newId();
  expect(isAscending([...still, ...back, ahead])).toBe(true);
  expect(msOf(ahead)).toBe(Date.now());
});

it('starts each millisecond with a different number', () => {
  vi.useFakeTimers({ now: Date.now() + 3_600_000 });
  const starts = Array.from({ length: 1_000 }, () => {
    vi.advanceTimersByTime(1);
    return newId().slice(14, 23);
  });
  expect(new Set(starts).size).toBeGreaterThan(990);
});
