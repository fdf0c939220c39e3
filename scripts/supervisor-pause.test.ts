import { expect, it } from 'vitest';
import { failuresInRow, restartPauseMs } from './supervisor-pause.ts';

it('doubles the pause from 1 s to at most 30 s', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 50].map(restartPauseMs)).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
  ]);
});

it('restarts the count after a minute of health', () => {
  expect(failuresInRow(0, 10)).toBe(1);
  expect(failuresInRow(4, 59_999)).toBe(5);
  expect(failuresInRow(4, 60_000)).toBe(1);
});
