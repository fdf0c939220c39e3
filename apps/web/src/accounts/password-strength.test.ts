import { expect, it } from 'vitest';
import { strengthOf } from './password-strength.ts';

it.each([
  ['', 'tooShort'],
  ['123456789', 'tooShort'],
  // Nine characters, although eighteen UTF-16 units
  ['🔑'.repeat(9), 'tooShort'],
  ['🔑'.repeat(10), 'fair'],
  ['x'.repeat(13), 'fair'],
  ['x'.repeat(14), 'good'],
  ['x'.repeat(20), 'strong'],
  ['🔑'.repeat(128), 'strong'],
  ['x'.repeat(129), 'tooLong'],
])('%j is %s', (password, strength) => {
  expect(strengthOf(password)).toBe(strength);
});
