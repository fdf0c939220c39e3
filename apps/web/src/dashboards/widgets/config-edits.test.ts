import { expect, it } from 'vitest';
import { errorOf, numberShown, numberTyped, withKey } from './config-edits.ts';

it('sets and leaves out keys', () => {
  expect(withKey({ a: 1 }, 'b', false)).toEqual({ a: 1, b: false });
  expect(withKey({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 });
  const config = { a: 1 };
  withKey(config, 'a', 2);
  expect(config).toEqual({ a: 1 });
});

it('finds the error of a key', () => {
  const errors = { 'config.imageIds.3': 'unknown', 'config.url': 'https only', 'config.urls': 'other' };
  expect(errorOf(errors, 'imageIds')).toBe('unknown');
  expect(errorOf(errors, 'url')).toBe('https only');
  expect(errorOf(errors, 'fit')).toBeUndefined();
});

it('fills and reads a number field', () => {
  expect(numberShown({ days: 7 }, 'days')).toBe('7');
  expect(numberShown({}, 'days')).toBe('');
  expect(numberTyped('7')).toBe(7);
  expect(numberTyped('')).toBeUndefined();
});
