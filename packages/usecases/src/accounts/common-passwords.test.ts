import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { passwordLength } from '@portal/domain/accounts/accounts';
import { loadCommonPasswords } from './common-passwords.ts';

const isCommon = await loadCommonPasswords();
const listed = createRequire(import.meta.url)('@zxcvbn-ts/language-common/src/passwords.json') as string[];

describe('common passwords', () => {
  it('include the whole list of more than 10,000, regardless of case', () => {
    expect(listed.length).toBeGreaterThan(10_000);
    expect(listed.filter((password) => !isCommon(password) || !isCommon(password.toUpperCase()))).toEqual([]);
  });

  it('include more than 3,000 that are long enough for the policy', () => {
    const endings = ['', '1', '12', '123', '1234', '!', '2026', '25!!'];
    // Every tenth, because checking all of them would take seconds.
    const candidates = listed
      .filter((_, n) => n % 10 === 0)
      .flatMap((password) => [
        ...endings.map((ending) => `${password.toLowerCase()}${ending}`),
        password.toLowerCase().repeat(2),
      ]);
    const long = new Set(candidates.filter((password) => [...password].length >= passwordLength.min));
    expect([...long].filter((password) => !isCommon(password))).toEqual([]);
    expect(long.size).toBeGreaterThan(3_000);
  });

  it.each([
    'Password123!',
    'password2026',
    'sunshine1987',
    'qwertyqwerty',
    'Iloveyou!!!!',
    '1234567890',
    'superman2000',
  ])('include %s', (password) => expect(isCommon(password)).toBe(true));

  it.each([
    'correct horse battery',
    'four candles and a fork',
    'password of my own making',
    'k7Pm-x3Wq-Tz9b-Hd5r',
    'sunshine over 1987 hills',
    'zwei Eulen 1998',
    '',
    '\n123456\n',
  ])('do not include "%s"', (password) => expect(isCommon(password)).toBe(false));
});
