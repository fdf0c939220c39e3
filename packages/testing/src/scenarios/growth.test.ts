import { expect, it } from 'vitest';
import { countGrowth, growthOf } from './growth.ts';

const everyMinute = (values: number[]) => values.map((value, n) => ({ at: n * 60_000, value }));
const day = Array.from({ length: 24 * 60 }, (_, n) => n);
/** Deterministic noise of at most one. */
const noise = (n: number) => Math.sin(n * 12.9898) * 0.9;

it.each([
  ['grows by two in a hundred', 0.02],
  ['stays', 0],
  ['shrinks', -0.02],
])('detects in spite of noise what %s an hour', (_what, perHour) => {
  const mean = 100;
  const growth = growthOf(everyMinute(day.map((n) => mean + (n / 60 - 12) * mean * perHour + 5 * noise(n))));
  expect(growth.error).toBeLessThan(0.005);
  expect(Math.abs(growth.perHour - perHour)).toBeLessThan(0.001);
});

it('reports a large error after only two minutes', () => {
  const { error } = growthOf(
    everyMinute(day.slice(0, 120).map((n) => 100 + 5 * noise(n))).map(({ at, value }) => ({ at: at / 60, value })),
  );
  expect(error).toBeGreaterThan(0.1);
});

it.each([
  ['fluctuates', day.map((n) => 30 + (n % 7)), 0],
  ['rises once during the warm-up', day.map((n) => (n < 60 ? 30 : 32)), 0],
  ['leaks one an hour', day.map((n) => 30 + Math.floor(n / 60)), 16 - 7],
  ['falls', day.map((n) => 300 - n / 10), 0],
])('measures the growth of a count that %s', (_what, values, growth) => {
  expect(countGrowth(everyMinute(values))).toBe(growth);
});
