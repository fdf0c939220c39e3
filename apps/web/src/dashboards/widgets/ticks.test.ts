import { expect, it } from 'vitest';
import { msToNextTick } from './ticks.ts';

it.each([
  [0, 1_000, 1_000],
  [1, 1_000, 999],
  [999, 1_000, 1],
  [1_000, 1_000, 1_000],
  [59_999, 60_000, 1],
  [61_500, 60_000, 58_500],
  [-1, 1_000, 1],
])('waits at %i for the next step of %i ms: %i ms', (now, step, wait) => {
  expect(msToNextTick(now, step)).toBe(wait);
});
