import { expect, it } from 'vitest';
import { daysUntil, placeOf } from './support-end.ts';

const now = Date.parse('2026-11-26T23:30:00Z');

it.each([
  ['2026-11-26T00:00:00Z', 0],
  ['2026-11-27T00:00:00Z', 1],
  ['2026-11-25T00:00:00Z', -1],
  ['2027-01-25T00:00:00Z', 60],
])('counts the days until %s', (at, days) => {
  expect(daysUntil(at, now)).toBe(days);
});

it('puts a day on the line, and what is beyond it at the edge', () => {
  const places = [-1_000, -90, 0, 60, 365, 5_000].map(placeOf);
  expect(places.map(Math.round)).toEqual([0, 0, 20, 33, 100, 100]);
});
