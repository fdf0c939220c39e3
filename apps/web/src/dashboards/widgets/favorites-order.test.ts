import { expect, it } from 'vitest';
import { moved, placeAt, withScheme } from './favorites-order.ts';

it('moves an entry', () => {
  expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
  expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
  expect(moved(['a', 'b', 'c'], 1, 9)).toEqual(['a', 'c', 'b']);
  expect(moved(['a', 'b', 'c'], 1, -1)).toEqual(['b', 'a', 'c']);
  expect(moved(['a'], 5, 0)).toEqual(['a']);
});

it('finds the place under the pointer', () => {
  const middles = [10, 30, 50];
  expect(placeAt(5, middles, 1)).toBe(0);
  expect(placeAt(31, middles, 1)).toBe(1);
  expect(placeAt(55, middles, 1)).toBe(2);
  expect(placeAt(12, middles, 0)).toBe(0);
  expect(placeAt(31, middles, 0)).toBe(1);
});

it.each([
  ['wiki.example.org', 'https://wiki.example.org'],
  [' http://intranet/start ', 'http://intranet/start'],
  ['localhost:3000', 'https://localhost:3000'],
  ['javascript:alert(1)', 'https://javascript:alert(1)'],
  ['', ''],
])('completes %j', (typed, address) => {
  expect(withScheme(typed)).toBe(address);
});
