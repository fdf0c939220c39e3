import { expect, it } from 'vitest';
import { readAccountLines } from './account-list.ts';
import { AccountChange, AccountInput } from './merchandise.ts';

function codesOf(cells: string[]) {
  const lines = readAccountLines();
  lines.take(2, ['8400', 'Tassen']);
  lines.take(3, cells);
  try {
    return lines.end();
  } catch (error) {
    return error;
  }
}

it.each(['a\nb', 'a\r\nb', '\na', 'a\n', 'a\tb', 'a\u0000b', 'a\u0085b', 'a\u2028b'])(
  'the name %j is refused in a file and when an account is created or changed',
  (name) => {
    expect(codesOf(['8401', name])).toMatchObject({ code: 'ROW_ERRORS', details: [{ code: 'NAME_INVALID' }] });
    expect(AccountInput.safeParse({ number: '8401', name }).success).toBe(false);
    expect(AccountChange.safeParse({ name }).success).toBe(false);
  },
);

it('a number with a line break is refused, too', () => {
  expect(codesOf(['8401\n', 'a'])).toMatchObject({ code: 'ROW_ERRORS', details: [{ code: 'ACCOUNT_INVALID' }] });
  expect(AccountInput.safeParse({ number: '8401\n', name: 'a' }).success).toBe(false);
});

it('spaces around and within names are tidied', () => {
  expect(codesOf([' 8401 ', ' a  b '])).toEqual([
    { number: '8400', name: 'Tassen' },
    { number: '8401', name: 'a b' },
  ]);
});
