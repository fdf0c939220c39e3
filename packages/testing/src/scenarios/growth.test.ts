import { expect, it } from 'vitest';
import { growthOf, moreOf } from './growth.ts';

const everyMinute = (values: number[]) => values.map((value, n) => ({ at: n * 60_000, value }));
const day = Array.from({ length: 24 * 60 }, (_, n) => n);
/** The same ups and downs each time, of at most one. */
const noise = (n: number) => Math.sin(n * 12.9898) * 0.9;

it.each([
  ['grows by two in a hundred', 0.02],
  ['stays', 0],
  ['shrinks', -0.02],
])('what %s an hour is seen through its ups and downs', (_what, perHour) => {
  const mean = 100;
  const seen = growthOf(everyMinute(day.map((n) => mean + (n / 60 - 12) * mean * perHour + 5 * noise(n))));
  expect(seen.error).toBeLessThan(0.005);
  expect(Math.abs(seen.perHour - perHour)).toBeLessThan(0.001);
});

it('two minutes of the same say that they cannot tell', () => {
  const { error } = growthOf(
    everyMinute(day.slice(0, 120).map((n) => 100 + 5 * noise(n))).map(({ at, value }) => ({ at: at / 60, value })),
  );
  expect(error).toBeGreaterThan(0.1);
});

it.each([
  ['goes up and down', day.map((n) => 30 + (n % 7)), 0],
  ['rose once while it warmed up', day.map((n) => (n < 60 ? 30 : 32)), 0],
  ['loses one an hour', day.map((n) => 30 + Math.floor(n / 60)), 16 - 7],
  ['gets fewer', day.map((n) => 300 - n / 10), 0],
])('what %s has grown by as much', (_what, values, more) => {
  expect(moreOf(everyMinute(values))).toBe(more);
});
