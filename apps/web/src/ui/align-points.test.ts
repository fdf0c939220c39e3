import { expect, test } from 'vitest';
import { alignPoints } from './align-points.ts';

test('series with other instants share one axis', () => {
  expect(
    alignPoints([
      [
        [3, 30],
        [1, 10],
      ],
      [
        [1, 100],
        [2, null],
      ],
    ]),
  ).toEqual({
    times: [1, 2, 3],
    values: [
      [10, undefined, 30],
      [100, null, undefined],
    ],
  });
});

test('without points, there is nothing', () => {
  expect(alignPoints([])).toEqual({ times: [], values: [] });
});
