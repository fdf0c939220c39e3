import { afterEach, expect, it } from 'vitest';
import { compareText, language } from './language.ts';

const initial = language.value;
afterEach(() => {
  language.value = initial;
});

it.each(['de', 'en'] as const)('orders names in %s with umlauts beside their vowels, and numbers by size', (name) => {
  language.value = name;
  const sorted = ['Zeppelin', 'server 10', 'Ämter', 'server 2', 'Archiv', 'österreich', 'Oldenburg'].toSorted(
    compareText,
  );
  expect(sorted).toEqual(['Ämter', 'Archiv', 'Oldenburg', 'österreich', 'server 2', 'server 10', 'Zeppelin']);
});
