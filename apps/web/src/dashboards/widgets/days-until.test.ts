import { expect, it } from 'vitest';
import { daysUntil } from './days-until.ts';

it.each([
  ['2026-11-20T22:59:00Z', 0],
  ['2026-11-20T23:00:00Z', 1],
  ['2026-11-22T12:00:00Z', 2],
  ['2026-11-19T12:00:00Z', -1],
  ['2027-04-01T00:00:00Z', 132],
])('counts the days until %s', (instant, days) => {
  expect(daysUntil(instant, Date.parse('2026-11-20T08:00:00Z'))).toBe(days);
});
