import { describe, expect, it } from 'vitest';
import { accountIndex, freeNumber, isAccountNumber, likenessOf } from './account-numbers.ts';

const index = accountIndex([
  { number: '8400', name: 'T-Shirts' },
  { number: '8401', name: 'Tassen' },
  { number: '8500', name: 'Bücher' },
]);

describe('a suggestion', () => {
  it('is the next free number beside a similar account', () => {
    expect(index.similarTo('Tasse')?.number).toBe('8401');
    expect(index.similarTo('T-SHIRT blau')?.number).toBe('8400');
    expect(index.suggestionFor('Tasse', new Set(['8400', '8401', '8402', '8500']))).toBe('8403');
  });

  it('comes after all others if no account is similar', () => {
    expect(index.similarTo('Gutscheine')).toBeNull();
    expect(index.suggestionFor('Gutscheine', new Set(['8500', '8501']))).toBe('8502');
    expect(accountIndex([]).suggestionFor('Gutscheine', new Set())).toBe('8400');
  });
});

it('compares names and numbers', () => {
  expect(likenessOf('Tassen', 'tassen ')).toBe(1);
  expect(likenessOf('a', 'b')).toBe(0);
  expect(freeNumber(0, new Set(['1']))).toBe('2');
  expect(['8400', '0', '', '12345678901', '8a'].map(isAccountNumber)).toEqual([true, false, false, false, false]);
});
