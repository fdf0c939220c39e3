import { expect, it } from 'vitest';
import { groupedIban, isValidIban } from './iban.ts';

it('groups an IBAN by four', () => {
  expect(groupedIban('DE02120300000000202051')).toBe('DE02 1203 0000 0000 2020 51');
  expect(groupedIban('DE02 1203 0000')).toBe('DE02 1203 0000');
});

it.each([
  ['DE02120300000000202051', true],
  ['GB82 WEST 1234 5698 7654 32', true],
  ['DE02120300000000202015', false],
  ['DE03120300000000202051', false],
  ['', false],
  ['not an IBAN', false],
])('%j is valid: %s', (iban, isValid) => expect(isValidIban(iban)).toBe(isValid));
