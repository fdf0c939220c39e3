import { expect, it } from 'vitest';
import { spreadOut } from './test-order.ts';

const isUpper = (letter: string): boolean => /[A-Z]/.test(letter);
const spread = (letters: string): string => spreadOut(Array.from(letters), isUpper).join('');

it('spreads files over the first three quarters of the others, the first file first, and keeps both orders', () => {
  expect(spread('XYZabcdefghijkl')).toBe('XabcYdefZghijkl');
  expect(spread('abcdefghijklXYZ')).toBe('XabcYdefZghijkl');
});

it('loses no file, however few others there are', () => {
  expect(spread('WXYZab')).toBe('WaXbYZ');
  expect(spread('XY')).toBe('XY');
  expect(spread('ab')).toBe('ab');
  expect(spread('')).toBe('');
});
