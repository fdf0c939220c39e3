import { expect, test } from 'vitest';
import { initialsOf } from './initials.ts';

test.each([
  ['Anna Schmidt', 'AS'],
  ['anna.schmidt', 'AS'],
  ['Anna Maria von der Heide', 'AH'],
  ['Ägidius', 'Ä'],
  ['  Anna  ', 'A'],
  ['Anna (Technik)', 'AT'],
  ['محمد علي', 'مع'],
  ['李小龍', '李'],
  ['👩‍👩‍👧 Familie', '👩‍👩‍👧'],
  ['e\u0301mile zola', 'E\u0301Z'],
  ['7 of 9', '79'],
  ['---', ''],
  ['', ''],
])('%s → %s', (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});
