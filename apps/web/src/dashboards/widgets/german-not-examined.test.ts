import { expect, it } from 'vitest';
import { germanNotExamined } from './german-not-examined.ts';

const later = 'its turn comes in a later run';

it.each([
  ['backups in nas2/e', later, 'Sicherungen in nas2/e: kommt bei einer späteren Prüfung an die Reihe'],
  ['garbage collection of tank', later, 'Speicherbereinigung von tank: kommt bei einer späteren Prüfung an die Reihe'],
  ['ZFS pools of pve1', later, 'ZFS-Pools von pve1: kommt bei einer späteren Prüfung an die Reihe'],
  ['spam rules', later, 'Spamregeln: kommt bei einer späteren Prüfung an die Reihe'],
  ['Guest 104', 'pve2 does not answer', 'Gast 104: pve2 antwortet nicht'],
  [
    'Guest web in of',
    'whether it should run has not been looked up yet',
    'Gast web in of: ob er laufen soll, ist noch nicht bekannt',
  ],
])('%s, because %s: %s', (what, why, german) => {
  expect(germanNotExamined({ what, why })).toBe(german);
});

it.each([
  ['Guest 104', '`server`: The server answered 500.'],
  ['something new', later],
  ['constructor', later],
])('%s, because %s, stays as the service says it', (what, why) => {
  expect(germanNotExamined({ what, why })).toBeNull();
});
